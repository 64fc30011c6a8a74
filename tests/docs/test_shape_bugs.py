"""The table of shape bugs: the columns that need no other tool are measured again."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.shape_bugs import run
from p0trans.diagnostics.codes import table
from tests.docs.pages import read

PAGE = "shape-bugs.md"
ROW = re.compile(r"^\| (\d\d) ([^|]*) \| " + " \\| ".join(["([^|]*)"] * 5) + r" \|$", re.MULTILINE)
ROWS: dict[str, tuple[str, ...]] = {row[0]: row[1:] for row in ROW.findall(read(PAGE))}


def row(case: Path) -> tuple[str, ...]:
    return ROWS[case.name[:2]]


def test_every_bug_has_its_row() -> None:
    assert len(run.CASES) == 10
    assert list(ROWS) == [case.name[:2] for case in run.CASES]


@pytest.mark.parametrize("case", run.CASES, ids=lambda case: case.name)
def test_what_pytorch_does(case: Path) -> None:
    assert row(case)[1] == run.pytorch(case)


@pytest.mark.parametrize("case", run.CASES, ids=lambda case: case.name)
def test_what_p0trans_says(case: Path) -> None:
    codes = run.p0trans_codes(case / "bug.p0")
    said = [f"{table()[code].severity} {code}" for code in codes]
    assert row(case)[4] == (" and ".join(said) or "nothing")
    assert run.p0trans_codes(case / "right.p0") == ()


@pytest.mark.parametrize("case", run.CASES, ids=lambda case: case.name)
def test_what_its_fix_gives(case: Path) -> None:
    assert row(case)[5] == run.fix(case)


def test_verdicts_in_words() -> None:
    def found(**functions: bool) -> dict[str, bool]:
        return dict.fromkeys(run.FUNCTIONS, False) | functions

    assert run.verdict(found()) == "nothing"
    assert run.verdict(found(by_step=True)) == "error, if each step has its type"
    assert run.verdict(found(by_step=True, by_signature=True)) == "error"
    assert run.verdict(found(by_signature=True, right=True)) == "error, of the right program too"
    said = {cell for cells in ROWS.values() for cell in cells[2:4]}
    assert said <= {"nothing", "error", "error, if each step has its type"}
