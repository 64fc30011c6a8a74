"""A new name for what the cursor is on, everywhere it is spoken of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from lsprotocol import types as lsp

from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.lsp.document import Document, Occurrence
from p0trans.lsp.features.navigation import symbol_at
from p0trans.lsp.memo import mentioned
from p0trans.lsp.names import Kind
from p0trans.lsp.symbols import Symbol, occurrences, resolve
from p0trans.lsp.workspace import View, Workspace
from p0trans.source import Source
from p0trans.syntax.grammar import grammar
from p0trans.syntax.surroundings import NAMES

_RENAMED = frozenset({Kind.SHAPE, Kind.PARAMETER, Kind.LOCAL, Kind.DEFINITION, Kind.MODULE})


class RenameError(Exception):
    """Why something cannot get a name; the message is for the person who asked."""


def prepare_rename(workspace: Workspace, view: View, position: lsp.Position) -> lsp.Range | None:
    """The name under the cursor, if it can get another one."""
    found = view.document.name_at(view.document.offset(position))
    symbol = symbol_at(workspace, view.document, position)
    if found is None or symbol is None or symbol.kind not in _RENAMED:
        return None
    return None if _in_library(workspace, symbol) else view.document.range(found.span)


def rename(workspace: Workspace, view: View, position: lsp.Position, new: str) -> lsp.WorkspaceEdit:
    """The edits that call the thing under the cursor `new`, in the open files.

    Raises RenameError when `new` is no name, when the thing is not the user's to name, and when
    a name would come to stand for something else.
    """
    if [token.type in NAMES for token in grammar().scanner.scan(new)] != [True] or (
        new.strip() != new
    ):
        raise RenameError(f"`{new}` is not a name")
    symbol = symbol_at(workspace, view.document, position)
    if symbol is None or symbol.kind not in _RENAMED:
        raise RenameError("there is nothing here that can be renamed")
    if _in_library(workspace, symbol):
        raise RenameError(f"`{symbol.text}` belongs to the standard library")
    places: dict[str, list[Occurrence]] = {}
    documents: dict[str, Document] = {}
    for document, found in occurrences(workspace, symbol):
        places.setdefault(document.uri, []).append(found)
        documents[document.uri] = document
    _refuse_unseen(workspace, documents.values(), symbol)
    if new != symbol.text:
        _refuse_other_meaning(workspace, documents, places, symbol, new)
    return lsp.WorkspaceEdit(
        {
            uri: [lsp.TextEdit(documents[uri].range(found.span), new) for found in founds]
            for uri, founds in places.items()
        }
    )


def _in_library(workspace: Workspace, symbol: Symbol) -> bool:
    return symbol.target is not None and workspace.is_library(symbol.target.document)


def _refuse_unseen(workspace: Workspace, documents: Iterable[Document], symbol: Symbol) -> None:
    """Refuse where a use may be hidden: in a file that is not open, in text that does not parse."""
    for document in documents:
        name = document.source.name
        if not workspace.is_open(document):
            raise RenameError(f"`{symbol.text}` also stands in {name}: open it first")
        for placed in document.pieces:
            piece = placed.piece
            if piece.parsed.diagnostics and symbol.text in mentioned(piece.source):
                line = document.position(placed.start).line + 1
                raise RenameError(
                    f"what follows line {line} of {name} has a syntax error and speaks of"
                    f" `{symbol.text}`: mend it first"
                )


def _refuse_other_meaning(
    workspace: Workspace,
    documents: dict[str, Document],
    places: dict[str, list[Occurrence]],
    symbol: Symbol,
    new: str,
) -> None:
    """Rename in a copy of the workspace; refuse unless each name there stands for what it did."""
    copy = workspace.copy()
    for uri, founds in places.items():
        copy.put(uri, _renamed(documents[uri].source, founds, new))
    becomes: dict[object, object] = {}
    came_from: dict[object, object] = {}
    for view in workspace.views():
        after = copy.view(view.document.uri)
        assert after is not None, "a copy has the same files open"
        names = zip(view.document.names(), after.document.names(), strict=False)
        for old, renamed in names:
            was = _meaning(resolve(workspace, view.document, old))
            now = _meaning(resolve(copy, after.document, renamed))
            changed = (was is None) != (now is None) or becomes.setdefault(was, now) != now
            if changed or came_from.setdefault(now, was) != was:
                line = view.document.position(old.span.start).line + 1
                raise RenameError(
                    f"`{new}` would be taken for something else in line {line} of"
                    f" {view.document.source.name}"
                )
        _refuse_new_error(view, after, new)


def _meaning(symbol: Symbol | None) -> object:
    return None if symbol is None else symbol.identity


def _refuse_new_error(before: View, after: View, new: str) -> None:
    """The rest is for the checker to say: a name given twice, for one."""
    old = Counter(diagnostic.code for diagnostic in _errors(before))
    for diagnostic in _errors(after):
        old[diagnostic.code] -= 1
        if old[diagnostic.code] < 0:
            raise RenameError(f"`{new}` would be an error: {diagnostic.message}")


def _errors(view: View) -> Sequence[Diagnostic]:
    return [d for d in view.checked.diagnostics if d.severity is Severity.ERROR]


def _renamed(source: Source, founds: Sequence[Occurrence], new: str) -> str:
    text = source.text
    for found in sorted(founds, key=lambda found: found.span, reverse=True):
        text = text[: found.span.start] + new + text[found.span.end :]
    return text
