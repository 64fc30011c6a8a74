"""Masks of scores, in the one form in which attention looks for them."""

from __future__ import annotations

import math

from p0trans.rewrite.pattern import Attribute, Num, Op, Pattern, Var, either, op
from p0trans.rewrite.rule import Match, Rule

NONE = -math.inf
"""The score of a key in which a query takes no part."""

_X, _MASK, _OTHER, _SCALE = Var("x"), Var("mask"), Var("other"), Num("scale")


def softmax(scores: Pattern) -> Op:
    return op("softmax", scores, axis=Attribute("axis"))


def _is_positive(match: Match) -> str | None:
    number = match.number("scale")
    if number.dim is not None or (number.is_literal and number.value > 0):
        return None
    return "the scale may not be positive"


def _scales_the_rest(match: Match) -> Pattern:
    scaled = _X * _SCALE if match.has("times") else _X / _SCALE
    branches = (NONE, scaled) if match.has("left_out") else (scaled, NONE)
    return softmax(op("select", _MASK, *branches))


_ANY_MASKED = either(op("select", _MASK, _X, NONE), op("select", _MASK, NONE, _X, name="left_out"))


MASKS = (
    Rule(
        "bias_of_mask",
        "x + select m 0 (-inf) = select m x (-inf)",
        _X + op("select", _MASK, 0.0, NONE, shared=True),
        op("select", _MASK, _X, NONE),
    ),
    Rule(
        "bias_of_mask",
        "x + select m (-inf) 0 = select m (-inf) x",
        _X + op("select", _MASK, NONE, 0.0, shared=True),
        op("select", _MASK, NONE, _X),
    ),
    Rule(
        "scale_of_masked",
        "softmax (select m x (-inf) * c) = softmax (select m (x * c) (-inf)) where c > 0",
        softmax(either(op("mul", _ANY_MASKED, _SCALE, name="times"), _ANY_MASKED / _SCALE)),
        _scales_the_rest,
        (_is_positive,),
    ),
    Rule(
        "mask_twice",
        "select m (select n x (-inf)) (-inf) = select (m && n) x (-inf)",
        op("select", _MASK, op("select", _OTHER, _X, NONE), NONE),
        op("select", op("and", _MASK, _OTHER), _X, NONE),
    ),
)
