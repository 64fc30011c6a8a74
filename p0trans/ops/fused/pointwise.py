"""Functions of each element that PyTorch has in one call."""

from __future__ import annotations

import math
from typing import Any

from p0trans.ops.fused.rules import pointwise
from p0trans.ops.rules import Operands, Outcome, unwanted_dtype
from p0trans.ops.samples import B, tensor
from p0trans.ops.table import Attributes, Facts, Operation, Sample


def _numeric(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    return unwanted_dtype(operands[0].dtype, "numeric", 0) or operands[0]


def _sigmoid(np: Any, a: Any) -> Any:
    return np.exp(-np.logaddexp(0.0, -a))


def _silu(np: Any, a: Any) -> Any:
    return a * _sigmoid(np, a)


def _relu6(np: Any, a: Any) -> Any:
    return np.clip(a, 0, 6)


def _hardsigmoid(np: Any, a: Any) -> Any:
    return _relu6(np, a + 3) / 6


def _hardswish(np: Any, a: Any) -> Any:
    return a * _hardsigmoid(np, a)


def _softplus(np: Any, a: Any) -> Any:
    return np.logaddexp(0.0, a)


def _mish(np: Any, a: Any) -> Any:
    return a * np.tanh(_softplus(np, a))


def _gelu(np: Any, a: Any) -> Any:
    # `1 + erf` would lose the small values that `erfc` keeps.
    return 0.5 * a * np.vectorize(math.erfc, otypes=[np.float64])(-a / math.sqrt(2))


def _gelu_tanh(np: Any, a: Any) -> Any:
    # (1 + tanh z) / 2 is the sigmoid of 2 z.
    return a * _sigmoid(np, 2 * math.sqrt(2 / math.pi) * (a + 0.044715 * a**3))


def _leaky_relu(np: Any, a: Any, slope: Any) -> Any:
    return np.where(a > 0, a, slope * a)


def _elu(np: Any, a: Any, alpha: Any) -> Any:
    return np.where(a > 0, a, alpha * np.expm1(np.minimum(a, 0)))


SQUARE = pointwise("square", "`a * a`.", "{0}.square()", lambda np, a: a * a)._replace(
    infer=_numeric,
    samples=(
        Sample((tensor("F32", B, 1),), tensor("F32", B, 1)),
        Sample((tensor("I32", B),), tensor("I32", B)),
        Sample((tensor("Bool", B),), "P0302"),
    ),
)

POINTWISE: tuple[Operation, ...] = (
    SQUARE,
    pointwise("relu", "The larger of `a` and 0.", "F.relu({0})", lambda np, a: np.maximum(a, 0)),
    pointwise(
        "clamp",
        "`minimum (maximum a low) high`.",
        "{0}.clamp({1}, {2})",
        lambda np, a, low, high: np.minimum(np.maximum(a, low), high),
        "low",
        "high",
        flops=2,
    ),
    pointwise("relu6", "`a` cut off below 0 and above 6.", "F.relu6({0})", _relu6, flops=2),
    pointwise(
        "leaky_relu",
        "`a` where it is positive, else `slope * a`.",
        "F.leaky_relu({0}, {1})",
        _leaky_relu,
        "slope",
        flops=2,
    ),
    pointwise(
        "elu",
        "`a` where it is positive, else `alpha * expm1 a`.",
        "F.elu({0}, {1})",
        _elu,
        "alpha",
        flops=3,
    ),
    pointwise("silu", "`a * sigmoid a`.", "F.silu({0})", _silu, flops=2),
    pointwise("hardsigmoid", "`relu6 (a + 3) / 6`.", "F.hardsigmoid({0})", _hardsigmoid, flops=4),
    pointwise("hardswish", "`a * hardsigmoid a`.", "F.hardswish({0})", _hardswish, flops=5),
    pointwise("softplus", "`log (1 + exp a)`.", "F.softplus({0})", _softplus, flops=3),
    pointwise(
        "logsigmoid",
        "`log (sigmoid a)`.",
        "F.logsigmoid({0})",
        lambda np, a: -_softplus(np, -a),
        flops=4,
    ),
    pointwise("mish", "`a * tanh (softplus a)`.", "F.mish({0})", _mish, flops=5),
    pointwise("gelu", "`a * (1 + erf (a / sqrt 2)) / 2`.", "F.gelu({0})", _gelu, flops=5),
    pointwise(
        "gelu_tanh",
        "`a * (1 + tanh (sqrt (2 / pi) * (a + 0.044715 * a * a * a))) / 2`.",
        'F.gelu({0}, approximate="tanh")',
        _gelu_tanh,
        flops=9,
    ),
)
