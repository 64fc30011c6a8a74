"""The size of an axis as a number, for which Phase 0 has no operation: the sum of as many ones."""

from __future__ import annotations

from p0trans.rewrite.pattern import Num, Pattern, Size, Var, either, op
from p0trans.rewrite.rule import Match, Rule

_ONES = op("broadcast", 1.0, name="ones")
_SIZE = either(
    op("reduce", _ONES, kind="sum", axis=0),
    op("reduce_keep", _ONES, kind="sum", axis=0),
)
_X, _N = Var("x"), Num("n")

# PyTorch refuses to make a number that is beyond the dtype; an I32 of that size has no positions.
_LARGE = frozenset({"BF16", "F32", "F64", "I32", "I64"})


def _is_vector(match: Match) -> str | None:
    rank = match.type("ones").rank
    return None if rank == 1 else f"the ones have {rank} axes"


def _holds_sizes(match: Match) -> str | None:
    dtype = match.result.dtype
    return None if dtype.name in _LARGE else f"{dtype} ends before sizes do"


def _size(match: Match) -> Pattern:
    size = op("size", dtype=match.result.dtype, size=match.shape("ones")[0])
    return op("broadcast", size, shape=match.result.shape) if match.result.rank else size


def _divided(match: Match) -> Pattern | None:
    number = match.number("n")
    if number.dim is None or number.power >= 0:
        return None
    return _X / Size(number.dim, -number.power)


def _multiplied(match: Match) -> Pattern | None:
    number = match.number("n")
    if number.dim is None or number.power >= 0:
        return None
    return _X * Size(number.dim, -number.power)


DIVISIONS = (
    Rule(
        "divided_by_size",
        "x * (1 / n) = x / n, and as much for a root of n",
        _X * _N,
        _divided,
    ),
    Rule(
        "multiplied_by_size",
        "x / (1 / n) = x * n, and as much for a root of n",
        _X / _N,
        _multiplied,
    ),
)

SIZES = (
    Rule(
        "size",
        "sum (broadcast 1.0 [n]) = n",
        _SIZE,
        _size,
        (_is_vector, _holds_sizes),
    ),
)
