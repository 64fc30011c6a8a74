"""Programs in, findings out."""

from __future__ import annotations

from p0trans.diagnostics.apply import apply_fixes
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.driver import check_sources
from p0trans.source import Source


def findings(text: str) -> tuple[Diagnostic, ...]:
    """What is found in a program that must be well typed, notes included."""
    found = check_sources([Source("test.p0", text)]).diagnostics
    assert not [d.message for d in found if d.severity is Severity.ERROR]
    return found


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in findings(text)]


def finding(text: str, code: str) -> Diagnostic:
    """The one finding of a program."""
    (found,) = findings(text)
    assert found.code == code
    return found


def labels(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The text under each label, and what it says; the primary first."""
    every = (diagnostic.primary, *diagnostic.secondary)
    return [(label.place.text, label.text) for label in every]


def fixed(text: str) -> str:
    """`text` with all fixes that a machine may apply."""
    source = Source("test.p0", text)
    return apply_fixes(source, check_sources([source]).diagnostics)[0]


def with_fix(text: str, diagnostic: Diagnostic, index: int = 0) -> str:
    """`text` with one fix applied, whether a machine may or not."""
    for edit in sorted(diagnostic.fixes[index].edits, key=lambda e: e.place.span, reverse=True):
        span = edit.place.span
        text = text[: span.start] + edit.text + text[span.end :]
    return text
