"""P1113: a shape parameter that no type, constraint or step mentions."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic


def unused_shape_parameter(subject: Subject) -> Iterator[Diagnostic]:
    # No fix: every call writes the shape arguments out.
    for name in subject.written.shape_parameters:
        if name.text not in subject.survey.shape_names and not name.text.startswith("_"):
            yield diagnose(
                "P1113",
                subject.place(name.span),
                label="never mentioned",
                definition=subject.definition.name,
                name=name.text,
            )
