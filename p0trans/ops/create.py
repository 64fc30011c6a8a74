"""Operations that make tensors from nothing but their attributes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from p0trans.dtypes import DTYPES, DType
from p0trans.ops.reference import rounded
from p0trans.ops.rules import (
    Operands,
    Outcome,
    dtype_attribute,
    unwanted_dtype_attribute,
)
from p0trans.ops.samples import B, S, shape, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Notation,
    Operation,
    Sample,
    Site,
    Spelling,
    no_flops,
    shape_attribute,
)
from p0trans.types import TensorType

# The exponent of the smallest subnormal, by dtype.
_SMALLEST: Mapping[str, int] = MappingProxyType({"F16": -24, "BF16": -133, "F32": -149})
_LARGEST: Mapping[str, float] = MappingProxyType(
    {"F16": 65504.0, "BF16": 255 * 2.0**120, "F32": (2**24 - 1) * 2.0**104}
)


def nearest(value: float, dtype: DType) -> float:
    """`value` rounded once, to nearest and ties to even, to the float dtype `dtype`."""
    if dtype.name not in _SMALLEST or value == 0 or not math.isfinite(value):
        return value
    _, exponent = math.frexp(value)
    unit = max(exponent - dtype.precision, _SMALLEST[dtype.name])
    # `round` gives an int, whose zero has no sign.
    result = math.copysign(math.ldexp(round(math.ldexp(value, -unit)), unit), value)
    return result if abs(result) <= _LARGEST[dtype.name] else math.copysign(math.inf, value)


def _literal_value(attributes: Attributes) -> float | int | bool:
    value = attributes["value"]
    assert isinstance(value, (float, int))
    return value


def literal_text(value: float | int | bool, dtype: DType) -> str:
    """A Python expression for `value` from which torch makes the same number in `dtype`.

    torch goes from a Python float to a 16-bit one by way of float32, which rounds twice. Where that
    would give another number, the expression is the number that `value` rounds to.
    """
    if dtype.is_float:
        value = float(value)
        once = nearest(value, dtype)
        if nearest(nearest(value, DTYPES["F32"]), dtype) != once and dtype.precision < 24:
            value = once
        if not math.isfinite(value):
            return f'float("{value}")'
    return repr(value)


def _const(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    return TensorType(dtype_attribute(attributes), ())


def _const_torch(site: Site) -> Spelling:
    text = literal_text(_literal_value(site.attributes), site.result.dtype)
    template = "torch.tensor({value}, dtype={dtype}, device={device})"
    return Spelling(template, fields={"value": text})


def _const_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    value = _literal_value(evaluation.attributes)
    dtype = dtype_attribute(evaluation.attributes)
    return np.asarray(nearest(float(value), dtype) if dtype.is_float else value, evaluation.dtype)


def _iota(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    dtype = dtype_attribute(attributes)
    return unwanted_dtype_attribute(dtype, "numeric", "dtype") or TensorType(
        dtype, shape_attribute(attributes)
    )


def _iota_torch(site: Site) -> Spelling:
    axis, target, dtype = site.axis(), site.result.shape, site.result.dtype
    if dtype.bits < 32:
        # torch.arange refuses an end that its dtype cannot hold; a cast wraps around or rounds.
        template = "torch.arange({size}, device={device}).to({dtype})"
    else:
        template = "torch.arange({size}, dtype={dtype}, device={device})"
    later = len(target) - axis - 1
    if later:
        template += ".view({size}" + ", 1" * later + ")"
    if len(target) > 1:
        template += ".expand({shape})"
    return Spelling(template, fields={"size": target[axis], "shape": target})


def _iota_idiom(site: Site) -> Spelling:
    """What is one line needs no `expand`."""
    size, *others = site.result.shape
    if not others or any(dim.as_integer() != 1 for dim in others):
        return _iota_torch(site)
    line = site._replace(result=TensorType(site.result.dtype, (size,)))
    spelling = _iota_torch(line)
    turned = ".unsqueeze(-1)" if len(others) == 1 else ".view({size}" + ", 1" * len(others) + ")"
    return replace(spelling, template=spelling.template + turned)


def _iota_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    axis = evaluation.attributes["axis"]
    later = len(evaluation.shape) - axis - 1
    with np.errstate(all="ignore"):
        line = rounded(np, np.arange(evaluation.shape[axis]), evaluation.dtype)
    return np.broadcast_to(line.reshape(-1, *(1,) * later), evaluation.shape)


_DTYPE = AttributeSpec("dtype", AttributeKind.DTYPE, positional=True)


def _iota_sample(dtype: str, axis: int, target: TensorType | str) -> Sample:
    written = target.shape if isinstance(target, TensorType) else shape(B, S)
    return Sample((), target, {"dtype": DTYPES[dtype], "axis": axis, "shape": written})


def _const_sample(dtype: str, value: float | int | bool) -> Sample:
    return Sample((), tensor(dtype), {"dtype": DTYPES[dtype], "value": value})


CREATIONS: tuple[Operation, ...] = (
    Operation(
        name="iota",
        family="creation",
        form="iota[T, axis=n] [d…]",
        doc="Each element's index along one axis, in a numeric dtype and the written shape.",
        noun="index",
        operands=(),
        infer=_iota,
        torch=_iota_torch,
        idiom=_iota_idiom,
        numpy=_iota_meaning,
        flops=no_flops,
        attributes=(_DTYPE, AttributeSpec("axis", AttributeKind.AXIS)),
        takes_shape=True,
        samples=(
            _iota_sample("I32", 0, tensor("I32", S)),
            _iota_sample("I64", 0, tensor("I64", S, B)),
            _iota_sample("F32", 1, tensor("F32", B, S)),
            _iota_sample("I8", 1, tensor("I8", 1, 300, 1)),
            _iota_sample("BF16", 0, tensor("BF16", 300)),
            _iota_sample("Bool", 0, "P0302"),
        ),
    ),
    Operation(
        name="const",
        family="creation",
        form="const[T] x",
        doc="The literal `x` rounded once to the dtype; `1.0` alone is F32, `1` I32, `true` Bool.",
        noun="constant",
        operands=(),
        infer=_const,
        torch=_const_torch,
        numpy=_const_meaning,
        flops=no_flops,
        notation=Notation.LITERAL,
        attributes=(_DTYPE,),
        samples=(
            _const_sample("F32", 1e-6),
            _const_sample("F32", math.inf),
            _const_sample("BF16", 0.1),
            # In float32 this is halfway between two BF16 numbers, in truth above the middle.
            _const_sample("BF16", 1 + 2.0**-8 + 2.0**-40),
            _const_sample("F16", 65519.999),
            _const_sample("F64", -0.0),
            _const_sample("I32", -7),
            _const_sample("U8", 255),
            _const_sample("Bool", True),
        ),
    ),
)
