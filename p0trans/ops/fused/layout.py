"""Cutting an axis into parts, and picking one place of it."""

from __future__ import annotations

from typing import Any

from p0trans.ops.fused.rules import FAMILY
from p0trans.ops.rules import (
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    dim_attribute,
    from_end,
)
from p0trans.ops.samples import TWO_K, B, D, K, S, at_least, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
    no_bytes,
    no_flops,
)
from p0trans.shapes.dim import Constraint, Dim, constant
from p0trans.types import Shape, TensorType

_AXIS = AttributeSpec("axis", AttributeKind.AXIS)
_ZERO, _ONE = constant(0), constant(1)


def _sizes(attributes: Attributes) -> Shape:
    sizes = attributes["sizes"]
    assert isinstance(sizes, tuple)
    return tuple(size for size in sizes if isinstance(size, Dim))


def _split(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    total = sum(_sizes(attributes), start=_ZERO)
    whole = Constraint(total, "==", operand.shape[axis_attribute(attributes)])
    if not facts.holds(whole):
        return Rejection("P0802", attribute="sizes", facts={"constraint": whole})
    return operand


def _split_parts(operand: TensorType, attributes: Attributes) -> tuple[TensorType, ...]:
    axis = axis_attribute(attributes)
    return tuple(
        TensorType(operand.dtype, (*operand.shape[:axis], size, *operand.shape[axis + 1 :]))
        for size in _sizes(attributes)
    )


def _split_torch(site: Site) -> Spelling:
    sizes = _sizes(site.attributes)
    axis = from_end(site.axis(), site.operands[0].rank)
    fields: dict[str, object] = {"axis": axis, "sizes": sizes, "count": len(sizes)}
    if len(set(sizes)) == 1:
        return Spelling("{0}.chunk({count}, dim={axis})", operands=RECEIVER, fields=fields)
    return Spelling("torch.split({0}, [{sizes}], dim={axis})", fields=fields)


def _split_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    places = np.cumsum(evaluation.attributes["sizes"])[:-1]
    return tuple(np.split(operands[0], places, axis=evaluation.attributes["axis"]))


def _pick(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    axis, at = axis_attribute(attributes), dim_attribute(attributes, "at")
    for bound in (Constraint(_ZERO, "<=", at), Constraint(at, "<", operand.shape[axis])):
        if not facts.holds(bound):
            return Rejection("P0802", attribute="at", facts={"constraint": bound})
    return TensorType(operand.dtype, (*operand.shape[:axis], *operand.shape[axis + 1 :]))


def _pick_torch(site: Site) -> Spelling:
    axis, shape = site.axis(), site.operands[0].shape
    at = dim_attribute(site.attributes, "at")
    text = "-1" if at is shape[axis] - _ONE and at.as_integer() is None else "{at}"
    last = axis > 0 and axis == len(shape) - 1
    template = "{0}[" + ("..., " if last else ":, " * axis) + text + "]"
    return Spelling(template, operands=RECEIVER, fields={"at": at})


def _cut(*sizes: Dim, axis: int = 1) -> Attributes:
    return {"axis": axis, "sizes": sizes}


def _place(at: Dim, axis: int = 1) -> Attributes:
    return {"axis": axis, "at": at}


_WIDE, _CUBE = tensor("F32", B, TWO_K), tensor("F32", B, S, D)

LAYOUT: tuple[Operation, ...] = (
    Operation(
        name="split",
        family=FAMILY,
        form="split[axis=n, sizes=[d…]] a",
        doc="The parts of one axis, of these sizes, as a tuple.",
        noun="parts",
        operands=("a",),
        infer=_split,
        torch=_split_torch,
        numpy=_split_meaning,
        flops=no_flops,
        bytes=no_bytes,
        attributes=(_AXIS,),
        samples=(
            Sample((_WIDE,), _WIDE, _cut(K, K)),
            Sample((_WIDE,), _WIDE, _cut(K, _ONE, K - _ONE), (at_least(K, 2),)),
            Sample(
                (tensor("I32", 6, B),), tensor("I32", 6, B), _cut(*map(constant, (1, 2, 3)), axis=0)
            ),
            Sample((_WIDE,), "P0802", _cut(K, D)),
        ),
        parts=_split_parts,
    ),
    Operation(
        name="pick",
        family=FAMILY,
        form="pick[axis=n, at=d] a",
        doc="What stands at one place of an axis, which is dropped.",
        noun="part",
        operands=("a",),
        infer=_pick,
        torch=_pick_torch,
        numpy=lambda np, operands, evaluation: np.take(
            operands[0], evaluation.attributes["at"], axis=evaluation.attributes["axis"]
        ),
        flops=no_flops,
        bytes=no_bytes,
        attributes=(_AXIS,),
        samples=(
            Sample((_CUBE,), tensor("F32", B, D), _place(_ZERO)),
            Sample((_CUBE,), tensor("F32", B, S), _place(D - _ONE, axis=2)),
            Sample((_CUBE,), tensor("F32", S, D), _place(_ZERO, axis=0)),
            Sample((tensor("F32", S),), tensor("F32"), _place(S - _ONE, axis=0)),
            Sample((_WIDE,), tensor("F32", B), _place(K)),
            Sample((_CUBE,), "P0802", _place(S)),
            Sample((_CUBE,), "P0802", _place(-_ONE)),
        ),
    ),
)
