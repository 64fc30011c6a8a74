"""What the pages list is what the code has."""

from __future__ import annotations

import re

import pytest

from p0trans.checker.modules import INITIALIZERS
from p0trans.diagnostics.codes import table
from p0trans.driver import check_sources
from p0trans.dtypes import DTYPES, DType
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeKind, Operation
from p0trans.source import Source
from p0trans.syntax.grammar import grammar
from p0trans.syntax.surroundings import NAMES
from tests.docs.pages import PAGES, read

LANGUAGE = read("language.md")
MISTAKES = (
    ("P0101", "", "y"),
    ("P0104", "", "broadcast 1.0 [B, Q]"),
    ("P0105", "", "cast[float32] x"),
    ("P0106", "", "exp floor x"),
    ("P0201", "", "exp x x"),
    ("P0204", "", "broadcast x"),
    ("P0205", "", "cumsum[axis=1, dim=1] x"),
    ("P0206", "", "cumsum x"),
    ("P0403", "", "matmul x x"),
    ("P0501", "(v : Tensor[F32, [B]])", "x + broadcast v [B, S]"),
    ("P0601", "", "cumsum[axis=S - 1] x"),
    ("P0603", "", "cumsum[axis=2] x"),
    ("P0702", "", "reshape (reshape x [S, N]) [B, S]"),
    ("P0703", "", "reshape (reshape x [2 * B, S]) [B, S]"),
    ("P0704", "(v : Tensor[F32, [B / N]])", "x"),
    ("P0007", "", "select (x < x < x) x x"),
)


def span(pattern: str) -> str:
    found = re.search(pattern, LANGUAGE, re.DOTALL)
    assert found is not None, pattern
    return found[1]


def quoted(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_operations_are_listed(operation: Operation) -> None:
    section = span(r"\n## Operations\n(.*?)\n## ").replace("\\|", "|")
    assert f"`{operation.form}`" in section
    for attribute in operation.attributes:
        if attribute.kind is AttributeKind.WORD:
            assert set(attribute.choices) <= set(quoted(span(r"\nThe kinds `k`: (.*?)\n\n")))
        elif not attribute.positional:
            assert f"{attribute.name}=" in section


def test_reserved_words_are_listed() -> None:
    words = grammar().words
    reserved = {w for t, w in words.items() if w.isidentifier() and t not in NAMES}
    assert set(quoted(span(r"\nThe reserved words are (.*?)\. "))) == reserved


def test_initializers_are_listed() -> None:
    listed = [re.sub(r"\(.*", "", text) for text in quoted(span(r"\nAn `init` is (.*?)\. "))]
    assert sorted(listed) == sorted(INITIALIZERS)


def test_dtypes_are_listed() -> None:
    assert quoted(span(r"\n\| kind \| dtypes \|\n(.*?)\n\n")) == list(DTYPES)


@pytest.mark.parametrize("dtype", [d for d in DTYPES.values() if d.is_float], ids=str)
def test_tolerances_are_listed(dtype: DType) -> None:
    rows = [line.split(" | ") for line in read("numerics.md").splitlines()]
    (row,) = (row for row in rows if row[0] == f"| `{dtype}`")
    precision, rtol, atol = (cell.strip(" |") for cell in row[3:])
    assert (int(precision), float(rtol), float(atol)) == (dtype.precision, dtype.rtol, dtype.atol)


def test_codes_exist() -> None:
    mentioned = {code for page in PAGES for code in re.findall(r"\bP\d{4}\b", read(page))}
    assert mentioned <= set(table())


@pytest.mark.parametrize(("code", "parameter", "body"), MISTAKES)
def test_other_mistakes(code: str, parameter: str, body: str) -> None:
    type_ = "Tensor[F32, [B, S]]"
    text = f"let f [B, S, N] (x : {type_}) {parameter} : {type_} where B >= N = {body}"
    checked = check_sources([Source("mistake.p0", text)])
    assert code in span(r"\n\| you wrote \| code \|\n(.*?)\n\n")
    assert code in [diagnostic.code for diagnostic in checked.diagnostics]
