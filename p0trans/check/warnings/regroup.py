"""P1101: a reshape that mixes different axes, where a transpose was meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

from p0trans.check.warnings.subject import Subject, listed
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Fix
from p0trans.ir.program import Value
from p0trans.ir.provenance import Run, clean
from p0trans.types import Shape, shape_text

# More axes than this are not permuted to find the one order that was meant.
_MOST_PERMUTED = 5


def regroup(subject: Subject) -> Iterator[Diagnostic]:
    for value, regrouping in subject.analysis.provenance.regroupings.items():
        if not regrouping.mixed:
            continue
        node = subject.step(value).node
        operand = node.operands[0]
        found, target = subject.shape_of(operand).shape, subject.shape_of(value).shape
        run = regrouping.mixed[0]
        axes = subject.analysis.provenance.axes(operand)[run.start : run.end]
        yield diagnose(
            "P1101",
            subject.place(subject.step(value).span),
            label=f"from {shape_text(found)} to {shape_text(target)}",
            secondary=subject.axis_labels(factor for axis in axes for factor in axis),
            fixes=_transposed(subject, value, found, target, run),
            found=listed(found[run.start : run.end]),
            target=listed(target[run.target_start : run.target_end]),
        )


def _transposed(
    subject: Subject, value: Value, found: Shape, target: Shape, run: Run
) -> tuple[Fix, ...]:
    """Transpose first, then reshape what is then a clean regrouping.

    Not for a machine: another program comes of it, if most probably the one that was meant.
    """
    application = subject.application(value)
    moved = range(run.start, run.end)
    if application is None or len(moved) > _MOST_PERMUTED:
        return ()
    for order in permutations(moved):
        perm = (*range(run.start), *order, *range(run.end, len(found)))
        arranged = tuple(found[axis] for axis in perm)
        if not clean(subject.analysis.facts, arranged, target):
            continue
        transposed = f"transpose[perm={listed(perm)}] {subject.argument_text(application, 0)}"
        if arranged == target:
            title, text = f"write `{transposed}`", transposed
        else:
            title = f"bring the axes together first: `transpose[perm={listed(perm)}]`"
            shape = subject.source.slice(application.arguments[1].span)
            text = f"reshape ({transposed}) {shape}"
        return (subject.replace(title, application.span, text),)
    return ()
