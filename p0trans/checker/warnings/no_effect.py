"""P1116: a cast, broadcast, reshape or transpose that gives back what it is given."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Apply

_PURE_FORM = ("cast", "broadcast", "reshape", "transpose")


def no_effect(subject: Subject) -> Iterator[Diagnostic]:
    for value, node in subject.applied():
        application = subject.application(value)
        if node.operation not in _PURE_FORM or application is None:
            continue
        operand = node.operands[0]
        type_ = subject.shape_of(operand)
        # Dims that are only provably equal are another way to say the shape: that tells something.
        if subject.shape_of(value) != type_ or not _keeps_axes(node):
            continue
        text = subject.argument_text(application, 0)
        yield diagnose(
            "P1116",
            subject.place(application.span),
            label="the same as its operand",
            secondary=(
                subject.label(subject.span(operand), f"{subject.name(operand)} is {type_}"),
            ),
            fixes=(subject.replace(f"write `{text}`", application.span, text, machine=True),),
            operation=node.operation,
            reason=f"{subject.name(operand)} is {type_} already",
        )


def _keeps_axes(node: Apply) -> bool:
    perm = node.attributes.get("perm")
    return not isinstance(perm, tuple) or perm == tuple(range(len(perm)))
