"""Normalisations over the last axis, and over groups of channels.

The operands are the values, then a weight and but for the RMS norm a bias, which may be left out
from the end, and eps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from p0trans.dtypes import DTYPES
from p0trans.ops.fused.rules import FAMILY, float_mapped, flops_per_element, not_scalar
from p0trans.ops.reference import computed, rounded, widened
from p0trans.ops.rules import (
    Operands,
    Outcome,
    differing_dtype,
    differing_shape,
    dim_attribute,
    from_end,
    unwanted_dtype,
)
from p0trans.ops.samples import B, D, H, K, N, S, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Layer,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Constraint, constant
from p0trans.types import TensorType


def _infer(axis: int, operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    """The vectors lie along the axis, which is counted from the end when it is negative."""
    x, *vectors, eps = operands
    if rejection := unwanted_dtype(x.dtype, "float", 0) or differing_dtype(operands[:-1]):
        return rejection
    least = axis + 1 if axis >= 0 else -axis
    if x.rank < least:
        return Rejection("P0408", 0, facts={"wanted": least, "found": x})
    expected = TensorType(x.dtype, (x.shape[axis],))
    for index, vector in enumerate(vectors, start=1):
        if rejection := differing_shape(expected, vector, facts, index):
            return rejection
    return _wrong_eps(x, eps, len(operands) - 1) or x


def _infer_groups(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    outcome = _infer(1, operands, attributes, facts)
    if isinstance(outcome, TensorType):
        groups, size = dim_attribute(attributes, "groups"), dim_attribute(attributes, "size")
        if not facts.equal_volume((groups, size), outcome.shape[1:2]):
            whole = Constraint(groups * size, "==", outcome.shape[1])
            return Rejection("P0802", attribute="groups", facts={"constraint": whole})
    return outcome


def _wrong_eps(x: TensorType, eps: TensorType, operand: int) -> Rejection | None:
    """eps is a number of the dtype of `x` or of F32, in which PyTorch computes where that is one
    of 16 bits."""
    if eps.dtype is not x.dtype and not (x.dtype.bits == 16 and eps.dtype is DTYPES["F32"]):
        return Rejection("P0301", operand, facts={"expected": x, "found": eps})
    return not_scalar((eps,), operand)


def _eps(site: Site) -> tuple[int, ...]:
    return (len(site.operands) - 1,)


def _spell(function: str, site: Site) -> Spelling:
    fields = {"features": site.operands[0].shape[-1]}
    return Spelling(f"F.{function}({_arguments(site, '({features},)')})", fields=fields)


def _spell_groups(site: Site) -> Spelling:
    fields = {"groups": dim_attribute(site.attributes, "groups")}
    # F.group_norm refuses a group of one value.
    return Spelling(f"torch.group_norm({_arguments(site, '{groups}')})", fields=fields)


def _arguments(site: Site, what: str) -> str:
    *vectors, eps = (f"{{{index}}}" for index in range(1, len(site.operands)))
    return ", ".join(("{0}", what, *vectors, f"eps={eps}"))


def _rms_norm(np: Any, x: Any, *rest: Any) -> Any:
    *vectors, eps = rest
    normed = x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return _scaled(normed, *vectors)


def _layer_norm(np: Any, x: Any, *rest: Any) -> Any:
    return _rms_norm(np, x - np.mean(x, axis=-1, keepdims=True), *rest)


def _group_norm(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    with np.errstate(all="ignore"):
        x, *vectors, eps = (widened(np, operand) for operand in operands)
        rows = x.reshape(x.shape[0], evaluation.attributes["groups"], -1)
        normed = _layer_norm(np, rows, eps).reshape(x.shape)
        channels = (vector.reshape(-1, *(1,) * (x.ndim - 2)) for vector in vectors)
        return rounded(np, _scaled(normed, *channels), evaluation.dtype)


def _scaled(normed: Any, weight: Any = 1.0, bias: Any = 0.0) -> Any:
    return normed * weight + bias


_INITIAL = (("ones", ()), ("zeros", ()))
_X, _ROW, _EPS = tensor("F32", B, S, D), tensor("F32", D), tensor("F32")


def _samples(vectors: int) -> tuple[Sample, ...]:
    """With up to so many vectors behind the values."""
    half = tensor("BF16", B, D)
    accepted = tuple(Sample((_X, *(_ROW,) * count, _EPS), _X) for count in range(vectors + 1))
    return (
        *accepted,
        Sample((_ROW, _ROW, _EPS), _ROW),
        Sample((half, tensor("BF16", D), _EPS), half),
        Sample((tensor("F32", B, 1), tensor("F32", 1), _EPS), tensor("F32", B, 1)),
        Sample((tensor("I32", D), tensor("I32")), "P0302"),
        Sample((_X, tensor("F32", S), _EPS), "P0401"),
        Sample((_X, tensor("F32", 1, D), _EPS), "P0401"),
        Sample((_X, tensor("BF16", D), _EPS), "P0301"),
        Sample((_X, _ROW, tensor("F64")), "P0301"),
        Sample((_X, _ROW), "P0408"),
        Sample((_EPS, _EPS), "P0408"),
    )


def _group_samples() -> tuple[Sample, ...]:
    channels: Attributes = {"groups": constant(2), "size": K}
    x, vector = tensor("F32", B, constant(2) * K, S), tensor("F32", constant(2) * K)
    image, single = tensor("BF16", B, N, H, D), {"groups": N, "size": constant(1)}
    return (
        Sample((x, _EPS), x, channels),
        Sample((x, vector, _EPS), x, channels),
        Sample((x, vector, vector, _EPS), x, channels),
        Sample((image, tensor("BF16", N), _EPS), image, single),
        Sample((x, tensor("F32", S), _EPS), "P0401", channels),
        Sample((tensor("F32", B, K, S), _EPS), "P0802", channels),
        Sample((tensor("F32", B), _EPS), "P0408", channels),
        Sample((tensor("I32", B, 2), tensor("I32")), "P0302", channels),
    )


def _norm(
    name: str, layer: str, doc: str, vectors: tuple[str, ...], function: Callable[..., Any]
) -> Operation:
    return Operation(
        name=name,
        family=FAMILY,
        form=f"{name} x {' '.join(vectors)} eps",
        doc=doc,
        noun="normed",
        operands=("x", *vectors, "eps"),
        infer=partial(_infer, -1),
        torch=lambda site: _spell(name, site),
        numpy=computed(function),
        flops=flops_per_element(4 + 2 * len(vectors)),
        variadic=True,
        numbers=_eps,
        layer=Layer(
            layer, lambda types: types[1].shape, vectors, _INITIAL[: len(vectors)], ("eps",)
        ),
        samples=_samples(len(vectors)),
    )


def _normalize(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    x, eps = (widened(np, operand) for operand in operands)
    squares = np.sum(x * x, axis=evaluation.attributes["axis"], keepdims=True)
    with np.errstate(all="ignore"):
        return rounded(np, x / np.maximum(np.sqrt(squares), eps), evaluation.dtype)


def _spell_normalize(site: Site) -> Spelling:
    axis = from_end(site.axis(), site.result.rank)
    return Spelling("F.normalize({0}, dim={axis}, eps={1})", fields={"axis": axis})


NORMS: tuple[Operation, ...] = (
    Operation(
        name="normalize",
        family=FAMILY,
        form="normalize[axis=n] x eps",
        doc="The values divided by the length of the vectors along the axis, at least eps.",
        noun="normed",
        operands=("x", "eps"),
        infer=float_mapped,
        torch=_spell_normalize,
        numpy=_normalize,
        flops=flops_per_element(3),
        attributes=(AttributeSpec("axis", AttributeKind.AXIS),),
        numbers=lambda site: (1,),
        samples=(
            Sample((tensor("F32", B, S, D), _EPS), tensor("F32", B, S, D), {"axis": 1}),
            Sample((tensor("BF16", B, D), tensor("BF16")), tensor("BF16", B, D), {"axis": 1}),
            Sample((tensor("I32", B, D), tensor("I32")), "P0302", {"axis": 1}),
            Sample((tensor("F32", B, D), tensor("F64")), "P0301", {"axis": 1}),
            Sample((tensor("F32", B, D), tensor("F32", D)), "P0408", {"axis": 1}),
        ),
    ),
    _norm(
        "rms_norm",
        "RMSNorm",
        "The values divided by the root of their mean square plus eps, times the weight.",
        ("weight",),
        _rms_norm,
    ),
    _norm(
        "layer_norm",
        "LayerNorm",
        "The values less their mean, divided by the root of their variance plus eps, times the "
        "weight, plus the bias.",
        ("weight", "bias"),
        _layer_norm,
    ),
    Operation(
        name="group_norm",
        family=FAMILY,
        form="group_norm[groups=d, size=d] x weight bias eps",
        doc=(
            "The values of each group of `size` channels, axis 1, less their mean, divided by the "
            "root of their variance plus eps; times the weight and plus the bias of the channel."
        ),
        noun="normed",
        operands=("x", "weight", "bias", "eps"),
        infer=_infer_groups,
        torch=_spell_groups,
        numpy=_group_norm,
        flops=flops_per_element(8),
        variadic=True,
        numbers=_eps,
        samples=_group_samples(),
    ),
)
