"""Cutting an axis into parts, picking one place of it, and putting tensors side by side."""

from __future__ import annotations

from typing import Any

from p0trans.ops.fused.rules import FAMILY
from p0trans.ops.reference import rounded, widened
from p0trans.ops.rules import (
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    differing_dtype,
    differing_shape,
    dim_attribute,
    from_end,
    unwanted_dtype,
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
from p0trans.shapes.dim import Constraint, Dim, constant, product
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


def _unbind(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    if operand.shape[axis_attribute(attributes)].as_integer() is None:
        return Rejection("P0408", 0, facts={"wanted": 1, "found": operand})
    return operand


def _unbind_parts(operand: TensorType, attributes: Attributes) -> tuple[TensorType, ...]:
    axis = axis_attribute(attributes)
    count = operand.shape[axis].as_integer()
    assert count is not None
    part = TensorType(operand.dtype, (*operand.shape[:axis], *operand.shape[axis + 1 :]))
    return (part,) * count


def _stack(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    first, axis = operands[0], axis_attribute(attributes)
    if rejection := differing_dtype(operands):
        return rejection
    for index, operand in enumerate(operands[1:], start=1):
        if rejection := differing_shape(first, operand, facts, index):
            return rejection
    return TensorType(
        first.dtype, (*first.shape[:axis], constant(len(operands)), *first.shape[axis:])
    )


def _stack_torch(site: Site) -> Spelling:
    fields = {"axis": from_end(site.axis(), site.result.rank)}
    return Spelling("torch.stack([{all}], dim={axis})", fields=fields)


def _glu(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    axis = axis_attribute(attributes)
    half = operand.shape[axis] // 2
    whole = Constraint(operand.shape[axis], "==", half + half)
    if rejection := unwanted_dtype(operand.dtype, "float", 0):
        return rejection
    if not facts.holds(whole):
        return Rejection("P0802", attribute="axis", facts={"constraint": whole})
    return TensorType(operand.dtype, (*operand.shape[:axis], half, *operand.shape[axis + 1 :]))


def _glu_torch(site: Site) -> Spelling:
    return Spelling(
        "F.glu({0}, dim={axis})", fields={"axis": from_end(site.axis(), site.result.rank)}
    )


def _glu_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    x = widened(np, operands[0])
    a, gate = np.split(x, 2, axis=evaluation.attributes["axis"])
    return rounded(np, a * np.exp(-np.logaddexp(0.0, -gate)), evaluation.dtype)


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
    Operation(
        name="unbind",
        family=FAMILY,
        form="unbind[axis=n] a",
        doc="What stands at each place of one axis, which is dropped, as a tuple.",
        noun="parts",
        operands=("a",),
        infer=_unbind,
        torch=lambda site: Spelling(
            "{0}.unbind(dim={axis})",
            operands=RECEIVER,
            fields={"axis": from_end(site.axis(), site.operands[0].rank)},
        ),
        numpy=lambda np, operands, evaluation: tuple(
            np.moveaxis(operands[0], evaluation.attributes["axis"], 0)
        ),
        flops=no_flops,
        bytes=no_bytes,
        attributes=(_AXIS,),
        samples=(
            Sample((tensor("F32", B, 3, D),), tensor("F32", B, 3, D), {"axis": 1}),
            Sample((tensor("I32", B, 2),), tensor("I32", B, 2), {"axis": 1}),
            Sample((_CUBE,), "P0408", {"axis": 1}),
        ),
        parts=_unbind_parts,
    ),
    Operation(
        name="stack",
        family=FAMILY,
        form="stack[axis=n] a b …",
        doc="Tensors of one shape, side by side along a new axis.",
        noun="stacked",
        operands=("a", "b"),
        infer=_stack,
        torch=_stack_torch,
        numpy=lambda np, operands, evaluation: np.stack(
            operands, axis=evaluation.attributes["axis"]
        ),
        flops=no_flops,
        attributes=(_AXIS,),
        variadic=True,
        samples=(
            Sample((tensor("F32", B, D),) * 2, tensor("F32", B, D, 2), {"axis": 2}),
            Sample((tensor("I32", B, D),) * 3, tensor("I32", 3, B, D), {"axis": 0}),
            Sample((tensor("F32", B), tensor("BF16", B)), "P0301", {"axis": 0}),
            Sample((tensor("F32", B), tensor("F32", 1)), "P0401", {"axis": 0}),
        ),
    ),
    Operation(
        name="glu",
        family=FAMILY,
        form="glu[axis=n] a",
        doc="The first half along an axis times the sigmoid of the second.",
        noun="gated",
        operands=("a",),
        infer=_glu,
        torch=_glu_torch,
        numpy=_glu_meaning,
        flops=lambda site: constant(5) * product(site.result.shape),
        attributes=(_AXIS,),
        samples=(
            Sample((_WIDE,), tensor("F32", B, K), {"axis": 1}),
            Sample((tensor("BF16", 6, B),), tensor("BF16", 3, B), {"axis": 0}),
            Sample((tensor("I32", 6, B),), "P0302", {"axis": 0}),
            Sample((_CUBE,), "P0802", {"axis": 1}),
        ),
    ),
)
