"""The attributes of an operation: what stands in the bracket, read and judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from p0trans.checker.context import Context
from p0trans.checker.dims import lower_dim, lower_dtype
from p0trans.checker.edits import subject
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.diagnostics.model import Edit, Fix, Label
from p0trans.ops.table import AttributeKind, AttributeSpec, AttributeValue, Operation
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, TensorType

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body

# What PyTorch calls an attribute, and what it is called here.
_ELSEWHERE: Final = {"dim": "axis", "dims": "perm", "end": "stop"}
_KEEPING: Final = frozenset({"keepdim", "keepdims"})


def _first_type(body: Body, parts: Sequence[Argument]) -> TensorType | None:
    if not parts or parts[0].value is None:
        return None
    type_ = body.type_of(parts[0].value)
    return type_ if isinstance(type_, TensorType) else None


class AxisBase(NamedTuple):
    """What axes are counted in, and its rank when that is known."""

    subject: str
    rank: int | None
    labels: tuple[Label, ...] = ()


def axis_base(body: Body, parts: Sequence[Argument], shape: Shape | None) -> AxisBase:
    """Axes count in the first operand, or in the target shape where there is none."""
    if parts:
        text = subject(body.context.source, parts[0].expr)
        first = _first_type(body, parts)
        value = parts[0].value
        labels = () if value is None else body.origin(value)
        return AxisBase(text, first.rank if first is not None else None, labels)
    return AxisBase("the target shape", len(shape) if shape is not None else None)


def read_attributes(
    context: Context, operation: Operation, expr: tree.Apply, base: AxisBase
) -> dict[str, AttributeValue] | None:
    """The attributes by name, each of its kind; None when one is reported as wrong."""
    written = _match_attributes(context, operation, expr)
    if written is None:
        return None
    values: dict[str, AttributeValue] = {}
    complete = True
    for spec in operation.attributes:
        attribute = written.get(spec.name)
        if attribute is None:
            if spec.default is None:
                context.report(
                    "P0206",
                    expr.head.span,
                    operation=operation.name,
                    name=spec.name,
                    form=operation.form,
                )
                complete = False
            else:
                values[spec.name] = spec.default
            continue
        value = _value(context, operation, spec, attribute, base)
        if value is None:
            complete = False
        else:
            values[spec.name] = value
    return values if complete else None


def _match_attributes(
    context: Context, operation: Operation, expr: tree.Apply
) -> dict[str, tree.Attribute] | None:
    specs = {spec.name: spec for spec in operation.attributes}
    positional = [spec.name for spec in operation.attributes if spec.positional]
    written: dict[str, tree.Attribute] = {}
    for index, attribute in enumerate(expr.attributes or ()):
        fixes: tuple[Fix, ...] = ()
        if attribute.name is None:
            if index >= len(positional):
                _report_unplaced(context, operation, attribute, specs, written)
                return None
            name, span = positional[index], attribute.span
        else:
            name, span = attribute.name.text, attribute.name.span
        if name not in specs:
            elsewhere = _ELSEWHERE.get(name)
            near = elsewhere if elsewhere in specs else nearest(name, specs)
            notes: tuple[str, ...] = ()
            if near:
                fixes = (context.replace(f"write `{near}`", span, near),)
            elif name in _KEEPING and operation.kept_by is not None:
                notes = (f"`{operation.kept_by}` keeps the axis",)
                fixes = _kept_fix(context, operation.kept_by, expr, index)
            context.report(
                "P0205",
                span,
                notes=notes,
                fixes=fixes,
                operation=operation.name,
                name=name,
                near=did_you_mean(near),
                form=operation.form,
            )
            return None
        if name in written:
            first = context.label(written[name].span, "first given here")
            context.report("P0207", span, secondary=(first,), name=name, operation=operation.name)
            return None
        written[name] = attribute
    return written


def _kept_fix(context: Context, keeper: str, expr: tree.Apply, index: int) -> tuple[Fix, ...]:
    """`reduce[k, axis=n, keepdim=true] a` as `reduce_keep[k, axis=n] a`."""
    attributes = expr.attributes or ()
    if index == 0 or index + 1 < len(attributes):
        return ()
    gap = Span(attributes[index - 1].span.end, attributes[index].span.end)
    edits = (
        Edit(context.place(expr.head.span), keeper),
        Edit(context.place(gap), ""),
    )
    return (Fix(f"write `{keeper}`", edits, machine=False),)


def _report_unplaced(
    context: Context,
    operation: Operation,
    attribute: tree.Attribute,
    specs: dict[str, AttributeSpec],
    written: dict[str, tree.Attribute],
) -> None:
    """Report an attribute without a name where one with a name is due."""
    text = context.source.slice(attribute.span)
    missing = [
        name
        for name, spec in specs.items()
        if name not in written
        and not spec.positional
        and (spec.kind is AttributeKind.PERMUTATION) == isinstance(attribute.value, tree.DimList)
    ]
    fixes: tuple[Fix, ...] = ()
    if len(missing) == 1:
        fixes = (
            context.replace(f"write `{missing[0]}={text}`", attribute.span, f"{missing[0]}={text}"),
        )
    context.report(
        "P0205",
        attribute.span,
        fixes=fixes,
        operation=operation.name,
        name=text,
        near=": here attributes are written `name=value`",
        form=operation.form,
    )


def _value(
    context: Context,
    operation: Operation,
    spec: AttributeSpec,
    attribute: tree.Attribute,
    base: AxisBase,
) -> AttributeValue | None:
    match spec.kind:
        case AttributeKind.AXIS:
            return _axis(context, operation, spec, attribute, base)
        case AttributeKind.PERMUTATION:
            return _permutation(context, operation, spec, attribute)
        case AttributeKind.DTYPE:
            return read_dtype(context, operation, spec, attribute)
        case AttributeKind.WORD:
            return _word(context, operation, spec, attribute)
        case AttributeKind.INTEGER:
            return _integer(context, operation, spec, attribute)
        case AttributeKind.DIM:
            if isinstance(attribute.value, tree.DimList):
                _wrong_kind(context, operation, spec, attribute, "a dim")
                return None
            return lower_dim(context, attribute.value, products="bound")


def _wrong_kind(
    context: Context,
    operation: Operation,
    spec: AttributeSpec,
    attribute: tree.Attribute,
    wanted: str,
) -> None:
    context.report(
        "P0210",
        attribute.value.span,
        name=spec.name,
        operation=operation.name,
        wanted=wanted,
        form=operation.form,
    )


def _literal_integer(value: tree.Dim | tree.DimList) -> int | None:
    match value:
        case tree.DimInteger(value=number):
            return number
        case tree.DimNegate(operand=tree.DimInteger(value=number)):
            return -number
        case _:
            return None


def _axis(
    context: Context,
    operation: Operation,
    spec: AttributeSpec,
    attribute: tree.Attribute,
    base: AxisBase,
) -> int | None:
    if isinstance(attribute.value, tree.DimList):
        context.report(
            "P0601",
            attribute.value.span,
            label="not a literal",
            notes=("there is one axis in an operation: apply it once for each",),
            name=spec.name,
            text=context.source.slice(attribute.value.span),
            what="a list",
        )
        return None
    value = _literal_integer(attribute.value)
    if value is None:
        _report_computed(context, spec, attribute, attribute.value)
        return None
    rank = base.rank
    if value < 0:
        meant = rank + value if rank is not None and rank + value >= 0 else None
        fixes = () if meant is None else (_axis_fix(context, spec, attribute, meant),)
        context.report(
            "P0602",
            attribute.span,
            secondary=base.labels,
            fixes=fixes,
            name=spec.name,
            value=value,
        )
        return None
    if rank is not None and value >= rank:
        context.report(
            "P0603",
            attribute.value.span,
            secondary=base.labels,
            value=value,
            subject=base.subject,
            rank=rank,
            axes=axes_text(rank),
        )
        return None
    return value if rank is not None else None


def axes_text(rank: int) -> str:
    """Which axes a tensor of `rank` has, as the end of a sentence about it."""
    if rank == 0:
        return "it has no axes"
    if rank == 1:
        return "its only axis is 0"
    return f"its axes are 0 {'and' if rank == 2 else 'to'} {rank - 1}"


def _axis_fix(context: Context, spec: AttributeSpec, attribute: tree.Attribute, value: int) -> Fix:
    text = f"{spec.name}={value}"
    return context.replace(f"write `{text}`", attribute.span, text)


def _report_computed(
    context: Context, spec: AttributeSpec, attribute: tree.Attribute, value: tree.Dim
) -> None:
    """Report an axis that is not a literal; what is computed from literals has a fix."""
    known = _constant_value(value)
    fixes = () if known is None else (_axis_fix(context, spec, attribute, known),)
    context.report(
        "P0601",
        value.span,
        label="not a literal",
        fixes=fixes,
        name=spec.name,
        text=context.source.slice(value.span),
        what="computed",
    )


def _constant_value(value: tree.Dim) -> int | None:
    """The value of a sum or difference of two literals."""
    if isinstance(value, tree.DimBinary):
        left, right = _literal_integer(value.left), _literal_integer(value.right)
        if left is not None and right is not None and value.operator in "+-":
            result = left + right if value.operator == "+" else left - right
            return result if result >= 0 else None
    return None


def _permutation(
    context: Context, operation: Operation, spec: AttributeSpec, attribute: tree.Attribute
) -> tuple[int, ...] | None:
    if not isinstance(attribute.value, tree.DimList):
        _wrong_kind(context, operation, spec, attribute, "a list of literal axes, such as [1, 0]")
        return None
    axes: list[int] = []
    for dim in attribute.value.dims:
        axis = _literal_integer(dim)
        if axis is None:
            context.report(
                "P0601",
                dim.span,
                label="not a literal",
                name=f"each axis of {spec.name}",
                text=context.source.slice(dim.span),
                what="computed",
            )
            return None
        if axis < 0:
            count = len(attribute.value.dims)
            fixes = (
                (context.replace(f"write `{count + axis}`", dim.span, str(count + axis)),)
                if count + axis >= 0
                else ()
            )
            context.report(
                "P0602",
                dim.span,
                fixes=fixes,
                name=spec.name,
                value=axis,
            )
            return None
        axes.append(axis)
    return tuple(axes)


def read_dtype(
    context: Context, operation: Operation, spec: AttributeSpec, attribute: tree.Attribute
) -> AttributeValue | None:
    if not isinstance(attribute.value, tree.DimName):
        _wrong_kind(context, operation, spec, attribute, "a dtype, such as F32")
        return None
    return lower_dtype(context, attribute.value.text, attribute.value.span)


def _word(
    context: Context, operation: Operation, spec: AttributeSpec, attribute: tree.Attribute
) -> str | None:
    known = ", ".join(spec.choices)
    if not isinstance(attribute.value, tree.DimName):
        _wrong_kind(context, operation, spec, attribute, f"one of {known}")
        return None
    word = attribute.value.text
    if word in spec.choices:
        return word
    near = nearest(word, spec.choices)
    span: Span = attribute.value.span
    context.report(
        "P0108",
        span,
        fixes=(context.replace(f"write `{near}`", span, near),) if near else (),
        name=word,
        attribute=spec.name,
        operation=operation.name,
        near=did_you_mean(near),
        known=known,
    )
    return None


def _integer(
    context: Context, operation: Operation, spec: AttributeSpec, attribute: tree.Attribute
) -> int | None:
    value = None if isinstance(attribute.value, tree.DimList) else _literal_integer(attribute.value)
    if value is None:
        _wrong_kind(context, operation, spec, attribute, "a literal integer")
    return value
