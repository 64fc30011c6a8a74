"""Normalisations over the last axis.

PyTorch's functions take eps as a Python number, so that it has to be a literal or a constant of
the module. The variance as the mean square less the squared mean is left alone: it loses digits
that the function keeps.
"""

from __future__ import annotations

from collections.abc import Callable

from p0trans.dtypes import DTYPES
from p0trans.ir.program import Apply, Idiom
from p0trans.rewrite.pattern import Known, Num, Pattern, Var, either, op
from p0trans.rewrite.product import product
from p0trans.rewrite.rule import NOT_XLA, Match, Rule, is_one, over, with_dtype
from p0trans.rewrite.rules.reductions import AXIS, by_rows, kept

_X, _WEIGHT, _BIAS, _EPS = Var("x"), Var("weight"), Var("bias"), Num("eps")
_CENTERED = _X - kept("mean", _X)


def _normed(values: Pattern, weight: Pattern | None = None) -> Pattern:
    """Values over the root of their mean square, times a weight if there is one."""
    spread = kept("mean", either(op("square", values), values * values)) + _EPS
    factors = (values,) if weight is None else (values, weight)
    scaled = values if weight is None else values * weight
    return either(product(1.0, op("rsqrt", spread), *factors), scaled / op("sqrt", spread))


_SUM_OF_SQUARES = kept("sum", either(op("square", _X), _X * _X))


def _over_last(match: Match) -> str | None:
    if "axis" not in match.bound.attributes or match.is_last("axis", "x"):
        return None
    return f"axis {match.integer('axis')} is not the last one"


def _row(match: Match, name: str) -> Pattern:
    """A vector behind the reshape that puts axes of size 1 in front of it."""
    value = match.value(name)
    node, shape = match.graph.node(value), match.shape(name)
    if isinstance(node, Apply) and node.operation == "reshape" and all(map(is_one, shape[:-1])):
        vector = match.graph.tensor(node.operands[0])
        if match.same_shape(vector.shape, shape[-1:]):
            return Known(node.operands[0])
    return Known(value)


def _last_dim(idiom: str) -> Callable[[Match], Idiom]:
    return lambda match: Idiom(idiom, match.shape("x")[-1])


_RMS_NORM, _LAYER_NORM = _last_dim("RMSNorm"), _last_dim("LayerNorm")

# torch_xla has the variance as the mean square less the squared mean.
LOSES_ON_XLA = (
    "under torch_xla 2.9 a layer norm of float32 numbers around 100 with a deviation of 1 is off "
    "by 4e-3, where its steps are off by 7e-6, and one of numbers around 3000 is NaN"
)

NORM = (
    Rule(
        "layer_norm",
        "(x - mean x) / sqrt (mean (square (x - mean x)) + eps) = layer_norm x",
        _normed(_CENTERED),
        op("layer_norm", _X, _EPS),
        (_over_last,),
        _LAYER_NORM,
        targets=NOT_XLA,
        because=LOSES_ON_XLA,
    ),
    Rule(
        "layer_norm_weight",
        "layer_norm x * weight = layer_norm x weight",
        either(op("layer_norm", _X, _EPS) * _WEIGHT, _normed(_CENTERED, _WEIGHT)),
        lambda match: op("layer_norm", _X, _row(match, "weight"), _EPS),
        (_over_last,),
        _LAYER_NORM,
        targets=NOT_XLA,
        because=LOSES_ON_XLA,
    ),
    Rule(
        "layer_norm_bias",
        "layer_norm x weight + bias = layer_norm x weight bias",
        op("layer_norm", _X, _WEIGHT, _EPS) + _BIAS,
        lambda match: op("layer_norm", _X, _WEIGHT, _row(match, "bias"), _EPS),
    ),
    Rule(
        "normalize",
        "x / maximum (sqrt (sum (square x))) eps = normalize x",
        _X / op("maximum", op("sqrt", _SUM_OF_SQUARES), _EPS),
        op("normalize", _X, _EPS, axis=AXIS),
        note=over("unit vectors", "x"),
    ),
    Rule(
        "rms_norm",
        "x / sqrt (mean (square x) + eps) = rms_norm x",
        _normed(_X),
        op("rms_norm", _X, _EPS),
        (_over_last,),
        _RMS_NORM,
    ),
    Rule(
        "rms_norm_weight",
        "rms_norm x * weight = rms_norm x weight",
        either(op("rms_norm", _X, _EPS) * _WEIGHT, _normed(_X, _WEIGHT)),
        lambda match: op("rms_norm", _X, _row(match, "weight"), _EPS),
        (_over_last,),
        _RMS_NORM,
    ),
)


def _upcast(operation: str, *vectors: Pattern) -> Rule:
    """PyTorch computes the function of 16 bits in float32 and rounds once, at the end."""
    wide = (op("cast", one, dtype=DTYPES["F32"], shared=True) for one in (_X, *vectors))
    return Rule(
        f"{operation}_upcast",
        f"cast ({operation} (cast[F32] x)) = {operation} x where x has 16 bits",
        op("cast", op(operation, *wide, _EPS)),
        op(operation, _X, *vectors, _EPS),
        (with_dtype("x", "F16", "BF16"),),
    )


# After the weights: one that stands behind a cast to 16 bits is not drawn into the call.
NORM_UPCAST = (
    _upcast("rms_norm"),
    _upcast("rms_norm", _WEIGHT),
    _upcast("layer_norm"),
    _upcast("layer_norm", _WEIGHT),
    _upcast("layer_norm", _WEIGHT, _BIAS),
)

NORM_BY_ROWS = (
    by_rows("rms_norm", _EPS),
    by_rows("rms_norm", _WEIGHT, _EPS),
    by_rows("layer_norm", _EPS),
    by_rows("layer_norm", _WEIGHT, _EPS),
    by_rows("layer_norm", _WEIGHT, _BIAS, _EPS),
)
