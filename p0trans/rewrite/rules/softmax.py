"""Softmax along any axis, its logarithm, and the logarithm of a sum of exponentials.

A maximum that is subtracted first makes no difference: PyTorch's functions do that by themselves.
"""

from __future__ import annotations

import math

from p0trans.rewrite.pattern import Attribute, Either, Pattern, Var, either, op
from p0trans.rewrite.rule import Match, Rule, is_one, over
from p0trans.rewrite.rules.reductions import AXIS, FIRST_AXIS, by_rows, dropped, kept

_X = Var("x")


def _finite(maximum: Pattern) -> Either:
    """The maximum, or 0 in place of an infinite one."""
    infinite = (op("eq", op("abs", maximum), math.inf), op("eq", maximum, -math.inf))
    return either(*(op("select", test, 0.0, maximum) for test in infinite))


_KEPT_MAX = kept("max", _X, shared=True)
_TOP = either(_KEPT_MAX, _finite(_KEPT_MAX))
_DROPPED_TOP = either(
    dropped("max", _X), _finite(dropped("max", _X)), op("reshape", _finite(_KEPT_MAX))
)
SHIFTED = _X - _TOP
"""`x` less its maximum along the axis."""


def _softmax(operand: Pattern) -> Either:
    exponential = op("exp", operand)
    total = kept("sum", exponential)
    return either(exponential / total, exponential * op("reciprocal", total))


def _normed_product(operand: Pattern) -> Pattern:
    """The product with the exponentials, divided by their sums only afterwards."""
    exponential = op("exp", operand)
    total = op("reduce_keep", exponential, kind="sum", axis=AXIS)
    return either(*(op(name, exponential, Var("v")) / total for name in ("matmul", "matmul_nd")))


def _over_last(match: Match) -> str | None:
    if match.is_last("axis", "x") and match.type("x").rank == match.result.rank:
        return None
    return f"axis {match.integer('axis')} is not the one that the product sums over"


def _logsumexp(operand: Pattern) -> Either:
    """That of `operand`, broadcast along the axis again."""
    return either(
        op("logsumexp", operand, axis=AXIS, keep=True),
        op("logsumexp", operand, axis=FIRST_AXIS, keep=False),
    )


def _log_of_sum(reduction: str) -> Pattern:
    return op("log", op(reduction, op("exp", _X), kind="sum", axis=AXIS))


def _of_same_rank(match: Match) -> Pattern:
    return op("logsumexp", _X, axis=AXIS, keep=match.result.rank == match.type("x").rank)


def _with_axis_or_not(match: Match) -> Pattern | None:
    """The logsumexp of x that has the shape to which another one is reshaped."""
    axis, shape = match.integer("axis"), match.shape("x")
    keep = match.result.rank == len(shape)
    middle = match.result.shape[axis : axis + 1] if keep else ()
    if not all(map(is_one, middle)):
        return None
    if not match.same_shape(match.result.shape, (*shape[:axis], *middle, *shape[axis + 1 :])):
        return None
    return op("logsumexp", _X, axis=AXIS, keep=keep)


def _lines_up(match: Match) -> str | None:
    """A maximum that dropped the axis has it again where it is subtracted."""
    if not match.has("restored"):
        return None
    shape, axis = match.shape("restored"), match.integer("axis")
    others = (*shape[:axis], *shape[axis + 1 :])
    if is_one(shape[axis]) and match.same_shape(others, match.result.shape):
        return None
    return "the maximum is subtracted from other elements"


_PICKED = op("gather", op("softmax", _X, axis=AXIS), Var("ids"), axis=Attribute("of"))


def _log_picked(match: Match) -> Pattern:
    picked = op("gather", op("log_softmax", _X, axis=AXIS), Var("ids"), axis=Attribute("of"))
    return op("reshape", picked, shape=match.result.shape) if match.has("flat") else picked


SOFTMAX = (
    Rule(
        "softmax",
        "exp (x - max x) / sum (exp (x - max x)) = softmax x, with or without the maximum",
        either(_softmax(SHIFTED), _softmax(_X)),
        op("softmax", _X, axis=AXIS),
        note=over("softmax", "x"),
    ),
    Rule(
        "logsumexp",
        "log (sum (exp x)) = logsumexp x",
        either(_log_of_sum("reduce_keep"), _log_of_sum("reduce")),
        _of_same_rank,
        note=over("log-sum-exp", "x"),
    ),
    Rule(
        "logsumexp_shift",
        "max x + logsumexp (x - max x) = logsumexp x",
        either(
            _TOP + op("logsumexp", SHIFTED, axis=AXIS, keep=True),
            _DROPPED_TOP + op("logsumexp", SHIFTED, axis=AXIS, keep=False),
            op("reduce", _X, kind="max", axis=AXIS, name="top")
            + op(
                "logsumexp", _X - op("reshape", Var("top"), name="restored"), axis=AXIS, keep=False
            ),
        ),
        _of_same_rank,
        (_lines_up,),
        note=over("log-sum-exp", "x"),
    ),
    Rule(
        "logsumexp_axis",
        "reshape (logsumexp x) = logsumexp x, with the axis kept or not",
        op("reshape", op("logsumexp", _X, axis=AXIS)),
        _with_axis_or_not,
        note=over("log-sum-exp", "x"),
    ),
    Rule(
        "log_softmax",
        "log (softmax x) = x - logsumexp x = log_softmax x, with or without the maximum",
        either(
            op("log", op("softmax", _X, axis=AXIS)),
            SHIFTED - _logsumexp(SHIFTED),
            _X - _logsumexp(_X),
        ),
        op("log_softmax", _X, axis=AXIS),
        note=over("log-softmax", "x"),
    ),
    Rule(
        "softmax_after_product",
        "(exp x @ v) / sum (exp x) = softmax x @ v, with or without the maximum",
        either(_normed_product(SHIFTED), _normed_product(_X)),
        op("matmul_nd", op("softmax", _X, axis=AXIS), Var("v")),
        (_over_last,),
        note=over("softmax", "x"),
    ),
    Rule(
        "softmax_shift",
        "softmax (x - max x) = softmax x",
        op("softmax", SHIFTED, axis=AXIS),
        op("softmax", _X, axis=AXIS),
        note=over("softmax", "x"),
    ),
    Rule(
        "log_softmax_shift",
        "log_softmax (x - max x) = log_softmax x",
        op("log_softmax", SHIFTED, axis=AXIS),
        op("log_softmax", _X, axis=AXIS),
        note=over("log-softmax", "x"),
    ),
    Rule(
        "softmax_of_log",
        "exp (log_softmax x) = softmax x",
        op("exp", op("log_softmax", _X, axis=AXIS)),
        op("softmax", _X, axis=AXIS),
        note=over("softmax", "x"),
    ),
    Rule(
        "log_softmax_picked",
        "log (gather (softmax x) ids) = gather (log_softmax x) ids",
        op("log", either(_PICKED, op("reshape", _PICKED, name="flat"))),
        _log_picked,
        note=over("log-softmax", "x"),
    ),
    by_rows("softmax", along_axis=True),
    by_rows("log_softmax", along_axis=True),
)
