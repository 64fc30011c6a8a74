"""What the declarations of fused operations share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from p0trans.ops.reference import computed
from p0trans.ops.rules import Operands, Outcome, differing_dtype, unwanted_dtype
from p0trans.ops.samples import B, D, S, tensor
from p0trans.ops.table import (
    Attributes,
    Facts,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType

FAMILY = "fused"
POINTWISE_FAMILY = "pointwise"
"""Functions of each element of their first operand; what follows it are numbers."""


def float_mapped(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    """A float operand, whose type is the result's; what follows it are numbers of its dtype."""
    first, *numbers = operands
    return (
        unwanted_dtype(first.dtype, "float", 0)
        or differing_dtype(operands)
        or not_scalar(numbers, 1)
        or first
    )


def not_scalar(operands: Sequence[TensorType], first: int) -> Rejection | None:
    """P0408 when one of `operands`, the first of which is operand `first`, has an axis."""
    for index, found in enumerate(operands, start=first):
        if found.rank:
            return Rejection("P0408", index, facts={"wanted": 0, "found": found})
    return None


def pointwise(
    name: str,
    doc: str,
    template: str,
    function: Callable[..., Any],
    *numbers: str,
    flops: int = 1,
) -> Operation:
    """A function of each element and of some `numbers`: `function(np, a, …)` computes it in
    float64 by `flops` operations."""
    matrix, scalar = tensor("F32", B, 1, D), tensor("F32")
    scalars = (scalar,) * len(numbers)
    rejected: tuple[Sample, ...] = (Sample((tensor("Bool", B, S), *scalars), "P0302"),)
    if numbers:
        rejected += (
            Sample((matrix, *scalars[1:], tensor("F64")), "P0301"),
            Sample((matrix, *scalars[1:], matrix), "P0408"),
        )
    return Operation(
        name=name,
        family=POINTWISE_FAMILY,
        form=" ".join((name, "a", *numbers)),
        doc=doc,
        noun=name,
        operands=("a", *numbers),
        infer=float_mapped,
        torch=spelled(template),
        numpy=computed(function),
        flops=flops_per_element(flops),
        numbers=lambda site: tuple(range(1, 1 + len(numbers))),
        samples=(
            Sample((matrix, *scalars), matrix),
            Sample((scalar, *scalars), scalar),
            *rejected,
        ),
    )


def spelled(template: str) -> Callable[[Site], Spelling]:
    """One spelling, whatever the site."""
    spelling = Spelling(template)
    return lambda site: spelling


def flops_per_element(count: int) -> Callable[[Site], Dim]:
    """`count` operations for each element of the first operand."""
    return lambda site: constant(count) * product(site.operands[0].shape)
