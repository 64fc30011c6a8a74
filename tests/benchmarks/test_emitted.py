"""benchmarks/emitted.py: the modules of a line agree, and the emitted one costs no more than what a
person would write, in all that can be counted."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from benchmarks import emitted
from benchmarks.emission.contestants import (
    EMITTED,
    HAND,
    LITERAL,
    UNCHECKED,
    Contestant,
    contestants,
    hold_together,
)
from benchmarks.emission.counts import count
from benchmarks.emission.lines import LINES, Line
from benchmarks.emission.runs import COUNTS
from tests.benchmarks.support import found as made_up


@pytest.fixture(params=list(LINES.values()), ids=list(LINES), scope="module")
def line(request: pytest.FixtureRequest) -> Line:
    found: Line = request.param
    return found


@pytest.fixture(scope="module")
def found(line: Line) -> Iterator[dict[str, Contestant]]:
    with contestants(line, line.small, "torch") as modules:
        yield modules


def test_all_compute_the_same(found: dict[str, Contestant]) -> None:
    hold_together(found)


def test_what_differs_is_found(found: dict[str, Contestant]) -> None:
    class Off(torch.nn.Module):
        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = found[HAND].module(*inputs)
            return result * 1.001

    off = found[HAND]._replace(module=Off())
    with pytest.raises(ValueError, match="emitted is off by"):
        hold_together({HAND: found[HAND], EMITTED: off})


def test_counts(found: dict[str, Contestant]) -> None:
    ours, theirs, literal = (count(found[name]) for name in (EMITTED, HAND, LITERAL))
    assert all(mine <= other for mine, other in zip(ours, theirs, strict=True)), (ours, theirs)
    assert ours.aten < literal.aten
    assert ours == count(found[UNCHECKED])


def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    made = {"rmsnorm": made_up({}), "swiglu": made_up({}, {EMITTED: 3, HAND: 2})}
    monkeypatch.setattr(emitted, "count", lambda line: made[line][COUNTS])
    monkeypatch.setattr(emitted, "measure", lambda line, run, rounds: made[line][run.title])
    path = tmp_path / "found.json"
    assert emitted.main(["--only", "rmsnorm", "--quick", "--json", str(path)]) == 0
    assert json.loads(path.read_text()) == {"rmsnorm": made["rmsnorm"]}
    assert "| RMSNorm | emitted |" in capsys.readouterr().out
    assert emitted.main(["--only", "swiglu"]) == 1
    assert "over the limit: swiglu, aten: 3, hand-written 2" in capsys.readouterr().out
