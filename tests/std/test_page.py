"""docs/std.md lists what the library has: its second part is written from the sources."""

from __future__ import annotations

import pytest

from p0trans.ir.program import Definition, Module
from p0trans.types import TensorType, Type
from tests.conftest import Golden
from tests.docs.pages import DOCS
from tests.std.library import FILES, checked, definitions

PAGE = DOCS / "std.md"
LAST_LINE = "A tensor is F32 where no dtype is written.\n"


def listing() -> str:
    return "".join(f"\n### std.{file}\n\n{_file(file)}" for file in FILES)


def _file(file: str) -> str:
    unit = checked(file).program.units[-1]
    entries = [_definition(definition) for definition in unit.definitions]
    rows = [_module(module, definitions(file)[module.definition.name]) for module in unit.modules]
    table = "".join(("\n| module | of | state | numbers |\n|---|---|---|---|\n", *rows))
    return "".join(entries) + (table if rows else "")


def _definition(definition: Definition) -> str:
    inputs = ", ".join(f"{p.name} {_type(p.type)}" for p in definition.parameters)
    facts = ", ".join(map(str, definition.assume))
    about = f", assumes {facts}" if facts else ""
    shape = ", ".join(definition.shape_parameters)
    return (
        f"- **`{definition.name}[{shape}]`**: {_first_sentence(definition.doc)}\\\n"
        f"  `{inputs}` → `{_type(definition.result_type)}`{about}\n"
    )


def _type(type_: Type) -> str:
    if not isinstance(type_, TensorType):
        return f"({', '.join(map(_type, type_.items))})"
    dims = ", ".join(str(dim).replace("*", " * ") for dim in type_.shape)
    return f"{'' if type_.dtype.name == 'F32' else type_.dtype}[{dims}]"


def _first_sentence(doc: str | None) -> str:
    assert doc is not None
    paragraph = " ".join(doc.split("\n\n")[0].split())
    return paragraph if paragraph.endswith(".") else f"{paragraph}."


def _module(module: Module, definition: Definition) -> str:
    names = [parameter.name for parameter in definition.parameters]
    state = [f"`{names[one.parameter]}`" for one in module.states]
    state += [f"`{sub.name}` ({sub.module.name})" for sub in module.subs]
    numbers = [f"`{names[const.parameter]} = {const.default}`" for const in module.consts]
    cells = f"`{module.name}`", f"`{definition.name}`", ", ".join(state), ", ".join(numbers)
    return f"| {' | '.join(cells)} |\n"


def test_everything_is_listed(golden: Golden) -> None:
    held = PAGE.read_text("utf-8")
    prose, mark, rest = held.partition(LAST_LINE)
    assert mark
    if golden.update:
        PAGE.write_text(f"{prose}{mark}{listing()}", "utf-8")
    elif rest != listing():
        pytest.fail("to renew: pytest tests/std/test_page.py --update-golden", pytrace=False)
