"""The table of what was found, and what in it is over its limit."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.emission.contestants import (
    AGAIN,
    EAGER_LLAMA,
    EMITTED,
    HAND,
    LITERAL,
    LLAMA,
    UNCHECKED,
)
from benchmarks.emission.counts import Counts
from benchmarks.emission.lines import LINES
from benchmarks.emission.runs import COUNTS, HLO, LAZY_XLA, PASSES, RUNS, XLA, Run

Found = Mapping[str, Mapping[str, Any]]
"""What was found on one line: the counts, and what `measure` gave of each run, by its title."""

ROWS = (EMITTED, UNCHECKED, HAND, LLAMA, EAGER_LLAMA, LITERAL)
HEADER = (
    "line",
    "module",
    *(run.title for run in RUNS),
    "ATen ops",
    "saved, MiB",
    "peak, MiB",
    HLO,
)


def ratio(seconds: Mapping[str, Sequence[float]], ours: str, theirs: str) -> float:
    """The time of `ours` as a multiple of that of `theirs`: the median over the rounds."""
    return statistics.median(
        mine / other for mine, other in zip(seconds[ours], seconds[theirs], strict=True)
    )


def table(found: Mapping[str, Found]) -> str:
    """A Markdown table: the time of the emitted module as a multiple of that of the row's module,
    for each pass, and the counts of the row's module."""
    rows: list[Sequence[str]] = [HEADER, ("---",) * len(HEADER)]
    for name, line in found.items():
        for module in (row for row in ROWS if row in line[COUNTS]):
            title = LINES[name].title if module == EMITTED else ""
            rows.append((title, module, *_cells(line, module)))
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cells(found: Found, module: str) -> Iterator[str]:
    for run in RUNS:
        times = (f"{ratio(found[run.title][each], EMITTED, module):.2f}" for each in PASSES)
        yield "" if module == EMITTED else " / ".join(times)
    counts = found[COUNTS][module]
    yield str(counts["aten"])
    yield _mebibytes(counts["saved"])
    yield f"{_mebibytes(counts['peak_forward'])} / {_mebibytes(counts['peak_both'])}"
    yield str(found[XLA.title][HLO][module])


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:.2f}"


def noise(found: Mapping[str, Found]) -> tuple[float, float]:
    """The least and the greatest ratio of the hand-written module to another instance of it."""
    ratios = [
        ratio(line[run.title][each], HAND, AGAIN)
        for line in found.values()
        for run in RUNS
        for each in PASSES
    ]
    return min(ratios), max(ratios)


def larger(found: Mapping[str, Found]) -> list[str]:
    """Counts of the emitted module that are larger than those of the hand-written one."""
    return [
        f"{name}, {count}: {ours:,}, hand-written {theirs:,}"
        for name, line in found.items()
        for count in Counts._fields
        for ours, theirs in [(line[COUNTS][EMITTED][count], line[COUNTS][HAND][count])]
        if ours > theirs
    ]


def slower(found: Mapping[str, Found]) -> list[str]:
    """Times of the emitted module over their limit."""
    return [
        f"{name}, {run.title}, {each}: {times:.2f} times {peer}, at most {limit:.2f}"
        for name, line in found.items()
        for run in RUNS
        for each in PASSES
        for peer, limit in _limits(name, run, each).items()
        for times in [round(ratio(line[run.title][each], EMITTED, peer), 2)]
        if times > limit
    ]


def _limits(name: str, run: Run, each: str) -> dict[str, float]:
    """The most times of each peer's time that the emitted module may take."""
    on_xla = LINES[name].on_xla if run in (XLA, LAZY_XLA) else None
    limits = {HAND: on_xla[PASSES.index(each)] if on_xla else run.limit}
    return limits | {LLAMA: 1.0, EAGER_LLAMA: 1.0} if name == "llama_block" else limits
