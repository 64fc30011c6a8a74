"""P1103: a softmax over queries where the next matmul sums over keys."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.softmax import Softmax, Weights
from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix
from p0trans.ir.program import Value


def softmax_axis(subject: Subject) -> Iterator[Diagnostic]:
    if not subject.analysis.weights:
        return
    for value, node in subject.applied():
        if node.operation != "matmul":
            continue
        for position, operand in enumerate(node.operands):
            weights = subject.analysis.weights.get(operand)
            shape = subject.shape_of(operand).shape
            contracted = len(shape) - 1 if position == 0 else len(shape) - 2
            if weights is None or weights.axis == contracted:
                continue
            if shape[weights.axis].as_integer() == 1:
                continue
            softmax = weights.softmax
            summed = f"sums over axis {softmax.axis}"
            yield diagnose(
                "P1103",
                subject.place(subject.step(value).span),
                label=f"sums over axis {contracted} of {subject.name(operand)}",
                secondary=(subject.label(subject.span(softmax.total), summed),),
                fixes=_other_axis(subject, weights, contracted),
                contracted=contracted,
                normalized=weights.axis,
                what=subject.name(operand),
            )


def _other_axis(subject: Subject, weights: Weights, contracted: int) -> tuple[Fix, ...]:
    """The softmax over the contracted axis, where its steps are at hand and its axes unmoved.

    Not for a machine: another program comes of it, if most probably the one that was meant.
    """
    softmax = weights.softmax
    if weights.moved:
        return ()
    edits: list[Edit] = []
    for value in _reductions(softmax):
        application = subject.application(value)
        if application is None or application.head.text != "reduce_keep":
            return ()
        axis = next(a for a in application.attributes or () if a.name and a.name.text == "axis")
        edits.append(Edit(subject.place(axis.span), f"axis={contracted}"))
    edits.sort(key=lambda edit: edit.place.span)
    title = f"take the softmax over the axis that is summed over: `axis={contracted}`"
    return (Fix(title, tuple(edits), machine=False),)


def _reductions(softmax: Softmax) -> tuple[Value, ...]:
    if softmax.maximum is None:
        return (softmax.total,)
    return (softmax.maximum, softmax.total)
