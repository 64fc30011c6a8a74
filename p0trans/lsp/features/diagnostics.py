"""What checking has found, as the editor shows it."""

from __future__ import annotations

from lsprotocol import types as lsp

from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.lsp.workspace import View

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Hint,
}


def diagnostics(view: View) -> dict[str, list[lsp.Diagnostic]]:
    """The findings of a check by the address of the file, the files without any included."""
    found: dict[str, list[lsp.Diagnostic]] = {d.uri: [] for d in view.documents.values()}
    for diagnostic in view.checked.diagnostics:
        document, _ = view.locate(diagnostic.primary.place)
        found[document.uri].append(shown(view, diagnostic))
    return found


def shown(view: View, diagnostic: Diagnostic) -> lsp.Diagnostic:
    document, span = view.locate(diagnostic.primary.place)
    notes = [f"note: {note}" for note in diagnostic.notes]
    related = [
        lsp.DiagnosticRelatedInformation(view.location(label.place), label.text or "here")
        for label in diagnostic.secondary
    ]
    return lsp.Diagnostic(
        document.range(span),
        "\n".join((diagnostic.message, *notes)),
        severity=_SEVERITIES[diagnostic.severity],
        code=diagnostic.code,
        source="p0trans",
        related_information=related or None,
    )
