"""What the workers would give, made up."""

from __future__ import annotations

from collections.abc import Mapping
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
from benchmarks.emission.lines import LINES
from benchmarks.emission.runs import COUNTS, HLO, PASSES, RUNS, XLA

MODULES = (EMITTED, UNCHECKED, HAND, AGAIN, LLAMA, LITERAL)


def found(
    seconds: Mapping[str, float],
    aten: Mapping[str, int] | None = None,
    line: str = "rmsnorm",
) -> dict[str, Any]:
    """What a line has where a module not in `seconds` takes 1 s on every run, in both passes."""
    modules = MODULES if LINES[line].eager_llama is None else (*MODULES, EAGER_LLAMA)
    counts = {
        name: {"aten": (aten or {}).get(name, 1), "saved": 1 << 20, "peak_forward": 0}
        | {"peak_both": 3 << 19}
        for name in modules
    }
    times = {each: {name: [seconds.get(name, 1.0)] * 3 for name in modules} for each in PASSES}
    runs = {run.title: dict[str, Any](times) for run in RUNS}
    runs[XLA.title][HLO] = dict.fromkeys(modules, 7)
    return {COUNTS: counts, **runs}
