"""Short ways to make sources, places and findings."""

from __future__ import annotations

from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label, Severity
from p0trans.source import Place, Source, Span


def at(source: Source, text: str, occurrence: int = 0) -> Place:
    """Where `text` stands in `source`, the given occurrence of it, counted from 0."""
    start = -1
    for _ in range(occurrence + 1):
        start = source.text.index(text, start + 1)
    return Place(source, Span(start, start + len(text)))


def finding(
    place: Place,
    *secondary: Label,
    label: str = "",
    message: str = "shapes differ",
    severity: Severity = Severity.ERROR,
    code: str = "P0401",
    notes: tuple[str, ...] = (),
    fixes: tuple[Fix, ...] = (),
) -> Diagnostic:
    return Diagnostic(
        code, "order", severity, message, Label(place, label), secondary, notes, fixes
    )


def fix(*edits: tuple[Place, str], title: str = "mend it", machine: bool = True) -> Fix:
    return Fix(title, tuple(Edit(place, text) for place, text in edits), machine)
