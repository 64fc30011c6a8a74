"""P1112: a parameter that a definition never uses."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic


def unused_parameter(subject: Subject) -> Iterator[Diagnostic]:
    # No fix: the callers pass it, and which of the two is wrong is theirs to say.
    for local in subject.survey.unused:
        if local.binding is None and not local.name.text.startswith("_"):
            yield diagnose(
                "P1112",
                subject.place(local.name.span),
                label="never used",
                definition=subject.definition.name,
                name=local.name.text,
            )
