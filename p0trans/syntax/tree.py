"""The syntax tree: frozen nodes, each with the span of the text that it came from.

Nodes compare by identity (`eq=False`): a tree may be nested far deeper than Python's
recursion limit, so nothing here recurses. Parentheses leave no node; a span never
includes the parentheses around its expression.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from p0trans.source import Source, Span


class Identifier(NamedTuple):
    span: Span
    text: str


# --- dims -------------------------------------------------------------------------------


class DimInteger(NamedTuple):
    span: Span
    value: int


class DimName(NamedTuple):
    span: Span
    text: str


class DimNegate(NamedTuple):
    span: Span
    operand: Dim


class DimBinary(NamedTuple):
    """`operator` is one of `+ - * / %`; `/` is floor division."""

    span: Span
    operator: str
    left: Dim
    right: Dim


Dim: TypeAlias = DimInteger | DimName | DimNegate | DimBinary


class Constraint(NamedTuple):
    """`relation` is one of `== != <= < >= >`."""

    span: Span
    relation: str
    left: Dim
    right: Dim


# --- types ------------------------------------------------------------------------------


class TensorType(NamedTuple):
    span: Span
    dtype: Identifier
    dims: tuple[Dim, ...]


class TupleType(NamedTuple):
    span: Span
    items: tuple[Type, ...]


Type: TypeAlias = TensorType | TupleType


# --- expressions ------------------------------------------------------------------------


class Name(NamedTuple):
    span: Span
    text: str


class Literal(NamedTuple):
    """A number or truth value. Its Python type says which: float F32, int I32, bool Bool."""

    span: Span
    value: float | int | bool


class Unary(NamedTuple):
    """`operator` is `-` or `not`."""

    span: Span
    operator: str
    operand: Expr


class Binary(NamedTuple):
    """`operator` is one of `|| && < <= > >= == != + - * /`."""

    span: Span
    operator: str
    operator_span: Span
    left: Expr
    right: Expr


class DimList(NamedTuple):
    """`[2, 0, 1]` as an attribute."""

    span: Span
    dims: tuple[Dim, ...]


class Attribute(NamedTuple):
    """`axis=2` or a positional `mean`, `F32`, `B`; a word or dtype is a `DimName`."""

    span: Span
    name: Identifier | None
    value: Dim | DimList


class Apply(NamedTuple):
    """`head[attributes] argument …`. `attributes` is None when no bracket was written."""

    span: Span
    head: Identifier
    attributes: tuple[Attribute, ...] | None
    attributes_span: Span | None
    arguments: tuple[Expr, ...]


class ShapeArgument(NamedTuple):
    """`[B, S, 1]` as an argument."""

    span: Span
    dims: tuple[Dim, ...]


class Tuple(NamedTuple):
    span: Span
    items: tuple[Expr, ...]


class Binding(NamedTuple):
    """`let name : type = value in`; more than one name takes a tuple apart."""

    span: Span
    names: tuple[Identifier, ...]
    type: Type | None
    value: Expr


class Block(NamedTuple):
    """A chain of `let … in` (at least one) and the expression at its end."""

    span: Span
    bindings: tuple[Binding, ...]
    result: Expr


Expr: TypeAlias = Name | Literal | Unary | Binary | Apply | ShapeArgument | Tuple | Block


def subexpressions(root: Expr) -> Iterator[Expr]:
    """`root` and all expressions inside it, by an own stack: text nests deeper than Python may."""
    pending = [root]
    while pending:
        expr = pending.pop()
        yield expr
        match expr:
            case Block(bindings=bindings, result=result):
                pending += [result, *(binding.value for binding in bindings)]
            case Unary(operand=operand):
                pending.append(operand)
            case Binary(left=left, right=right):
                pending += [left, right]
            case Apply(arguments=parts) | Tuple(items=parts):
                pending += parts


# --- declarations -----------------------------------------------------------------------


class Import(NamedTuple):
    span: Span
    module: tuple[Identifier, ...]
    names: tuple[Identifier, ...]


class Parameter(NamedTuple):
    span: Span
    name: Identifier
    type: Type


class Definition(NamedTuple):
    """A top-level `let`. `equals_span` is the `=` before the body: an `assume` goes before it."""

    span: Span
    doc: str | None
    name: Identifier
    shape_parameters: tuple[Identifier, ...]
    parameters: tuple[Parameter, ...]
    result: Type
    where: tuple[Constraint, ...]
    assume: tuple[Constraint, ...]
    equals_span: Span
    body: Expr


class Initializer(NamedTuple):
    """`ones`, `normal(0.02)`, or the bare literal of a `const` (then `name` is None)."""

    span: Span
    name: Identifier | None
    arguments: tuple[float | int | bool, ...]


class State(NamedTuple):
    """`kind` is `param`, `buffer` or `const`."""

    span: Span
    kind: str
    name: Identifier
    initializer: Initializer


class Sub(NamedTuple):
    """`sub name = Module(argument = argument, …)`; the pairs are (of Module, of this one)."""

    span: Span
    name: Identifier
    module: Identifier
    arguments: tuple[tuple[Identifier, Identifier], ...]


class Module(NamedTuple):
    span: Span
    doc: str | None
    name: Identifier
    definition: Identifier
    items: tuple[State | Sub, ...]


Declaration: TypeAlias = Import | Definition | Module


class Comment(NamedTuple):
    """`kind` is `line`, `block` or `doc`; `text` is verbatim, delimiters included."""

    span: Span
    kind: str
    text: str


class File(NamedTuple):
    """What a source parses to: its declarations in source order and all its comments."""

    source: Source
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...]
