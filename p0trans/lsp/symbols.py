"""What a name stands for, across files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from p0trans.lsp.document import Declared, Document, Occurrence, Placed, declared_kind
from p0trans.lsp.names import LITERALS, Kind
from p0trans.lsp.workspace import Workspace
from p0trans.ops import CALLABLE
from p0trans.source import Place, Span
from p0trans.syntax import tree


class Target(NamedTuple):
    """Where something is declared: the span of its name in a piece, and the declaration around."""

    document: Document
    placed: Placed
    node: tree.Declaration | None
    span: Span


class Symbol(NamedTuple):
    """What a name stands for. An operation or a dtype has no target."""

    kind: Kind
    text: str
    target: Target | None = None

    @property
    def identity(self) -> tuple[Kind, str, Place | None]:
        """Equal for two names that stand for the same."""
        target = self.target
        place = None if target is None else Place(target.placed.piece.source, target.span)
        return self.kind, self.text, place


def resolve(workspace: Workspace, document: Document, found: Occurrence) -> Symbol | None:
    """What the name `found` stands for; None when there is nothing of that name."""
    name = found.name
    match name.kind:
        case Kind.SHAPE | Kind.LOCAL:
            return _local(document, found)
        case Kind.PARAMETER:
            if name.declared is not None:
                return _local(document, found)
            return _parameter(workspace, document, name.owner, name.text)
        case Kind.DEFINITION | Kind.MODULE | Kind.TOP_LEVEL:
            return _top_level(workspace, document, found)
        case Kind.DTYPE | Kind.ATTRIBUTE:
            return Symbol(name.kind, name.text)
        case Kind.FILE:
            imported = workspace.imported(document, name.text.split("."))
            if imported is None:
                return None
            return Symbol(
                Kind.FILE, name.text, Target(imported, imported.pieces[0], None, Span(0, 0))
            )
        case _:
            return None


def occurrences(workspace: Workspace, symbol: Symbol) -> Iterator[tuple[Document, Occurrence]]:
    """Every name that stands for `symbol` in the open documents and what they import."""
    identity = symbol.identity
    for document in workspace.documents():
        for found in document.names():
            if found.name.text != symbol.text:
                continue
            other = resolve(workspace, document, found)
            if other is not None and other.identity == identity:
                yield document, found


def declaration(
    workspace: Workspace, document: Document, name: str
) -> tuple[Document, Declared] | None:
    """The definition or module that a top-level name of `document` stands for."""
    declared = document.declared.get(name)
    if declared is None or not isinstance(declared.node, tree.Import):
        return None if declared is None else (document, declared)
    imported = workspace.imported(document, [part.text for part in declared.node.module])
    there = None if imported is None else imported.declared.get(name)
    if imported is None or there is None or isinstance(there.node, tree.Import):
        return None
    return imported, there


def definition_of(
    workspace: Workspace, document: Document, name: str
) -> tuple[Document, Placed, tree.Definition] | None:
    """The definition that a top-level name stands for, or that the module of that name wraps."""
    found = declaration(workspace, document, name)
    if found is None:
        return None
    there, declared = found
    if isinstance(declared.node, tree.Module):
        found = declaration(workspace, there, declared.node.definition.text)
        if found is None:
            return None
        there, declared = found
    if not isinstance(declared.node, tree.Definition):
        return None
    return there, declared.placed, declared.node


def _local(document: Document, found: Occurrence) -> Symbol | None:
    name = found.name
    if name.declared is None:
        return None
    node = next(
        (
            n
            for n in found.placed.piece.definitions()
            if n.span.start <= name.span.start < n.span.end
        ),
        None,
    )
    return Symbol(name.kind, name.text, Target(document, found.placed, node, name.declared))


def _parameter(workspace: Workspace, document: Document, owner: str, text: str) -> Symbol | None:
    """The parameter that an item of a module speaks of."""
    found = definition_of(workspace, document, owner)
    if found is None:
        return None
    there, placed, node = found
    for parameter in node.parameters:
        if parameter.name.text == text:
            target = Target(there, placed, node, parameter.name.span)
            return Symbol(Kind.PARAMETER, text, target)
    return None


def _top_level(workspace: Workspace, document: Document, found: Occurrence) -> Symbol | None:
    text = found.name.text
    if text in CALLABLE or text in LITERALS:
        # A definition hides an operation from where it is declared on.
        declared = document.declared.get(text)
        if declared is None or declared.placed.span(declared.node.span).start > found.span.start:
            return Symbol(Kind.OPERATION, text)
    there = declaration(workspace, document, text)
    if there is None:
        return None
    target, declared = there
    assert not isinstance(declared.node, tree.Import), "an import leads to a declaration"
    span = declared.node.name.span
    return Symbol(
        declared_kind(declared.node), text, Target(target, declared.placed, declared.node, span)
    )
