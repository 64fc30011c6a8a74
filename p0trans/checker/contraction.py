"""Operands whose contraction is rejected: inner dims, ranks, batch dims."""

from __future__ import annotations

from p0trans.checker.case import Case, factor_text
from p0trans.checker.edits import short_text, subject
from p0trans.checker.mismatch import (
    broadcast_fix,
    exchange_fix,
    report_mismatch,
    transpose_fix,
)
from p0trans.checker.shapes import same_shape
from p0trans.diagnostics.model import Edit, Fix
from p0trans.ops.table import Rejection
from p0trans.shapes.dim import product
from p0trans.syntax import tree
from p0trans.types import TensorType, shape_text


def _swapped(type_: TensorType) -> tuple[TensorType, tuple[int, ...]]:
    perm = (*range(type_.rank - 2), type_.rank - 1, type_.rank - 2)
    return TensorType(type_.dtype, tuple(type_.shape[axis] for axis in perm)), perm


def report_inner(case: Case) -> None:
    """Report contracted dims that differ; a transpose of one operand may make them equal."""
    fitting = [k for k in (1, 0) if case.accepts(k, _swapped(case.types[k])[0])]
    if case.hint is not None and len(fitting) == 2:
        shapes = {k: case.result_with(k, _swapped(case.types[k])[0]) for k in fitting}
        wanted = case.hint.shape
        as_wanted = [
            k
            for k, result in shapes.items()
            if result is not None and same_shape(case.body.facts, result.shape, wanted)
        ]
        fitting = as_wanted or fitting
    blamed = fitting[0] if fitting else 1
    operand = case.operand(blamed)
    name = subject(case.context.source, operand.expr)
    facts = case.rejection.facts
    case.context.report(
        "P0403",
        operand.expr.span,
        label=f"this is {case.types[blamed]}",
        secondary=operand.labels,
        fixes=tuple(
            transpose_fix(case.context, case.operand(k), _swapped(case.types[k])[1])
            for k in fitting
        )
        or _exchanged(case),
        inner_left=facts["inner_left"],
        inner_right=facts["inner_right"],
        left=shape_text(case.types[0].shape),
        right=shape_text(case.types[1].shape),
        transposed=f"; transposed, {name} would fit" if fitting else "",
    )


def _exchanged(case: Case) -> tuple[Fix, ...]:
    """The two operands in each other's places, where they fit so."""
    outcome = case.operation.infer(case.types[::-1], case.attributes, case.body.facts)
    if isinstance(outcome, Rejection):
        return ()
    wanted = case.hint is not None and same_shape(case.body.facts, case.hint.shape, outcome.shape)
    first, second = (part.expr for part in case.parts)
    return (exchange_fix(case.context, first, second)._replace(machine=wanted),)


def report_ranks(case: Case) -> None:
    """Report ranks that are none of the forms: the honest ways to reach one of them."""
    left, right = case.types
    context = case.context
    fixes: tuple[Fix, ...] = ()
    notes: tuple[str, ...] = ()
    blamed = case.blamed
    if left.rank == 3 and right.rank == 2:
        blamed = 1
        stretched = TensorType(right.dtype, (left.shape[0], *right.shape))
        if case.accepts(1, stretched):
            fixes = (
                broadcast_fix(context, case.operand(1), stretched.shape),
                _flattened_matmul(case, left, right),
            )
    elif left.rank == 2 and right.rank == 3:
        blamed = 0
        stretched = TensorType(left.dtype, (right.shape[0], *left.shape))
        if case.accepts(0, stretched):
            fixes = (broadcast_fix(context, case.operand(0), stretched.shape),)
    elif left.rank == right.rank and left.rank > 3:
        batch = product(left.shape[:-2])
        name = context.fresh_shape_name(batch)
        text = " * ".join(map(factor_text, left.shape[:-2]))
        notes = (
            f"flatten the batch dims first: `reshape … [{name}, …]` with `assume {name} == {text}`",
        )
    operand = case.operand(blamed)
    context.report(
        "P0404",
        operand.expr.span,
        label=f"this is {case.types[blamed]}",
        secondary=operand.labels,
        notes=notes,
        fixes=fixes,
        left=shape_text(left.shape),
        right=shape_text(right.shape),
    )


def _flattened_matmul(case: Case, left: TensorType, right: TensorType) -> Fix:
    """The other honest route: one matrix of all rows. It adds a shape parameter, which callers
    must then pass, so it is not for a machine."""
    context = case.context
    rows, columns, inner = left.shape[:2], right.shape[1], left.shape[2]
    name = context.fresh_shape_name(product(rows))
    texts = [short_text(context.source, part.expr) for part in case.parts]
    atoms = [
        text if isinstance(part.expr, tree.Name) else f"({text})"
        for text, part in zip(texts, case.parts, strict=True)
    ]
    written = (
        f"reshape (matmul (reshape {atoms[0]} [{name}, {inner}]) {atoms[1]}) "
        f"{context.spelled((*rows, columns))}"
    )
    equation = f"{name} == {' * '.join(factor_text(dim) for dim in rows)}"
    edits = (
        context.shape_parameter_edit(name),
        context.clause_edit("assume", equation),
        Edit(context.place(case.expr.span), written),
    )
    return Fix(f"flatten the rows: `assume {equation}` and `{written}`", edits, machine=False)


def report_batch(case: Case) -> None:
    """Report batch dims that differ; one that is the literal 1 can be broadcast."""
    left, right = case.types
    for index, other in ((1, left), (0, right)):
        type_ = case.types[index]
        if type_.shape[0].as_integer() == 1:
            wanted = TensorType(type_.dtype, (other.shape[0], *type_.shape[1:]))
            report_mismatch(case.context, case.operand(index), type_, wanted)
            return
    operand = case.operand(1)
    case.context.report(
        "P0405",
        operand.expr.span,
        label=f"this is {right}",
        secondary=operand.labels,
        batch_left=left.shape[0],
        batch_right=right.shape[0],
        left=shape_text(left.shape),
        right=shape_text(right.shape),
    )
