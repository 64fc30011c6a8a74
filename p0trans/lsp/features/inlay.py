"""The type of each `let`, shown behind it."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from p0trans.ir.printer import type_text
from p0trans.lsp.document import Document, Placed
from p0trans.lsp.typing import typed
from p0trans.lsp.workspace import View
from p0trans.syntax import tree
from p0trans.tools.passages import bindings_of


def inlay_hints(view: View, range_: lsp.Range) -> list[lsp.InlayHint]:
    """`F32[B, S, D]` behind the `in` of each `let` without a written type that ends in `range_`.

    Behind it, and not behind the name, so that aligned columns stay aligned.
    """
    document = view.document
    start, end = document.offset(range_.start), document.offset(range_.end)
    hints: list[lsp.InlayHint] = []
    for placed in document.pieces:
        if placed.start > end or placed.end < start:
            continue
        for node in placed.piece.definitions():
            for offset, label in _labels(view, placed, node):
                if start <= offset <= end:
                    hints.append(_hint(document, offset, label))
    return hints


def _labels(view: View, placed: Placed, node: tree.Definition) -> Iterator[tuple[int, str]]:
    names = typed(view, placed, node).names
    for binding in sorted(bindings_of(node.body), key=lambda binding: binding.span.end):
        types = [names[name.span] for name in binding.names if name.span in names]
        if binding.type is None and len(types) == len(binding.names):
            yield placed.span(binding.span).end, ", ".join(type_text(type_) for type_ in types)


def _hint(document: Document, offset: int, label: str) -> lsp.InlayHint:
    return lsp.InlayHint(
        document.position(offset), label, kind=lsp.InlayHintKind.Type, padding_left=True
    )
