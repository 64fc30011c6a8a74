"""Seconds of CPU time of steps that take turns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from time import process_time

_SAMPLE_S = 0.02
_TICK_S = 1e-6
_WARM_UP = 3


def interleaved(steps: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, list[float]]:
    """For each step the seconds of a call in each round.

    A round has a sample of every step, in an order of its own, so that none always runs behind
    the same one. A sample is as many calls as take about 20 ms. CPU time of the process and not
    time on the clock is measured, since other programs of the machine stretch that one.
    """
    calls = {name: _calls(step) for name, step in steps.items()}
    names = list(steps)
    order = random.Random(0)
    found: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(rounds):
        order.shuffle(names)
        for name in names:
            found[name].append(_seconds(steps[name], calls[name]))
    return found


def _calls(step: Callable[[], object]) -> int:
    """How many calls make a sample; the first ones, which compile or fill caches, do not count."""
    for _ in range(_WARM_UP):
        step()
    return max(1, round(_SAMPLE_S / max(_seconds(step, 1), _TICK_S)))


def _seconds(step: Callable[[], object], calls: int) -> float:
    begin = process_time()
    for _ in range(calls):
        step()
    return (process_time() - begin) / calls
