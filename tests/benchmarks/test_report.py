"""The table, and what is over its limit, from numbers made up."""

from __future__ import annotations

import pytest

from benchmarks.emission import report
from benchmarks.emission.contestants import (
    AGAIN,
    EAGER_LLAMA,
    EMITTED,
    HAND,
    LITERAL,
    LLAMA,
    UNCHECKED,
)
from benchmarks.emission.lines import LINES
from benchmarks.emission.runs import BOTH, RUNS
from tests.benchmarks.support import found
from tests.docs.pages import DOCS


def test_ratio_is_the_median_over_the_rounds() -> None:
    seconds = {"a": [1.0, 8.0, 2.0], "b": [1.0, 1.0, 4.0]}
    assert report.ratio(seconds, "a", "b") == 1.0
    assert report.ratio(seconds, "b", "a") == 1.0
    assert report.ratio({"a": [2.0], "b": [8.0]}, "a", "b") == 0.25


def test_table() -> None:
    lines = report.table({"rmsnorm": found({LITERAL: 2.0}, {HAND: 5})}).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert len({len(row) for row in cells}) == 1
    assert [row[1] for row in cells[2:]] == [EMITTED, UNCHECKED, HAND, LLAMA, LITERAL]
    assert cells[2] == ["RMSNorm", EMITTED, *[""] * len(RUNS), "1", "1.00", "0.00 / 1.50", "7"]
    assert cells[4][2:-3] == ["1.00 / 1.00"] * len(RUNS) + ["5"]
    assert cells[6][2] == "0.50 / 0.50"


def test_the_page_has_every_row() -> None:
    page = (DOCS / "performance.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    made = report.table({line: found({}, line=line) for line in LINES}).splitlines()
    assert [row.split("|")[1:3] for row in rows] == [row.split("|")[1:3] for row in made]
    assert rows[:2] == made[:2]


def test_noise() -> None:
    assert report.noise({"rmsnorm": found({AGAIN: 0.5}), "swiglu": found({})}) == (1.0, 2.0)


def test_larger() -> None:
    assert report.larger({"rmsnorm": found({}, {HAND: 2})}) == []
    over = report.larger({"rmsnorm": found({}, {EMITTED: 2})})
    assert over == ["rmsnorm, aten: 2, hand-written 1"]


@pytest.mark.parametrize(
    ("line", "seconds", "over"),
    [
        ("rmsnorm", 1.01, 0),
        # compile and XLA, compiled or lazy, two passes each
        ("rmsnorm", 1.04, 6),
        # and eager with both settings of malloc, but not at small sizes
        ("rmsnorm", 1.06, 10),
        # written out, attention is to be faster than the one call
        ("attention", 0.94, 2),
        ("attention", 0.96, 4),
        ("attention", 0.91, 0),
    ],
)
def test_slower(line: str, seconds: float, over: int) -> None:
    assert len(report.slower({line: found({EMITTED: seconds}, line=line)})) == over


def test_the_block_is_held_against_transformers() -> None:
    times = found({LLAMA: 0.99}, line="llama_block")
    said = report.slower({"llama_block": times})
    assert f"llama_block, XLA, {BOTH}: 1.01 times {LLAMA}, at most 1.00" in said
    assert len(said) == 2 * len(RUNS)
    steps = found({EAGER_LLAMA: 0.99}, line="llama_block")
    assert len(report.slower({"llama_block": steps})) == 2 * len(RUNS)
    assert report.slower({"rmsnorm": times}) == []
