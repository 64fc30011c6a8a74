"""An operation applied by name: its operands and its target shape, read and judged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from p0trans.checker.attributes import axis_base, read_attributes, read_dtype
from p0trans.checker.context import Context
from p0trans.checker.dims import lower_shape
from p0trans.diagnostics.model import Fix
from p0trans.dtypes import DType
from p0trans.ir.program import Value
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Notation, Operation
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, Type

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body

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
                fixes=_shape_last(context, operation, expr),
                name=operation.name,
                form=operation.form,
            )
            return None
        shape = lower_shape(context, last.dims)
        parts = parts[:-1]
    # Axes count in the first operand, so that has to be a tensor before they are read.
    if not _operands_fit(body, operation, expr, parts) or not body.only_tensors(operation, parts):
        return None
    base = axis_base(body, parts, shape)
    attributes = read_attributes(context, operation, expr, base)
    if attributes is None or (operation.takes_shape and shape is None):
        return None
    if shape is not None:
        attributes["shape"] = shape
    return body.operation(operation, expr, parts, attributes, hint)


def _shape_last(context: Context, operation: Operation, expr: tree.Apply) -> tuple[Fix, ...]:
    """`broadcast[B, S] x` as `broadcast x [B, S]`: a target shape where attributes stand."""
    brackets, attributes = expr.attributes_span, expr.attributes or ()
    if brackets is None or operation.attributes or not expr.arguments:
        return ()
    if any(attribute.name is not None for attribute in attributes):
        return ()
    operands = context.source.slice(Span(brackets.end, expr.span.end)).strip()
    written = f"{operation.name} {operands} {context.source.slice(brackets)}"
    return (context.replace(f"write `{written}`", expr.span, written),)


def check_literal_application(body: Body, expr: tree.Apply) -> Value | None:
    """`const[BF16] 0.5`."""
    context = body.context
    attributes = expr.attributes or ()
    if len(attributes) != 1 or attributes[0].name is not None:
        context.report(
            "P0206", expr.head.span, operation=LITERAL.name, name="dtype", form=LITERAL.form
        )
        return None
    dtype = read_dtype(context, LITERAL, LITERAL.attributes[0], attributes[0])
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
