"""Activation functions.

Where a `select` gives 0 for NaN the function that takes its place gives NaN.
"""

from __future__ import annotations

import math

from p0trans.rewrite.pattern import Num, Operand, Pattern, Var, either, op
from p0trans.rewrite.product import product
from p0trans.rewrite.rule import NOT_XLA, Condition, Match, Rule, called, with_dtype

_X = Var("x")
_LOW, _HIGH = Num("low"), Num("high")


def _where_positive(yes: Operand, no: Operand) -> Pattern:
    """`yes` where x is positive, else `no`, for two that are equal where x is 0."""
    return either(
        *(op("select", op(name, _X, 0.0), yes, no) for name in ("gt", "ge")),
        *(op("select", op(name, 0.0, _X), yes, no) for name in ("lt", "le")),
        *(op("select", op(name, _X, 0.0), no, yes) for name in ("lt", "le")),
        *(op("select", op(name, 0.0, _X), no, yes) for name in ("gt", "ge")),
    )


def _in_order(match: Match) -> str | None:
    low, high = match.literal("low"), match.literal("high")
    if low is not None and high is not None and low <= high:
        return None
    return "the lower bound may be above the upper one"


def _flattens(match: Match) -> str | None:
    slope = match.literal("slope")
    if slope is not None and 0 <= slope <= 1:
        return None
    return "the slope may not be one between 0 and 1"


# From 20 on F.softplus gives x itself, which float64 can tell from log(1 + exp(x)).
_SHORT: Condition = with_dtype("x", "F32", "BF16", "F16")

_CUT_OFF = either(
    *(
        op("select", op(low, _X, _LOW), _LOW, op("select", op(high, _X, _HIGH), _HIGH, _X))
        for low in ("lt", "le")
        for high in ("gt", "ge")
    ),
    op("maximum", op("minimum", _X, _HIGH), _LOW),
)
_ERF = op("erf", product(math.sqrt(0.5), _X))
_K, _CUBIC = math.sqrt(2 / math.pi), 0.044715
_TANH = op(
    "tanh",
    either(
        product(_K, _X + product(_CUBIC, _X, _X, _X)),
        product(_K, 1.0 + product(_CUBIC, _X, _X), _X),
        product(_K, _X) + product(_K * _CUBIC, _X, _X, _X),
    ),
)
# At most 0 and x where that is negative: what an exponential is taken of without overflow.
_NEGATIVE_PART = either(_where_positive(0.0, _X), op("minimum", _X, 0.0))
_EXPONENTIAL = either(_X, _NEGATIVE_PART)
_LESS_ONE = either(op("expm1", _EXPONENTIAL), op("exp", _EXPONENTIAL) - 1.0)
_SOFTPLUS_OF_LESS = op("softplus", -op("abs", _X))


def _half_of(probability: Pattern) -> Pattern:
    """x * (1 + p) / 2 as people group it."""
    return either(
        product(0.5, 1.0 + probability, _X),
        product(1.0, 0.5 + product(0.5, probability), _X),
    )


ACTIVATION = (
    Rule(
        "clamp",
        "minimum (maximum x low) high = clamp x low high",
        op("minimum", op("maximum", _X, _LOW), _HIGH),
        op("clamp", _X, _LOW, _HIGH),
    ),
    Rule(
        "clamp",
        "maximum (minimum x high) low = clamp x low high where low <= high",
        _CUT_OFF,
        op("clamp", _X, _LOW, _HIGH),
        (_in_order,),
    ),
    Rule(
        "relu",
        "maximum x 0 = relu x",
        either(
            op("maximum", _X, 0.0),
            _where_positive(_X, 0.0),
            *(_X * op("cast", op(name, _X, 0.0)) for name in ("gt", "ge")),
            *(_X * op("cast", op(name, 0.0, _X)) for name in ("lt", "le")),
        ),
        op("relu", _X),
    ),
    Rule(
        "clamp_relu",
        "minimum (relu x) high = clamp x 0 high",
        op("minimum", op("relu", _X), _HIGH),
        op("clamp", _X, 0.0, _HIGH),
    ),
    Rule("relu6", "clamp x 0 6 = relu6 x", op("clamp", _X, 0.0, 6.0), op("relu6", _X)),
    Rule(
        "leaky_relu",
        "select (x > 0) x (slope * x) = leaky_relu x slope",
        _where_positive(_X, _X * Num("slope")),
        op("leaky_relu", _X, Num("slope")),
        note=called("leaky ReLU"),
    ),
    Rule(
        "leaky_relu",
        "maximum x (slope * x) = leaky_relu x slope where 0 <= slope <= 1",
        op("maximum", _X, _X * Num("slope")),
        op("leaky_relu", _X, Num("slope")),
        (_flattens,),
        note=called("leaky ReLU"),
    ),
    Rule(
        "elu",
        "select (x > 0) x (alpha * (exp x - 1)) = elu x alpha",
        _where_positive(_X, Num("alpha") * _LESS_ONE),
        op("elu", _X, Num("alpha")),
        note=called("ELU"),
    ),
    Rule(
        "elu",
        "select (x > 0) x (exp x - 1) = elu x 1",
        _where_positive(_X, _LESS_ONE),
        op("elu", _X, 1.0),
        note=called("ELU"),
    ),
    Rule(
        "sigmoid",
        "1 / (1 + exp (-x)) = sigmoid x",
        either(
            op("reciprocal", 1.0 + op("exp", -_X)),
            op("exp", _X) / (1.0 + op("exp", _X)),
            product(0.5, 1.0 + op("tanh", product(0.5, _X))),
        ),
        op("sigmoid", _X),
    ),
    Rule(
        "silu",
        "x * sigmoid x = silu x",
        either(_X * op("sigmoid", _X), _X / (1.0 + op("exp", -_X))),
        op("silu", _X),
        note=called("SiLU"),
    ),
    Rule(
        "hardsigmoid",
        "relu6 (x + 3) / 6 = hardsigmoid x",
        either(
            product(1 / 6, op("relu6", _X + 3.0)),
            op("clamp", product(1 / 6, _X) + 0.5, 0.0, 1.0),
        ),
        op("hardsigmoid", _X),
        note=called("hard sigmoid"),
    ),
    Rule(
        "hardswish",
        "x * hardsigmoid x = hardswish x",
        either(_X * op("hardsigmoid", _X), product(1 / 6, op("relu6", _X + 3.0), _X)),
        op("hardswish", _X),
        note=called("hard swish"),
    ),
    Rule(
        "softplus",
        "log (1 + exp x) = softplus x",
        either(
            op("log1p", op("exp", _X)),
            op("log", 1.0 + op("exp", _X)),
        ),
        op("softplus", _X),
        (_SHORT,),
        note=called("softplus"),
    ),
    Rule(
        "softplus_stable",
        "relu x + softplus (-(abs x)) = softplus x",
        op("relu", _X) + _SOFTPLUS_OF_LESS,
        op("softplus", _X),
    ),
    Rule(
        "logsigmoid",
        "log (sigmoid x) = logsigmoid x",
        op("log", op("sigmoid", _X)),
        op("logsigmoid", _X),
        note=called("log-sigmoid"),
    ),
    Rule(
        "logsigmoid_softplus",
        "-(softplus (-x)) = logsigmoid x",
        either(-op("softplus", -_X), op("minimum", _X, 0.0) - _SOFTPLUS_OF_LESS),
        op("logsigmoid", _X),
        note=called("log-sigmoid"),
        targets=NOT_XLA,
        because=(
            "torch_xla 2.9 computes F.logsigmoid as log(1 + exp(-x)): it gives 0 from 17 on, where "
            "softplus is exact to 2 units in the last place"
        ),
    ),
    Rule(
        "mish",
        "x * tanh (softplus x) = mish x",
        _X * op("tanh", op("softplus", _X)),
        op("mish", _X),
        note=called("Mish"),
    ),
    Rule(
        "gelu",
        "x * (1 + erf (x / sqrt 2)) / 2 = gelu x",
        _half_of(_ERF),
        op("gelu", _X),
        note=called("GELU"),
    ),
    Rule(
        "gelu_tanh",
        "x * (1 + tanh (sqrt (2 / pi) * (x + 0.044715 * x * x * x))) / 2 = gelu_tanh x",
        _half_of(_TANH),
        op("gelu_tanh", _X),
        note=called("GELU approximated by tanh"),
    ),
)
