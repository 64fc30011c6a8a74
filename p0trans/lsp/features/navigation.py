"""Where a name is declared, and where it is used."""

from __future__ import annotations

from lsprotocol import types as lsp

from p0trans.lsp.document import Document
from p0trans.lsp.symbols import Symbol, occurrences, resolve
from p0trans.lsp.workspace import View, Workspace


def symbol_at(workspace: Workspace, document: Document, position: lsp.Position) -> Symbol | None:
    """What the name under the cursor stands for."""
    found = document.name_at(document.offset(position))
    return None if found is None else resolve(workspace, document, found)


def definition(workspace: Workspace, view: View, position: lsp.Position) -> lsp.Location | None:
    """Where the name under the cursor is declared, in whatever file."""
    symbol = symbol_at(workspace, view.document, position)
    if symbol is None or symbol.target is None:
        return None
    target = symbol.target
    return lsp.Location(target.document.uri, target.document.range(target.placed.span(target.span)))


def references(
    workspace: Workspace, view: View, position: lsp.Position, *, declaration: bool
) -> list[lsp.Location]:
    """Every place that stands for the same, in the open files and what they import."""
    symbol = symbol_at(workspace, view.document, position)
    if symbol is None:
        return []
    return [
        lsp.Location(document.uri, document.range(found.span))
        for document, found in occurrences(workspace, symbol)
        if declaration or not found.name.declares
    ]


def highlights(
    workspace: Workspace, view: View, position: lsp.Position
) -> list[lsp.DocumentHighlight]:
    """The same in this file."""
    symbol = symbol_at(workspace, view.document, position)
    if symbol is None:
        return []
    return [
        lsp.DocumentHighlight(document.range(found.span))
        for document, found in occurrences(workspace, symbol)
        if document is view.document
    ]
