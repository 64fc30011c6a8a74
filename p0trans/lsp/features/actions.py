"""Quick fixes: the fixes of the findings at a place."""

from __future__ import annotations

from lsprotocol import types as lsp

from p0trans.diagnostics.model import Fix
from p0trans.lsp.features.diagnostics import shown
from p0trans.lsp.workspace import View


def actions(view: View, range_: lsp.Range) -> list[lsp.CodeAction]:
    """A quick fix for each way to mend a finding that `range_` touches.

    The first of a finding that may be applied unseen is the preferred one.
    """
    start, end = view.document.offset(range_.start), view.document.offset(range_.end)
    found: list[lsp.CodeAction] = []
    for diagnostic in view.checked.diagnostics:
        document, span = view.locate(diagnostic.primary.place)
        if document is not view.document or span.end < start or end < span.start:
            continue
        sure = next((fix for fix in diagnostic.fixes if fix.machine), None)
        for fix in diagnostic.fixes:
            found.append(
                lsp.CodeAction(
                    fix.title,
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[shown(view, diagnostic)],
                    is_preferred=fix is sure,
                    edit=_edit(view, fix),
                )
            )
    return found


def _edit(view: View, fix: Fix) -> lsp.WorkspaceEdit:
    changes: dict[str, list[lsp.TextEdit]] = {}
    for edit in fix.edits:
        document, span = view.locate(edit.place)
        changes.setdefault(document.uri, []).append(lsp.TextEdit(document.range(span), edit.text))
    return lsp.WorkspaceEdit(changes)
