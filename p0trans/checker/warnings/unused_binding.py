"""P1111: a `let` whose name nothing uses."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Fix
from p0trans.source import Span
from p0trans.syntax import tree


def unused_binding(subject: Subject) -> Iterator[Diagnostic]:
    for local in subject.survey.unused:
        if local.binding is None or local.name.text.startswith("_"):
            continue
        yield diagnose(
            "P1111",
            subject.place(local.name.span),
            label="never used",
            fixes=(_fix(subject, local.name, local.binding),),
            name=local.name.text,
        )


def _fix(subject: Subject, name: tree.Identifier, binding: tree.Binding) -> Fix:
    """Leave it out: an expression has no effect but its value."""
    if len(binding.names) > 1:
        return subject.replace("write `_` for it", name.span, "_", machine=True)
    end = binding.span.end
    text = subject.source.text
    while end < len(text) and text[end].isspace():
        end += 1
    return subject.replace(
        f"leave out the `let` of `{name.text}`", Span(binding.span.start, end), "", machine=True
    )
