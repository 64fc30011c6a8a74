"""Edge values on every engine: NaN, infinities, zeros of both signs, halves, integer extremes.

An engine may differ only where it is listed here and in docs/numerics.md.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import p0trans
from p0trans.dtypes import DTYPES
from tests.programs import Generated
from tests.programs.edges import edge_programs
from tests.programs.run import arrays, interpreted, module_of, prepared

ROOT = Path(__file__).parent.parent
PROGRAMS = edge_programs()
_KEEP = ("reduce", "reduce_keep")

# XLA on the CPU takes the number where one side is NaN, and divides I32 by way of F32.
DIFFERS_ON_XLA = {"maximum a b", "minimum a b", "floordiv a b"} | {
    f"{name}[{kind}, axis=0] a" for name in _KEEP for kind in ("max", "min", "argmax", "argmin")
}
ZERO_SIGN_ON_XLA = {"sign a", "maximum a b", "minimum a b"}
ZERO_SIGN_ON_INDUCTOR = {"expm1 a"}


def differences(found: list[Any]) -> tuple[set[str], set[str]]:
    """The uses whose values differ from the reference, and those with only a zero's sign other."""
    values: set[str] = set()
    signs: set[str] = set()
    tolerance = DTYPES["F32"]
    for example, results in zip(PROGRAMS, found, strict=True):
        wanted = interpreted(p0trans.check(example.text).program, example)
        uses = [line.split(" = ")[1] for line in example.text.splitlines() if " in" in line]
        for use, one, other in zip(uses, results, wanted, strict=True):
            text = use.removesuffix(" in")
            assert (one.dtype, one.shape) == (other.dtype, other.shape)
            if one.dtype.kind != "f":
                values |= {text} if (one != other).any() else set()
                continue
            close = np.isclose(one, other, tolerance.rtol, tolerance.atol, equal_nan=True)
            zeros = (one == 0) & (other == 0) & (np.signbit(one) != np.signbit(other))
            values |= set() if close.all() else {text}
            signs |= {text} if zeros.any() else set()
    return values, signs


def instance(example: Generated) -> Any:
    return prepared(example, module_of(p0trans.check(example.text).program, example), "full")


def test_eager() -> None:
    assert differences([arrays(instance(example).run()) for example in PROGRAMS]) == (set(), set())


def test_compiled() -> None:
    ready = [instance(example) for example in PROGRAMS]
    compiled: list[Any] = [torch.compile(one.instance, fullgraph=True) for one in ready]
    found = [arrays(call(*one.inputs)) for call, one in zip(compiled, ready, strict=True)]
    values, signs = differences(found)
    assert values == set()
    assert signs <= ZERO_SIGN_ON_INDUCTOR


def test_xla() -> None:
    pytest.importorskip("torch_xla", reason="the extra `xla` is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.xla_process"],
        input=pickle.dumps(PROGRAMS),
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    values, signs = differences(pickle.loads(done.stdout))
    assert values <= DIFFERS_ON_XLA
    assert signs <= ZERO_SIGN_ON_XLA


def test_the_edges_reach_most_of_the_table() -> None:
    uses = sum(example.text.count(" in\n") for example in PROGRAMS)
    assert uses >= 60
