"""Edge values on every engine: NaN, infinities, zeros of both signs, halves, integer extremes.

An engine may differ only where it is listed here and in docs/numerics.md.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
import torch

import p0trans
from p0trans.dtypes import DTYPES
from p0trans.emit.options import Style
from tests.programs.edges import edge_programs
from tests.programs.engines import Pairs, on_xla, ready
from tests.programs.run import arrays, interpreted

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


def pairs(style: Style) -> Pairs:
    return [(example, style) for example in PROGRAMS]


@pytest.mark.parametrize("style", get_args(Style))
def test_eager(style: Style) -> None:
    found = [arrays(one.run()) for one in ready(pairs(style), "torch")]
    assert differences(found) == (set(), set())


def test_compiled() -> None:
    made = ready(pairs("idiomatic"), "compile")
    compiled: list[Any] = [torch.compile(one.instance, fullgraph=True) for one in made]
    found = [arrays(call(*one.inputs)) for call, one in zip(compiled, made, strict=True)]
    values, signs = differences(found)
    assert values == set()
    assert signs <= ZERO_SIGN_ON_INDUCTOR


def test_xla() -> None:
    pytest.importorskip("torch_xla", reason="the extra `xla` is not installed")
    values, signs = differences(on_xla(pairs("idiomatic")))
    assert values <= DIFFERS_ON_XLA
    assert signs <= ZERO_SIGN_ON_XLA


def test_the_edges_reach_most_of_the_table() -> None:
    uses = sum(example.text.count(" in\n") for example in PROGRAMS)
    assert uses >= 60
