"""The declarations of a file, with what stands in them."""

from __future__ import annotations

from lsprotocol import types as lsp

from p0trans.lsp.document import Document, Placed
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.tools.passages import bindings_of


def outline(document: Document) -> list[lsp.DocumentSymbol]:
    """Definitions with their `let`s and modules with their items; broken ones by name alone."""
    found: list[lsp.DocumentSymbol] = []
    for placed in document.pieces:
        for node in placed.piece.declarations:
            if isinstance(node, tree.Definition):
                found.append(_definition(document, placed, node))
            elif isinstance(node, tree.Module):
                found.append(_module(document, placed, node))
        for name in placed.piece.parsed.broken:
            found.append(
                _symbol(document, placed, name, name.span, lsp.SymbolKind.Function, "broken")
            )
    return found


def _definition(document: Document, placed: Placed, node: tree.Definition) -> lsp.DocumentSymbol:
    detail = placed.piece.source.slice(node.result.span)
    symbol = _symbol(document, placed, node.name, node.span, lsp.SymbolKind.Function, detail)
    symbol.children = [
        _symbol(document, placed, name, binding.span, lsp.SymbolKind.Variable)
        for binding in sorted(bindings_of(node.body), key=lambda binding: binding.span)
        for name in binding.names
    ]
    return symbol


def _module(document: Document, placed: Placed, node: tree.Module) -> lsp.DocumentSymbol:
    symbol = _symbol(
        document, placed, node.name, node.span, lsp.SymbolKind.Class, node.definition.text
    )
    symbol.children = [
        _symbol(
            document,
            placed,
            item.name,
            item.span,
            lsp.SymbolKind.Field,
            item.kind if isinstance(item, tree.State) else item.module.text,
        )
        for item in node.items
    ]
    return symbol


def _symbol(
    document: Document,
    placed: Placed,
    name: tree.Identifier,
    span: Span,
    kind: lsp.SymbolKind,
    detail: str | None = None,
) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        name.text,
        kind,
        document.range(placed.span(span)),
        document.range(placed.span(name.span)),
        detail=detail,
    )
