"""P1104: a softmax or a mean over a literal 1, most often one that a reduction left there."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.steps import origin
from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Label
from p0trans.ir.program import Apply, Value


def single_element(subject: Subject) -> Iterator[Diagnostic]:
    for softmax in subject.analysis.softmaxes:
        if softmax.total == softmax.value and softmax.logits == softmax.value:
            continue
        yield from _found(
            subject, softmax.value, softmax.logits, softmax.axis, "a softmax", "is 1 everywhere"
        )
    for value, node in subject.applied():
        if node.attributes.get("kind") == "mean" and isinstance(node.attributes["axis"], int):
            axis = node.attributes["axis"]
            yield from _found(subject, value, node.operands[0], axis, "a mean", "changes nothing")


def _found(
    subject: Subject, value: Value, operand: Value, axis: int, what: str, effect: str
) -> Iterator[Diagnostic]:
    type_ = subject.shape_of(operand)
    if type_.shape[axis].as_integer() != 1:
        return
    yield diagnose(
        "P1104",
        subject.place(subject.step(value).span),
        label=f"axis {axis} is the literal 1",
        secondary=_where_from(subject, operand, axis),
        what=what,
        axis=axis,
        type=type_,
        effect=effect,
    )


def _where_from(subject: Subject, operand: Value, axis: int) -> tuple[Label, ...]:
    """The reduction that left the 1, or the value that has it."""
    behind = origin(subject.definition, operand, ("cast",))
    step = subject.definition.step_of(behind)
    if (
        step is not None
        and isinstance(step.node, Apply)
        and step.node.operation == "reduce_keep"
        and step.node.attributes["axis"] == axis
    ):
        return (subject.label(step.span, f"axis {axis} was reduced here"),)
    text = f"{subject.name(behind)} is {subject.shape_of(behind)}"
    return (subject.label(subject.span(behind), text),)
