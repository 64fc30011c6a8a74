"""An operation applied by name: its attributes and its target shape, read and judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from p0trans.checker.context import Context
from p0trans.checker.dims import lower_dim, lower_dtype, lower_shape
from p0trans.checker.edits import subject
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.diagnostics.model import Fix, Label
from p0trans.dtypes import DType
from p0trans.ir.program import Value
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeKind, AttributeSpec, AttributeValue, Notation, Operation
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, TensorType, Type

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body

# What PyTorch calls an attribute, and what it is called here.
_ELSEWHERE: Final = {"dim": "axis", "dims": "perm", "end": "stop"}

LITERAL: Final = next(op for op in OPERATIONS.values() if op.notation is Notation.LITERAL)


def check_application(
    body: Body,
    operation: Operation,
    expr: tree.Apply,
    parts: tuple[Argument, ...],
    hint: Type | None,
) -> Value | None:
    """The value of `operation` applied as `expr` writes it; `parts` are its walked arguments."""
    context = body.context
    shape: Shape | None = None
    if operation.takes_shape:
        last = parts[-1].expr if parts else None
        if not isinstance(last, tree.ShapeArgument):
            context.report(
                "P0204",
                expr.span,
                label="no `[…]` at its end",
                name=operation.name,
                form=operation.form,
            )
            return None
        shape = lower_shape(context, last.dims)
        parts = parts[:-1]
    # Axes count in the first operand, so that has to be a tensor before they are read.
    if not _operands_fit(body, operation, expr, parts) or not body.only_tensors(operation, parts):
        return None
    base = _axis_base(body, parts, _first_type(body, parts), shape)
    attributes = _attributes(context, operation, expr, base)
    if attributes is None or (operation.takes_shape and shape is None):
        return None
    if shape is not None:
        attributes["shape"] = shape
    return body.operation(operation, expr, parts, attributes, hint)


def check_literal_application(body: Body, expr: tree.Apply) -> Value | None:
    """`const[BF16] 0.5`."""
    context = body.context
    attributes = expr.attributes or ()
    if len(attributes) != 1 or attributes[0].name is not None:
        context.report(
            "P0206", expr.head.span, operation=LITERAL.name, name="dtype", form=LITERAL.form
        )
        return None
    dtype = _dtype(context, LITERAL, LITERAL.attributes[0], attributes[0])
    value: float | int | bool | None = None
    if len(expr.arguments) == 1:
        match expr.arguments[0]:
            case tree.Literal(value=written):
                value = written
            case tree.Unary(operator="-", operand=tree.Literal(value=written)) if not isinstance(
                written, bool
            ):
                value = -written
    if value is None:
        context.report(
            "P0201", expr.span, name=LITERAL.name, wanted="one literal", found="something else"
        )
        return None
    return body.literal(expr, value, dtype) if isinstance(dtype, DType) else None


def _operands_fit(
    body: Body, operation: Operation, expr: tree.Apply, parts: Sequence[Argument]
) -> bool:
    context = body.context
    if stray_shape(context, operation.name, parts):
        return False
    least = len(operation.operands)
    if len(parts) == least or (operation.variadic and len(parts) > least):
        return True
    if any(part.value is None and body.is_function(part.expr) for part in parts):
        return False
    more = " or more" if operation.variadic else ""
    context.report(
        "P0201",
        expr.head.span if len(parts) < least else parts[least].expr.span,
        fixes=juxtaposed_fix(context, [part.expr for part in parts], least),
        name=operation.name,
        wanted=f"{counted(least, 'operand')}{more} (`{operation.form}`)",
        found=str(len(parts)),
    )
    return False


def stray_shape(context: Context, name: str, parts: Sequence[Argument]) -> bool:
    """Whether a shape stands among the operands of what takes none; report it.

    Behind an operand that is already reported it is that one's own bracket, as in
    `maximum y zeros[B]`, and says nothing new.
    """
    for index, part in enumerate(parts):
        if isinstance(part.expr, tree.ShapeArgument):
            before = parts[index - 1] if index else None
            if before is None or before.value is not None:
                context.report("P0208", part.expr.span, name=name)
            return True
    return False


def juxtaposed_fix(context: Context, parts: Sequence[tree.Expr], wanted: int) -> tuple[Fix, ...]:
    """`f (x, y)` as `f x y`: arguments stand one after another, a tuple is one argument."""
    if len(parts) != 1 or not isinstance(parts[0], tree.Tuple) or len(parts[0].items) != wanted:
        return ()
    texts = []
    for item in parts[0].items:
        text = context.source.slice(item.span)
        texts.append(
            text if isinstance(item, tree.Name | tree.Literal | tree.Tuple) else f"({text})"
        )
    span = parts[0].span
    before = context.source.text[span.start - 1]
    written = ("" if before.isspace() else " ") + " ".join(texts)
    return (context.replace("write the arguments one after another", span, written),)


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _first_type(body: Body, parts: Sequence[Argument]) -> TensorType | None:
    if not parts or parts[0].value is None:
        return None
    type_ = body.type_of(parts[0].value)
    return type_ if isinstance(type_, TensorType) else None


class _AxisBase(NamedTuple):
    """What axes are counted in, and its rank when that is known."""

    subject: str
    rank: int | None
    labels: tuple[Label, ...] = ()


def _axis_base(
    body: Body, parts: Sequence[Argument], first: TensorType | None, shape: Shape | None
) -> _AxisBase:
    """Axes count in the first operand, or in the target shape where there is none."""
    if parts:
        text = subject(body.context.source, parts[0].expr)
        value = parts[0].value
        labels = () if value is None else body.origin(value)
        return _AxisBase(text, first.rank if first is not None else None, labels)
    return _AxisBase("the target shape", len(shape) if shape is not None else None)


def _attributes(
    context: Context, operation: Operation, expr: tree.Apply, base: _AxisBase
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
            if near:
                fixes = (context.replace(f"write `{near}`", span, near),)
            context.report(
                "P0205",
                span,
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


def _report_unplaced(
    context: Context,
    operation: Operation,
    attribute: tree.Attribute,
    specs: dict[str, AttributeSpec],
    written: dict[str, tree.Attribute],
) -> None:
    """Report an attribute without a name where one with a name is due."""
    text = context.source.slice(attribute.span)
    missing = [name for name, spec in specs.items() if name not in written and not spec.positional]
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
    base: _AxisBase,
) -> AttributeValue | None:
    match spec.kind:
        case AttributeKind.AXIS:
            return _axis(context, operation, spec, attribute, base)
        case AttributeKind.PERMUTATION:
            return _permutation(context, operation, spec, attribute)
        case AttributeKind.DTYPE:
            return _dtype(context, operation, spec, attribute)
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
    base: _AxisBase,
) -> int | None:
    if isinstance(attribute.value, tree.DimList):
        _wrong_kind(context, operation, spec, attribute, "one literal integer")
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


def _dtype(
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
