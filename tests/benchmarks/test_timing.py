"""The order of the samples and what a call takes, by a clock that only the steps move."""

from __future__ import annotations

import pytest

from benchmarks.emission import timing


def test_steps_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    made: list[str] = []

    def slow() -> None:
        nonlocal now
        now += 0.04
        made.append("slow")

    def fast() -> None:
        nonlocal now
        now += 0.005
        made.append("fast")

    monkeypatch.setattr(timing, "process_time", lambda: now)
    times = timing.interleaved({"slow": slow, "fast": fast}, 3)
    assert times == {"slow": pytest.approx([0.04] * 3), "fast": pytest.approx([0.005] * 3)}
    # A sample has one call of the slow step and four of the fast one.
    rounds = [made[-5:], made[-10:-5], made[-15:-10]]
    assert all(sorted(each) == ["fast"] * 4 + ["slow"] for each in rounds)


def test_a_step_too_short_for_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "process_time", lambda: 0.0)
    assert timing.interleaved({"none": lambda: None}, 1) == {"none": [0.0]}
