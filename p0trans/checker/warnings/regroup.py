"""P1101: a reshape that mixes different axes, where a transpose was meant."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations

from p0trans.checker.shapes import permutation, same_shape
from p0trans.checker.warnings.subject import Subject, listed
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Fix
from p0trans.ir.program import Value
from p0trans.ir.regrouping import Run, clean
from p0trans.ops.table import Facts
from p0trans.types import Shape, shape_text

# Of more axes than this not every order is tried.
_MOST_PERMUTED = 4


def regroup(subject: Subject) -> Iterator[Diagnostic]:
    @cache
    def order(found: Shape, target: Shape, run: Run) -> tuple[int, ...] | None:
        return _order(subject.analysis.facts, found, target, run)

    for value, regrouping in subject.analysis.provenance.regroupings.items():
        if not regrouping.mixed:
            continue
        operand = subject.step(value).node.operands[0]
        found, target = subject.shape_of(operand).shape, subject.shape_of(value).shape
        run = regrouping.mixed[0]
        axes = subject.analysis.provenance.axes(operand)[run.start : run.end]
        yield diagnose(
            "P1101",
            subject.place(subject.step(value).span),
            label=f"from {shape_text(found)} to {shape_text(target)}",
            secondary=subject.axis_labels(factor for axis in axes for factor in axis),
            fixes=_transposed(subject, value, order(found, target, run)),
            found=listed(found[run.start : run.end]),
            target=listed(target[run.target_start : run.target_end]),
        )


def _order(facts: Facts, found: Shape, target: Shape, run: Run) -> tuple[int, ...] | None:
    """The axes of `found` in an order from which the reshape is clean, moving as few as need be."""
    straight = permutation(facts, found, target)
    if straight is not None:
        return straight
    moved = range(run.start, run.end)
    if len(moved) > _MOST_PERMUTED:
        return None
    for some in permutations(moved):
        order = (*range(run.start), *some, *range(run.end, len(found)))
        if clean(facts, tuple(found[axis] for axis in order), target):
            return order
    return None


def _transposed(subject: Subject, value: Value, perm: tuple[int, ...] | None) -> tuple[Fix, ...]:
    """Transpose first, then reshape what is then a clean regrouping.

    Not for a machine: another program comes of it, if most probably the one that was meant.
    """
    application = subject.application(value)
    if application is None or perm is None:
        return ()
    found = subject.shape_of(subject.step(value).node.operands[0]).shape
    transposed = f"transpose[perm={listed(perm)}] {subject.argument_text(application, 0)}"
    if same_shape(
        subject.analysis.facts,
        tuple(found[axis] for axis in perm),
        subject.shape_of(value).shape,
    ):
        title, text = f"write `{transposed}`", transposed
    else:
        title = f"bring the axes together first: `transpose[perm={listed(perm)}]`"
        shape = subject.source.slice(application.arguments[1].span)
        text = f"reshape ({transposed}) {shape}"
    return (subject.replace(title, application.span, text),)
