"""What could be written at the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp

from p0trans.checker.modules import INITIALIZERS
from p0trans.dtypes import DTYPES
from p0trans.lsp.cursor import Cursor, Place, cursor_at
from p0trans.lsp.document import Declared, Placed
from p0trans.lsp.names import LITERALS
from p0trans.lsp.symbols import declaration, definition_of
from p0trans.lsp.typing import typed
from p0trans.lsp.workspace import View, Workspace
from p0trans.ops import CALLABLE
from p0trans.ops.table import AttributeKind, Operation
from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.grammar import grammar
from p0trans.syntax.surroundings import NAMES
from p0trans.syntax.tokens import Token

_Kind = lsp.CompletionItemKind
Items = Iterator[lsp.CompletionItem]


def completion(
    workspace: Workspace, view: View, position: lsp.Position
) -> list[lsp.CompletionItem]:
    """Names in scope, operations, dtypes, files and words of the grammar, the nearest first."""
    document = view.document
    offset = document.offset(position)
    placed = document.placed_at(offset)
    source = placed.piece.source
    if placed.start and not source.text[: offset - placed.start].strip():
        # Behind a declaration, what is typed may as well go on with it.
        before = document.placed_at(placed.start - 1)
        text = before.piece.source.text + source.text
        placed, source = before, Source(source.name, text, source.path)
    cursor = cursor_at(source, offset - placed.start)
    if cursor is None:
        return []
    items = list(_Completion(workspace, view, placed, cursor).items())
    for order, item in enumerate(items):
        item.sort_text = f"{order:04}"
    return items


class _Completion:
    def __init__(self, workspace: Workspace, view: View, placed: Placed, cursor: Cursor) -> None:
        self.workspace = workspace
        self.view = view
        self.document = view.document
        self.placed = placed
        self.cursor = cursor

    def items(self) -> Items:
        cursor = self.cursor
        if not cursor.expected or cursor.expected & NAMES:
            match cursor.place:
                case Place.VALUE:
                    yield from self._values()
                case Place.DTYPE:
                    yield from _dtypes()
                case Place.DIM:
                    yield from self._shapes()
                case Place.ATTRIBUTE:
                    yield from self._attributes()
                case Place.FILE:
                    yield from self._files()
                case Place.IMPORTED:
                    yield from self._imported()
                case Place.WRAPPED:
                    yield from self._declared(tree.Definition)
                case Place.CHILD:
                    yield from self._declared(tree.Module)
                case Place.ITEM:
                    yield from self._parameters(_wrapped(cursor.before))
                case Place.CHILD_PARAMETER:
                    yield from self._parameters(cursor.head)
                case Place.INITIALIZER:
                    yield from _initializers()
                case Place.NEW | Place.TYPE | Place.DECLARATION:
                    pass
        yield from self._words()

    def _words(self) -> Items:
        """The words of the grammar that may come next, where a name cannot be one of them."""
        expected = self.cursor.expected
        for terminal in sorted(expected):
            word = grammar().words.get(terminal, "")
            if word.isidentifier() and not (terminal in NAMES and "NAME" in expected):
                yield lsp.CompletionItem(word, kind=_Kind.Keyword)

    # --- definitions --------------------------------------------------------------------

    def _values(self) -> Items:
        types = self._types()
        seen: set[str] = set()
        for tokens, kind in (
            (reversed(self.cursor.locals), "local"),
            (self.cursor.parameters, "parameter"),
        ):
            for token in tokens:
                if token.text not in seen:
                    seen.add(token.text)
                    yield lsp.CompletionItem(
                        token.text, kind=_Kind.Variable, detail=types.get(token.span, kind)
                    )
        for item in self._declared(tree.Definition):
            if item.label not in seen:
                seen.add(item.label)
                yield item
        for operation in (*CALLABLE.values(), *LITERALS.values()):
            if operation.name not in seen:
                yield _item(operation.name, _Kind.Function, operation.form, operation.doc)

    def _types(self) -> dict[Span, str]:
        return {
            span: str(type_)
            for node in self.placed.piece.definitions()
            for span, type_ in typed(self.view, self.placed, node).names.items()
        }

    def _shapes(self) -> Items:
        for token in self.cursor.shapes:
            yield lsp.CompletionItem(token.text, kind=_Kind.TypeParameter, detail="shape variable")

    def _attributes(self) -> Items:
        operation = CALLABLE.get(self.cursor.head) or LITERALS.get(self.cursor.head)
        if operation is None or self.cursor.head in self.document.declared:
            yield from self._shapes()
            return
        yield from self._attributes_of(operation)

    def _attributes_of(self, operation: Operation) -> Items:
        given = self.cursor.attribute
        for spec in operation.attributes:
            if spec.name == given or (spec.positional and not given):
                if spec.kind is AttributeKind.DTYPE:
                    yield from _dtypes()
                elif spec.kind is AttributeKind.DIM:
                    yield from self._shapes()
                for choice in spec.choices:
                    yield lsp.CompletionItem(choice, kind=_Kind.EnumMember, detail=operation.form)
            elif not spec.positional and not given:
                yield lsp.CompletionItem(
                    f"{spec.name}=", kind=_Kind.Property, detail=operation.form
                )

    # --- files and modules --------------------------------------------------------------

    def _files(self) -> Items:
        path = self.cursor.before[1:]
        start = path[0].span.start if path else self.cursor.word.start
        replaced = self.document.range(self.placed.span(Span(start, self.cursor.word.end)))
        for module in self.workspace.modules(self.document):
            yield lsp.CompletionItem(
                module, kind=_Kind.Module, text_edit=lsp.TextEdit(replaced, module)
            )

    def _imported(self) -> Items:
        kinds = [token.type for token in self.cursor.before]
        end = kinds.index("IMPORT")
        path = [token.text for token in self.cursor.before[1:end] if token.type in NAMES]
        taken = {token.text for token in self.cursor.before[end + 1 :]}
        there = self.workspace.find(self.document, path) if path else None
        for name, declared in ({} if there is None else there.declared).items():
            if not isinstance(declared.node, tree.Import) and name not in taken:
                yield _declaration(name, declared)

    def _declared(self, kind: type[tree.Definition] | type[tree.Module]) -> Items:
        """Definitions or modules that are declared above, the nearest first."""
        here = self.placed.start + self.cursor.word.start
        for name, declared in reversed(self.document.declared.items()):
            if declared.placed.span(declared.node.span).end > here:
                continue
            found = declaration(self.workspace, self.document, name)
            if found is not None and isinstance(found[1].node, kind):
                yield _declaration(name, found[1])

    def _parameters(self, name: str) -> Items:
        found = definition_of(self.workspace, self.document, name)
        if found is None:
            return
        _, placed, node = found
        for parameter in node.parameters:
            detail = placed.piece.source.slice(parameter.type.span)
            yield lsp.CompletionItem(parameter.name.text, kind=_Kind.Field, detail=detail)


def _wrapped(before: Sequence[Token]) -> str:
    """The definition of `module NAME = DEFINITION with …`."""
    return before[3].text if len(before) > 3 else ""


def _declaration(name: str, declared: Declared) -> lsp.CompletionItem:
    node = declared.node
    if isinstance(node, tree.Definition):
        shapes = ", ".join(shape.text for shape in node.shape_parameters)
        head = f"{name}[{shapes}]" if shapes else name
        form = " ".join((head, *(parameter.name.text for parameter in node.parameters)))
        return _item(name, _Kind.Function, form, node.doc)
    assert isinstance(node, tree.Module), "an import is followed to what it imports"
    return _item(name, _Kind.Class, f"module of {node.definition.text}", node.doc)


def _item(
    label: str, kind: lsp.CompletionItemKind, detail: str, doc: str | None
) -> lsp.CompletionItem:
    content = None if doc is None else lsp.MarkupContent(lsp.MarkupKind.Markdown, doc)
    return lsp.CompletionItem(label, kind=kind, detail=detail, documentation=content)


def _dtypes() -> Items:
    for dtype in DTYPES.values():
        yield lsp.CompletionItem(dtype.name, kind=_Kind.Struct, detail=f"torch.{dtype.torch}")


def _initializers() -> Items:
    for name, rule in INITIALIZERS.items():
        detail = f"{name}({', '.join(rule.arguments)})" if rule.arguments else name
        yield lsp.CompletionItem(name, kind=_Kind.Function, detail=detail)
