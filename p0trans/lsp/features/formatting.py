"""The file in its one layout."""

from __future__ import annotations

from lsprotocol import types as lsp

from p0trans.lsp.document import Document


def formatting(document: Document) -> list[lsp.TextEdit]:
    """The edit that lays the file out; none when it is laid out, or does not parse."""
    if any(placed.piece.parsed.diagnostics for placed in document.pieces):
        return []
    from p0trans.syntax.format import format_source

    text = format_source(document.source)
    return [] if text == document.source.text else [lsp.TextEdit(document.whole, text)]
