"""The syntax tree: frozen nodes, each with the span of the text that it came from.

Nodes compare by identity (`eq=False`): a tree may be nested far deeper than Python's
recursion limit, so nothing here recurses. Parentheses leave no node; a span never
includes the parentheses around its expression.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from p0trans.source import Source, Span


@dataclass(frozen=True, slots=True, eq=False)
class Identifier:
    span: Span
    text: str


# --- dims -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class DimInteger:
    span: Span
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class DimName:
    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class DimNegate:
    span: Span
    operand: Dim


@dataclass(frozen=True, slots=True, eq=False)
class DimBinary:
    """`operator` is one of `+ - * / %`; `/` is floor division."""

    span: Span
    operator: str
    left: Dim
    right: Dim


Dim: TypeAlias = DimInteger | DimName | DimNegate | DimBinary


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """`relation` is one of `== != <= < >= >`."""

    span: Span
    relation: str
    left: Dim
    right: Dim


# --- types ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class TensorType:
    span: Span
    dtype: Identifier
    dims: tuple[Dim, ...]


@dataclass(frozen=True, slots=True, eq=False)
class TupleType:
    span: Span
    items: tuple[Type, ...]


Type: TypeAlias = TensorType | TupleType


# --- expressions ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Name:
    span: Span
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A number or truth value. Its Python type says which: float F32, int I32, bool Bool."""

    span: Span
    value: float | int | bool


@dataclass(frozen=True, slots=True, eq=False)
class Unary:
    """`operator` is `-` or `not`."""

    span: Span
    operator: str
    operand: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Binary:
    """`operator` is one of `|| && < <= > >= == != + - * /`."""

    span: Span
    operator: str
    operator_span: Span
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True, eq=False)
class DimList:
    """`[2, 0, 1]` as an attribute."""

    span: Span
    dims: tuple[Dim, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """`axis=2` or a positional `mean`, `F32`, `B`; a word or dtype is a `DimName`."""

    span: Span
    name: Identifier | None
    value: Dim | DimList


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """`head[attributes] argument …`. `attributes` is None when no bracket was written."""

    span: Span
    head: Identifier
    attributes: tuple[Attribute, ...] | None
    attributes_span: Span | None
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ShapeArgument:
    """`[B, S, 1]` as an argument."""

    span: Span
    dims: tuple[Dim, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Tuple:
    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """`let name : type = value in`; more than one name takes a tuple apart."""

    span: Span
    names: tuple[Identifier, ...]
    type: Type | None
    value: Expr


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A chain of `let … in` (at least one) and the expression at its end."""

    span: Span
    bindings: tuple[Binding, ...]
    result: Expr


Expr: TypeAlias = Name | Literal | Unary | Binary | Apply | ShapeArgument | Tuple | Block


# --- declarations -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Import:
    span: Span
    module: tuple[Identifier, ...]
    names: tuple[Identifier, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Parameter:
    span: Span
    name: Identifier
    type: Type


@dataclass(frozen=True, slots=True, eq=False)
class Definition:
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


@dataclass(frozen=True, slots=True, eq=False)
class Initializer:
    """`ones`, `normal(0.02)`, or the bare literal of a `const` (then `name` is None)."""

    span: Span
    name: Identifier | None
    arguments: tuple[float | int | bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """`kind` is `param`, `buffer` or `const`."""

    span: Span
    kind: str
    name: Identifier
    initializer: Initializer


@dataclass(frozen=True, slots=True, eq=False)
class Sub:
    """`sub name = Module(argument = argument, …)`; the pairs are (of Module, of this one)."""

    span: Span
    name: Identifier
    module: Identifier
    arguments: tuple[tuple[Identifier, Identifier], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    span: Span
    doc: str | None
    name: Identifier
    definition: Identifier
    items: tuple[State | Sub, ...]


Declaration: TypeAlias = Import | Definition | Module


@dataclass(frozen=True, slots=True, eq=False)
class Comment:
    """`kind` is `line`, `block` or `doc`; `text` is verbatim, delimiters included."""

    span: Span
    kind: str
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class File:
    """What a source parses to: its declarations in source order and all its comments."""

    source: Source
    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...]
