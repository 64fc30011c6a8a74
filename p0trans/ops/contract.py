"""Operations that sum products over an axis."""

from __future__ import annotations

from p0trans.ops.reference import computed
from p0trans.ops.rules import Operands, Outcome, differing_dtype, unwanted_dtype
from p0trans.ops.samples import B, D, H, K, N, S, tensor
from p0trans.ops.table import (
    Attributes,
    Facts,
    Operation,
    Precedence,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType


def unfit_factors(operands: Operands) -> Rejection | None:
    """Why operands cannot be multiplied whatever their shapes: their dtypes."""
    return differing_dtype(operands) or unwanted_dtype(operands[0].dtype, "float", 0)


def unequal_inner(
    left: TensorType, right: TensorType, facts: Facts, axis: int = -2
) -> Rejection | None:
    """P0403 when the last axis of `left` and `axis` of `right`, which are summed over, differ."""
    inner, other = left.shape[-1], right.shape[axis]
    if facts.equal(inner, other):
        return None
    words = {"left": left, "right": right, "inner_left": inner, "inner_right": other}
    return Rejection("P0403", 1, facts=words)


def _matmul(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    left, right = operands
    if rejection := unfit_factors(operands):
        return rejection
    words = {"left": left, "right": right}
    if left.rank not in (2, 3) or left.rank != right.rank:
        return Rejection("P0404", 1 if left.rank in (2, 3) else 0, facts=words)
    if left.rank == 3 and not facts.equal(left.shape[0], right.shape[0]):
        return Rejection("P0405", 1, facts=words)
    if rejection := unequal_inner(left, right, facts):
        return rejection
    return TensorType(left.dtype, (*left.shape[:-1], right.shape[-1]))


# As tight as `*`, but nobody reads `a * b @ c` with ease.
_OPERANDS = (Precedence.UNARY, Precedence.UNARY)


def _flops(site: Site) -> Dim:
    """2 M K N for each pair of matrices: a multiplication and an addition for each product."""
    return constant(2) * product(site.operands[0].shape) * site.operands[1].shape[-1]


CONTRACTIONS: tuple[Operation, ...] = (
    Operation(
        name="matmul",
        family="contraction",
        form="matmul a b",
        doc=(
            "The matrix product of float tensors of one dtype: `[M, K] [K, N]`, or batches of "
            "matrices, `[N, M, K] [N, K, P]`."
        ),
        noun="product",
        operands=("a", "b"),
        infer=_matmul,
        torch=lambda site: Spelling("torch.matmul({0}, {1})"),
        numpy=computed(lambda np, left, right: np.matmul(left, right)),
        flops=_flops,
        idiom=lambda site: Spelling("{0} @ {1}", Precedence.TERM, _OPERANDS),
        samples=(
            Sample((tensor("F32", S, K), tensor("F32", K, D)), tensor("F32", S, D)),
            Sample((tensor("F32", 1, K), tensor("F32", K, 1)), tensor("F32", 1, 1)),
            Sample((tensor("F32", N, S, K), tensor("F32", N, K, D)), tensor("F32", N, S, D)),
            Sample((tensor("F32", S, K), tensor("BF16", K, D)), "P0301"),
            Sample((tensor("I32", S, K), tensor("I32", K, D)), "P0302"),
            Sample((tensor("F32", S, K), tensor("F32", D, K)), "P0403"),
            Sample((tensor("F32", N, S, D), tensor("F32", N, S, D)), "P0403"),
            Sample((tensor("F32", B, S, K), tensor("F32", K, D)), "P0404"),
            Sample((tensor("F32", K), tensor("F32", K, D)), "P0404"),
            Sample((tensor("F32", B, H, S, K), tensor("F32", B, H, K, S)), "P0404"),
            Sample((tensor("F32", N, S, K), tensor("F32", 1, K, D)), "P0405"),
        ),
    ),
)
