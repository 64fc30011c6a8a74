"""Matrix products as PyTorch has them: with any number of batch axes, and as a linear layer."""

from __future__ import annotations

import math
from typing import Any

from p0trans.ops.contract import unequal_inner, unfit_factors
from p0trans.ops.fused.rules import FAMILY
from p0trans.ops.reference import computed
from p0trans.ops.rules import (
    Operands,
    Outcome,
    broadcast_shape,
    wrong_rank,
)
from p0trans.ops.samples import B, D, H, K, N, S, tensor
from p0trans.ops.table import (
    Attributes,
    Facts,
    Layer,
    Operation,
    Precedence,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType


def _matmul(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    left, right = operands
    if rejection := unfit_factors(operands):
        return rejection
    words = {"left": left, "right": right}
    for index, operand in enumerate(operands):
        if operand.rank < 1:
            return Rejection("P0404", index, facts=words)
    if rejection := unequal_inner(left, right, facts, max(-2, -right.rank)):
        return rejection
    batch = broadcast_shape((left.shape[:-2], right.shape[:-2]), facts)
    if batch is None:
        return Rejection("P0405", 1, facts=words)
    # A vector has neither rows nor columns.
    columns = right.shape[-1:] if right.rank > 1 else ()
    return TensorType(left.dtype, (*batch, *left.shape[-2:-1], *columns))


def _linear(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    x, weight, *bias = operands
    if rejection := (
        unfit_factors(operands)
        or wrong_rank(weight, 2, 1)
        or (wrong_rank(bias[0], 1, 2) if bias else None)
    ):
        return rejection
    if x.rank < 1:
        return Rejection("P0404", 0, facts={"left": x, "right": weight})
    if rejection := unequal_inner(x, weight, facts, 1):
        return rejection
    if bias and not facts.equal(bias[0].shape[0], weight.shape[0]):
        expected = TensorType(x.dtype, weight.shape[:1])
        return Rejection("P0401", 2, facts={"expected": expected, "found": bias[0]})
    return TensorType(x.dtype, (*x.shape[:-1], weight.shape[0]))


def _linear_meaning(np: Any, x: Any, weight: Any, *bias: Any) -> Any:
    result = np.matmul(x, weight.T)
    return result + bias[0] if bias else result


def _flops(site: Site) -> Dim:
    """A multiplication and an addition for each product that is summed."""
    return constant(2) * product(site.result.shape) * site.operands[0].shape[-1]


def _linear_flops(site: Site) -> Dim:
    biases = product(site.result.shape) if len(site.operands) == 3 else constant(0)
    return _flops(site) + biases


_WEIGHT = tensor("F32", N, K)
_LINEAR = Layer(
    "Linear",
    lambda types: types[1].shape[::-1],
    ("weight", "bias"),
    # Its bias begins as numbers whose range depends on the width of the input.
    (("kaiming_uniform", (math.sqrt(5),)), None),
)

CONTRACTIONS: tuple[Operation, ...] = (
    Operation(
        name="matmul_nd",
        family=FAMILY,
        form="matmul_nd a b",
        doc=(
            "The matrix products of two batches of matrices, whose batch axes are broadcast; one "
            "may be a vector."
        ),
        noun="product",
        operands=("a", "b"),
        infer=_matmul,
        # As tight as `*`, from the left.
        torch=lambda site: Spelling(
            "{0} @ {1}", Precedence.TERM, (Precedence.TERM, Precedence.UNARY)
        ),
        numpy=computed(lambda np, left, right: np.matmul(left, right)),
        flops=_flops,
        samples=(
            Sample((tensor("F32", B, S, K), tensor("F32", K, D)), tensor("F32", B, S, D)),
            Sample((tensor("F32", S, K), tensor("F32", B, K, D)), tensor("F32", B, S, D)),
            Sample(
                (tensor("F32", B, H, S, K), tensor("F32", B, H, K, D)), tensor("F32", B, H, S, D)
            ),
            Sample((tensor("F32", B, 1, S, K), tensor("F32", H, K, 1)), tensor("F32", B, H, S, 1)),
            Sample((tensor("BF16", 1, K), tensor("BF16", K, 1)), tensor("BF16", 1, 1)),
            Sample((tensor("F32", S, K), tensor("BF16", K, D)), "P0301"),
            Sample((tensor("I32", S, K), tensor("I32", K, D)), "P0302"),
            Sample((tensor("F32", B, S, K), tensor("F32", D, K)), "P0403"),
            Sample((tensor("F32", B, S, K), tensor("F32", K)), tensor("F32", B, S)),
            Sample((tensor("F32", K), tensor("F32", B, K, D)), tensor("F32", B, D)),
            Sample((tensor("F32", K), tensor("F32", K)), tensor("F32")),
            Sample((tensor("F32", S, K), tensor("F32", S)), "P0403"),
            Sample((tensor("F32", S, K), tensor("F32")), "P0404"),
            Sample((tensor("F32", B, S, K), tensor("F32", H, K, D)), "P0405"),
        ),
    ),
    Operation(
        name="linear",
        family=FAMILY,
        form="linear x weight [bias]",
        doc="`x weight^T + bias` over the last axis of `x`; the weight is [out, in].",
        noun="linear",
        operands=("x", "weight", "bias"),
        infer=_linear,
        torch=lambda site: Spelling("F.linear({all})"),
        numpy=computed(_linear_meaning),
        flops=_linear_flops,
        layer=_LINEAR,
        samples=(
            Sample((tensor("F32", B, S, K), _WEIGHT), tensor("F32", B, S, N)),
            Sample((tensor("F32", S, K), _WEIGHT, tensor("F32", N)), tensor("F32", S, N)),
            Sample((tensor("F32", K), _WEIGHT), tensor("F32", N)),
            Sample((tensor("F32", B, S, K), tensor("F32", 1, K)), tensor("F32", B, S, 1)),
            Sample((tensor("BF16", B, S, K), _WEIGHT), "P0301"),
            Sample((tensor("I32", B, K), tensor("I32", N, K)), "P0302"),
            Sample((tensor("F32", B, S, N), _WEIGHT), "P0403"),
            Sample((tensor("F32"), _WEIGHT), "P0404"),
            Sample((tensor("F32", S, K), _WEIGHT, tensor("F32", K)), "P0401"),
            Sample((tensor("F32", S, K), _WEIGHT, tensor("F32", 1, N)), "P0408"),
            Sample((tensor("F32", S, K), tensor("F32", B, N, K)), "P0408"),
        ),
    ),
)
