"""The runs that each line has, and a run in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

FORWARD = "forward"
BOTH = "forward+backward"
PASSES = (FORWARD, BOTH)
HLO = "HLO instructions"
COUNTS = "counts"

_ROOT = Path(__file__).parent.parent.parent

# glibc gives large buffers back to the system at once and takes new ones, page fault by page fault,
# unless it is told to keep them; 32 MiB is the largest threshold that it takes.
_PINNED = MappingProxyType(
    {"MALLOC_MMAP_THRESHOLD_": str(32 << 20), "MALLOC_TRIM_THRESHOLD_": str(1 << 30)}
)


class Run(NamedTuple):
    """An engine, the environment of its process, and whether the sizes are the small ones.

    `limit` is the most time that the emitted module may take, as a share of the hand-written one's.
    """

    title: str
    engine: str
    limit: float
    environment: Mapping[str, str] = _PINNED
    small: bool = False


_ON_XLA = MappingProxyType({**_PINNED, "PJRT_DEVICE": "CPU"})
XLA = Run("XLA", "xla", 1.02, _ON_XLA)
LAZY_XLA = Run("XLA, lazy", "lazy", 1.02, _ON_XLA)
RUNS = (
    Run("eager", "eager", 1.05),
    Run("eager, malloc as it is", "eager", 1.05, {}),
    Run("eager, small", "eager", inf, small=True),
    Run("compile", "compile", 1.02),
    XLA,
    LAZY_XLA,
)


def measure(line: str, run: Run, rounds: int) -> dict[str, Any]:
    """For each pass the seconds of each module in each round."""
    return _worker(run.environment, line, run.engine, "small" if run.small else "", str(rounds))


def count(line: str) -> dict[str, Any]:
    """The counts of each module."""
    return _worker({}, line, COUNTS)


def _worker(environment: Mapping[str, str], *arguments: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.emission.worker", *arguments]
    kept = {name: value for name, value in os.environ.items() if name not in _PINNED}
    done = subprocess.run(
        command, cwd=_ROOT, env={**kept, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(arguments)} stopped:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
