"""The size of an axis as a number, for which Phase 0 has no operation: the sum of as many ones."""

from __future__ import annotations

from p0trans.rewrite.pattern import Num, Pattern, Size, Var, either, op
from p0trans.rewrite.rule import Match, Rule

_ONES = op("broadcast", 1.0, name="ones")
SIZE = either(
    op("reduce", _ONES, kind="sum", axis=0),
    op("reduce_keep", _ONES, kind="sum", axis=0),
    op("reduce_all", _ONES, kind="sum"),
)
"""The size of the vector `ones`."""


def _is_vector(match: Match) -> str | None:
    rank = match.type("ones").rank
    return None if rank == 1 else f"the ones have {rank} axes"


def _holds_sizes(match: Match) -> str | None:
    """PyTorch refuses to make a number that is beyond the dtype."""
    dtype = match.result.dtype
    return f"{dtype} ends before sizes do" if dtype.name == "F16" or not dtype.is_float else None


def _size(match: Match) -> Pattern:
    size = op("size", dtype=match.result.dtype, size=match.shape("ones")[0])
    return op("broadcast", size, shape=match.result.shape) if match.result.rank else size


def _divided(match: Match) -> Pattern | None:
    number = match.number("n")
    if number.dim is None or number.power >= 0:
        return None
    return Var("x") / Size(number.dim, -number.power)


SIZES = (
    Rule(
        "divided_by_size",
        "x * (1 / n) = x / n, and as much for a root of n",
        Var("x") * Num("n"),
        _divided,
    ),
    Rule(
        "size",
        "sum (broadcast 1.0 [n]) = n",
        SIZE,
        _size,
        (_is_vector, _holds_sizes),
    ),
)
