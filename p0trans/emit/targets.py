"""The targets: what `build --target` adds to a file of plain modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from p0trans.targets import Target


@dataclass(frozen=True, slots=True)
class Hooks:
    """The functions that compile the modules of a file, one for each.

    `template` writes them, with `imports`, names by module, of Python's own library.
    With `varying` their graphs may have axes without a fixed size.
    """

    template: str
    imports: tuple[tuple[str, str], ...]
    varying: bool = False


_CALLABLE = ("collections.abc", "Callable")

HOOKS: Mapping[Target, Hooks | None] = MappingProxyType(
    {
        "torch": None,
        "compile": Hooks("hooks/compile.j2", (_CALLABLE,), varying=True),
        "xla": Hooks("hooks/xla.j2", (_CALLABLE, ("typing", "Literal"))),
        "tpu": Hooks("hooks/tpu.j2", (_CALLABLE, ("importlib", "import_module"))),
    }
)
"""The hooks of each target; plain modules have none."""
