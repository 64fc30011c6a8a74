"""What is to be said of the thing under the cursor."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types as lsp

from p0trans.dtypes import DTYPES
from p0trans.ir.printer import binding_text
from p0trans.lsp.document import Document, Occurrence, Placed
from p0trans.lsp.names import LITERALS, Kind
from p0trans.lsp.symbols import Symbol, Target, resolve
from p0trans.lsp.typing import typed
from p0trans.lsp.workspace import View, Workspace
from p0trans.ops import CALLABLE, INFIX, PREFIX
from p0trans.ops.table import Operation
from p0trans.shapes.solve import Given
from p0trans.source import Span
from p0trans.syntax import tree


def hover(workspace: Workspace, view: View, position: lsp.Position) -> lsp.Hover | None:
    """Type, shape, sentence and documentation of a name or an operator."""
    document = view.document
    offset = document.offset(position)
    found = document.name_at(offset)
    if found is not None:
        symbol = resolve(workspace, document, found)
        parts = [] if symbol is None else _of_symbol(view, found, symbol)
        return _hover(document, found.span, parts)
    return _operator(view, offset)


def _hover(document: Document, span: Span, parts: Sequence[str]) -> lsp.Hover | None:
    if not parts:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(parts))
    return lsp.Hover(content, document.range(span))


def _code(text: str) -> str:
    return f"```phase0\n{text}\n```"


def _of_symbol(view: View, found: Occurrence, symbol: Symbol) -> list[str]:
    target = symbol.target
    match symbol.kind:
        case Kind.LOCAL | Kind.PARAMETER if target is not None:
            return _value(view, symbol, target)
        case Kind.SHAPE if target is not None:
            return _shape(view, symbol, target)
        case Kind.DEFINITION if target is not None and isinstance(target.node, tree.Definition):
            return [*_definition(target, target.node), *_here(view, found)]
        case Kind.MODULE if target is not None and isinstance(target.node, tree.Module):
            doc = target.node.doc
            text = target.placed.piece.source.slice(target.node.span)
            return [_code(text), *([doc] if doc else [])]
        case Kind.OPERATION:
            operation = CALLABLE.get(symbol.text) or LITERALS[symbol.text]
            return [*_operation(operation), *_here(view, found)]
        case Kind.DTYPE if symbol.text in DTYPES:
            dtype = DTYPES[symbol.text]
            return [f"`torch.{dtype.torch}`: {dtype.kind}, {dtype.bits} bits"]
        case Kind.FILE if target is not None:
            return [f"`{target.document.source.name}`"]
        case _:
            return []


def _value(view: View, symbol: Symbol, target: Target) -> list[str]:
    node = target.node
    if not isinstance(node, tree.Definition):
        return []
    type_ = typed(view, target.placed, node).names.get(target.span)
    return [
        _code(symbol.text if type_ is None else f"{symbol.text} : {type_}"),
        f"{symbol.kind.value} of `{node.name.text}`",
    ]


def _shape(view: View, symbol: Symbol, target: Target) -> list[str]:
    node = target.node
    if not isinstance(node, tree.Definition):
        return []
    parts = [f"shape variable of `{node.name.text}`, at least 1"]
    checked = view.typed(target.placed, node)
    definition = None if checked is None else checked.definition
    if definition is None:
        return parts
    for binding in definition.bindings:
        if binding.variable == symbol.text and not isinstance(binding, Given):
            parts.append(f"`{binding_text(definition, binding)}`")
    facts = (*definition.where, *definition.assume)
    return parts + [f"`{fact}`" for fact in facts if symbol.text in fact.variables()]


def _definition(target: Target, node: tree.Definition) -> list[str]:
    header = target.placed.piece.source.slice(Span(node.span.start, node.equals_span.start))
    return [_code(header.rstrip()), *([node.doc] if node.doc else [])]


def _operation(operation: Operation) -> list[str]:
    return [_code(operation.form), operation.doc]


def _here(view: View, found: Occurrence) -> list[str]:
    """The type of the application that a head stands at the start of."""
    place = view.document.definition_at(found.span.start)
    if place is None:
        return []
    return _typed_here(view, *place, found.name.span.start)


def _typed_here(view: View, placed: Placed, node: tree.Definition, start: int) -> list[str]:
    for expr in tree.subexpressions(node.body):
        if isinstance(expr, tree.Apply | tree.Name) and expr.span.start == start:
            type_ = typed(view, placed, node).expressions.get(expr.span)
            return [] if type_ is None else [f"here: `{type_}`"]
    return []


def _operator(view: View, offset: int) -> lsp.Hover | None:
    place = view.document.definition_at(offset)
    if place is None:
        return None
    placed, node = place
    for expr in tree.subexpressions(node.body):
        if isinstance(expr, tree.Binary):
            operation, span = INFIX[expr.operator], expr.operator_span
        elif isinstance(expr, tree.Unary):
            start = expr.span.start
            operation, span = PREFIX[expr.operator], Span(start, start + len(expr.operator))
        else:
            continue
        if placed.span(span).start <= offset <= placed.span(span).end:
            type_ = typed(view, placed, node).expressions.get(expr.span)
            here = [] if type_ is None else [f"here: `{type_}`"]
            return _hover(view.document, placed.span(span), [*_operation(operation), *here])
    return None
