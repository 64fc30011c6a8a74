"""A value of the wrong type: which question of the debug checklist it is, and what mends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from p0trans.checker.context import ONE, Context
from p0trans.checker.edits import enclosed, subject, wrap
from p0trans.checker.operand import Operand, Reduced
from p0trans.checker.shapes import (
    broadcasts,
    permutation,
    placement,
    same_shape,
)
from p0trans.diagnostics.model import Edit, Fix, Label
from p0trans.dtypes import DType
from p0trans.ir.regrouping import clean
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, TensorType, TupleType, Type, shape_text


def report_mismatch(context: Context, operand: Operand, found: Type, expected: Type) -> None:
    """Report that `operand` is `found` where `expected` is needed."""
    if isinstance(found, TensorType) and isinstance(expected, TensorType):
        if found.dtype is not expected.dtype:
            report_dtype(context, operand, found.dtype, expected.dtype)
        else:
            report_shape(context, operand, found, expected)
        return
    expr = operand.expr
    if (
        isinstance(found, TupleType)
        and isinstance(expected, TupleType)
        and isinstance(expr, tree.Tuple)
        and len(found.items) == len(expected.items)
    ):
        for item, item_found, item_expected in zip(
            expr.items, found.items, expected.items, strict=True
        ):
            if item_found != item_expected:
                report_mismatch(context, Operand(item, False), item_found, item_expected)
        return
    _report(context, operand, "P0409", found=found, expected=expected, where="")


def report_exchanged(
    context: Context, operand: Operand, other: tree.Expr, found: Type, expected: Type
) -> None:
    """Report an argument that has changed places with `other`."""
    _report(
        context,
        operand,
        "P0409",
        fixes=(exchange_fix(context, operand.expr, other),),
        found=found,
        expected=expected,
        where=f": it and {subject(context.source, other)} stand in each other's places",
    )


def exchange_fix(context: Context, first: tree.Expr, second: tree.Expr) -> Fix:
    """The fix that lets two arguments change places."""
    source = context.source
    names = f"{subject(source, first)} and {subject(source, second)}"
    left, right = (enclosed(source, expr.span) or expr.span for expr in (first, second))
    edits = [
        Edit(context.place(one), source.slice(two)) for one, two in ((left, right), (right, left))
    ]
    return Fix(f"let {names} change places", tuple(edits))


def report_dtype(
    context: Context, operand: Operand, found: DType, expected: DType, *, certain: bool = True
) -> None:
    """Report a dtype that differs; `certain` says that `expected` is known to be the one meant."""
    fix = cast_fix(context, operand, expected)
    # A mask among numbers is as often meant to select as to be 0 and 1: a person has to say.
    certain = certain and (found.kind != "bool" or expected.kind == "bool")
    _report(
        context,
        operand,
        "P0301",
        fixes=(fix._replace(machine=certain),),
        found=found,
        expected=expected,
    )


def cast_fix(context: Context, operand: Operand, dtype: DType) -> Fix:
    """A cast; for a literal, the literal of that dtype."""
    expr = operand.expr
    literal = isinstance(expr, tree.Literal) or (
        isinstance(expr, tree.Unary) and isinstance(expr.operand, tree.Literal)
    )
    written = context.source.slice(expr.span)
    if literal and dtype.name == "F32" and written.lstrip("- ").isdecimal():
        return context.replace(f"write `{written}.0`", expr.span, f"{written}.0")
    word = "const" if literal else "cast"
    title = f"write it as a literal of {dtype}" if literal else f"cast it to {dtype}"
    return _application_fix(context, operand, title, lambda text: f"{word}[{dtype}] {text}")


def report_shape(
    context: Context, operand: Operand, found: TensorType, expected: TensorType
) -> None:
    """Report a shape that differs from the one needed, the likeliest meaning first.

    A reduction whose axis should have stayed comes before a transpose, a transpose before a
    reshape, and a reshape before a broadcast, since a broadcast is right least often where
    the number of elements is already equal.
    """
    facts = context.facts
    reduced = operand.reduced
    if reduced is not None and reduced.axis > 0:
        kept = reduced.kept.shape
        if same_shape(facts, kept, expected.shape) or broadcasts(facts, kept, expected.shape):
            report_reduced(context, operand, reduced, found, expected.shape)
            return
    perm = permutation(facts, found.shape, expected.shape)
    if perm is not None:
        _report(
            context,
            operand,
            "P0401",
            fixes=(_reordered(context, operand, found, perm),),
            found=found,
            expected=expected,
        )
    elif facts.equal_volume(found.shape, expected.shape):
        neighbours = clean(facts, found.shape, expected.shape)
        _report(
            context,
            operand,
            "P0402",
            notes=(
                ()
                if neighbours
                else ("a `reshape` alone would mix axes that are not neighbours: transpose first",)
            ),
            fixes=(reshape_fix(context, operand, expected.shape),) if neighbours else (),
            found=found,
            expected=expected,
        )
    elif broadcasts(facts, found.shape, expected.shape):
        _report(
            context,
            operand,
            "P0503",
            fixes=(broadcast_fix(context, operand, expected.shape),),
            found=found,
            expected=expected,
        )
    elif _placed(context, operand, found, expected.shape):
        pass
    else:
        _report(
            context,
            operand,
            "P0409",
            found=found,
            expected=expected,
            where=_difference(found.shape, expected.shape, context),
        )


def report_stretched(
    context: Context, operands: Sequence[Operand], blamed: int, found: TensorType, target: Shape
) -> None:
    """Report several operands that PyTorch would stretch to `target`, at the one `blamed`."""
    edits = [edit for operand in operands for edit in broadcast_fix(context, operand, target).edits]
    _report(
        context,
        operands[blamed],
        "P0503",
        fixes=(Fix(f"broadcast them to {context.spelled(target)}", tuple(edits)),),
        found=found,
        expected=TensorType(found.dtype, target),
    )


def report_broadcast(
    context: Context,
    operand: Operand,
    found: TensorType,
    target: Shape,
    source_dim: object,
    target_dim: object,
) -> None:
    """Report a written `broadcast` whose operand does not line up with its target."""
    reduced = operand.reduced
    if reduced is not None and broadcasts(context.facts, reduced.kept.shape, target):
        report_reduced(context, operand, reduced, found, target)
    elif not _placed(context, operand, found, target):
        perm = permutation(context.facts, found.shape, target)
        _report(
            context,
            operand,
            "P0501",
            fixes=(_reordered(context, operand, found, perm),) if perm else (),
            found=found,
            target=shape_text(target),
            source_dim=source_dim,
            target_dim=target_dim,
        )


def _placed(context: Context, operand: Operand, found: TensorType, target: Shape) -> bool:
    """Report a shape whose dims name axes of the target one by one, but not the last ones."""
    axes = placement(context.facts, found.shape, target)
    if axes is None:
        return False
    spread = context.spelled(
        tuple(found.shape[axes.index(axis)] if axis in axes else ONE for axis in range(len(target)))
    )
    unaligned = next(k for k in range(1, len(axes) + 1) if axes[-k] != len(target) - k)
    written = context.spelled(target)
    explicit = operand.argument and _is_broadcast_of(context, operand)
    fix = _application_fix(
        context,
        operand,
        f"give its dims their places: `reshape … {spread}`",
        (
            (lambda text: f"reshape {text} {spread}")
            if explicit
            else (lambda text: f"broadcast (reshape {text} {spread}) {written}")
        ),
    )
    _report(
        context,
        operand,
        "P0501",
        fixes=(fix,),
        found=found,
        target=shape_text(target),
        source_dim=found.shape[-unaligned],
        target_dim=target[-unaligned],
    )
    return True


def _is_broadcast_of(context: Context, operand: Operand) -> bool:
    """Whether the operand already stands in front of a written target shape."""
    rest = context.source.text[operand.expr.span.end :].lstrip(" \t\r\n)")
    return rest.startswith("[")


def report_reduced(
    context: Context, operand: Operand, reduced: Reduced, found: TensorType, target: Shape
) -> None:
    attributes = context.source.slice(Span(reduced.head.end, reduced.written.end))
    keep = context.replace(
        f"keep the axis: `{reduced.keeper}`", reduced.written, f"{reduced.keeper}{attributes}"
    )
    _report(
        context,
        operand,
        "P0504",
        extra=(context.label(reduced.head, f"this dropped axis {reduced.axis}"),),
        fixes=(keep,),
        found=found,
        axis=reduced.axis,
        target=shape_text(target),
    )


def _reordered(context: Context, operand: Operand, found: TensorType, perm: tuple[int, ...]) -> Fix:
    """The transpose that gives the shape which is needed. With two equal dims another one does as
    well, and only the author knows which was meant."""
    shape = found.shape
    alone = all(
        not context.facts.equal(shape[i], shape[j]) for j in range(len(shape)) for i in range(j)
    )
    return transpose_fix(context, operand, perm)._replace(machine=alone)


def transpose_fix(context: Context, operand: Operand, perm: tuple[int, ...]) -> Fix:
    written = f"transpose[perm={list(perm)}]"
    return _application_fix(
        context, operand, f"reorder its axes: `{written}`", lambda text: f"{written} {text}"
    )


def reshape_fix(context: Context, operand: Operand, shape: Shape) -> Fix:
    written = context.spelled(shape)
    return _application_fix(
        context, operand, f"give it the shape {written}", lambda text: f"reshape {text} {written}"
    )


def broadcast_fix(context: Context, operand: Operand, shape: Shape) -> Fix:
    written = context.spelled(shape)
    return _application_fix(
        context, operand, f"broadcast it to {written}", lambda text: f"broadcast {text} {written}"
    )


def _application_fix(
    context: Context, operand: Operand, title: str, build: Callable[[str], str]
) -> Fix:
    edit: Edit = wrap(context.source, operand.expr, build, argument=operand.argument)
    return Fix(title, (edit,))


def _difference(found: Shape, expected: Shape, context: Context) -> str:
    if len(found) != len(expected):
        return f": the ranks {len(found)} and {len(expected)} differ"
    different = [
        axis
        for axis, (a, b) in enumerate(zip(found, expected, strict=True))
        if not context.facts.equal(a, b)
    ]
    if not different:
        return ""
    axis = different[0]
    return f": {found[axis]} == {expected[axis]} (axis {axis}) is not proved"


def _report(
    context: Context,
    operand: Operand,
    code: str,
    *,
    extra: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    fixes: tuple[Fix, ...] = (),
    **facts: object,
) -> None:
    span = operand.expr.span
    found, expected = facts.get("found"), facts.get("expected")
    if isinstance(found, TensorType) and isinstance(expected, TensorType | None):
        # The dtypes agree: the shapes are what the message is about, the label has all.
        facts["found"] = shape_text(found.shape)
        facts["expected"] = None if expected is None else shape_text(expected.shape)
    context.report(
        code,
        span,
        label=f"this is {found}",
        secondary=tuple(label for label in (*operand.labels, *extra) if label.place.span != span),
        notes=notes,
        fixes=fixes,
        subject=subject(context.source, operand.expr),
        **facts,
    )
