"""Going on after an error: the declarations around it, and each further error once."""

from __future__ import annotations

import pytest

from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed, parse
from p0trans.syntax.recover import MOST_ERRORS


def good(name: str) -> str:
    return f"let {name} [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n  let y = x in\n  y\n"


def parsed(text: str) -> Parsed:
    return parse(Source("test.p0", text))


def names(result: Parsed) -> list[str]:
    return [
        "import" if isinstance(d, tree.Import) else d.name.text for d in result.file.declarations
    ]


BROKEN = {
    "no operand": ("let bad : Tensor[F32, []] =\n  x +\n", "P0001"),
    "no result": ("let bad : Tensor[F32, []] =\n  let y = x in\n", "P0009"),
    "no in": ("let bad : Tensor[F32, []] =\n  let y = x\n", "P0003"),
    "no body": ("let bad : Tensor[F32, []] =\n", "P0001"),
    "no header": ("let bad\n", "P0001"),
    "no type": ("let bad (x) : Tensor[F32, []] = x\n", "P0012"),
    "open bracket": ("let bad : Tensor[F32, []] =\n  f (x\n", "P0005"),
    "open type": ("let bad : Tensor[F32, [\n", "P0005"),
    "extra bracket": ("let bad : Tensor[F32, []] =\n  x)\n", "P0005"),
    "strange": ("let bad : Tensor[F32, []] =\n  x ? x\n", "P0004"),
    "module": ("module bad = f with\n  param = ones\n", "P0001"),
    "python": ("def bad(x):\n  return x\n", "P0015"),
}


@pytest.mark.parametrize(("text", "code"), BROKEN.values(), ids=BROKEN)
def test_the_neighbours_of_a_broken_declaration_survive(text: str, code: str) -> None:
    result = parsed(good("a") + text + good("b") + "module M = a\n" + good("c"))
    assert [d.code for d in result.diagnostics] == [code]
    assert names(result) == ["a", "b", "M", "c"]
    assert [b.text for b in result.broken] == ["bad"]


def test_all_errors_come_in_one_run_in_source_order() -> None:
    text = "".join(good(f"g{i}") + text for i, (text, _) in enumerate(BROKEN.values()))
    result = parsed(text)
    assert [d.code for d in result.diagnostics] == [code for _, code in BROKEN.values()]
    starts = [d.primary.place.span.start for d in result.diagnostics]
    assert starts == sorted(starts)
    assert names(result) == [f"g{i}" for i in range(len(BROKEN))]
    assert [b.text for b in result.broken] == ["bad"] * len(BROKEN)


def test_a_broken_import_keeps_its_names() -> None:
    result = parsed("from a import b, c, 1\n" + good("f"))
    assert [b.text for b in result.broken] == ["b", "c"]
    assert names(result) == ["f"]


def test_several_declarations_on_one_line() -> None:
    line = good("a").replace("\n", " ")
    result = parsed(line + line.replace("let a", "let b") + "let c ] " + "\n" + good("d"))
    assert names(result) == ["a", "b", "d"]
    assert [b.text for b in result.broken] == ["c"]


def test_a_body_may_start_in_the_first_column() -> None:
    flush = good("a").replace("\n  ", "\n")
    result = parsed("let bad ]\n" + flush + "let worse ]\n")
    assert names(result) == ["a"]
    assert [b.text for b in result.broken] == ["bad", "worse"]


def test_a_misspelt_declaration_is_not_read_as_arguments() -> None:
    result = parsed(good("a") + good("b").replace("let b", "lett b") + good("c"))
    assert [d.code for d in result.diagnostics] == ["P0015"]
    assert names(result) == ["a", "b", "c"]


def test_docs_survive_an_error() -> None:
    result = parsed("/// A.\n" + good("a") + "let ]\n/// B.\n" + good("b"))
    docs = [d.doc for d in result.file.declarations if isinstance(d, tree.Definition)]
    assert docs == ["A.", "B."]


def test_an_open_comment_is_reported_without_what_it_hides() -> None:
    result = parsed(good("a") + "let f : Tensor[F32, []] = (x (* + y)\n" + good("b"))
    assert [d.code for d in result.diagnostics] == ["P0002"]
    assert names(result) == ["a"]


def test_an_open_comment_does_not_hide_what_is_before_it() -> None:
    result = parsed("let f ]\n" + good("a") + "(* open")
    assert sorted(d.code for d in result.diagnostics) == ["P0002", "P0005"]


@pytest.mark.parametrize("text", ["let f ]\n", "let f : Tensor[F32, []] =\n  let y = x\n  y\n"])
def test_the_number_of_errors_is_capped(text: str) -> None:
    result = parsed(text * (MOST_ERRORS + 7))
    assert len(result.diagnostics) == MOST_ERRORS
    assert result.diagnostics[-1].notes[-1] == "7 more syntax errors of this file are not shown"


def test_the_errors_of_one_body_are_capped() -> None:
    steps = "".join(f"  let a{i} = x\n" for i in range(MOST_ERRORS + 7))
    result = parsed(f"let f : Tensor[F32, []] =\n{steps}  x\n")
    assert len(result.diagnostics) == MOST_ERRORS
    assert names(result) == ["f"]
