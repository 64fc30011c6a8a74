"""A program broken in one place: what people get wrong, as edits of the source text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from p0trans.ir.program import Apply, Program
from p0trans.ops import CALLABLE, OPERATIONS
from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import parse
from p0trans.types import TensorType


class Break(StrEnum):
    """Ways to break a program."""

    BROADCAST = "drop a broadcast"
    CAST = "drop a cast"
    TRANSPOSE = "drop a transpose"
    KEEP = "drop the kept axis"
    AXIS = "negate an axis"
    IN = "drop an in"
    SHAPE_ARGUMENTS = "drop shape arguments"
    MISSPELL = "misspell a name"
    ASSUME = "drop an assume line"
    DIMS = "swap two dims of a type"
    DTYPE = "change a dtype of a type"
    TUPLE = "write a tuple for a tensor"


ALWAYS_REJECTED = frozenset(
    {Break.AXIS, Break.IN, Break.SHAPE_ARGUMENTS, Break.MISSPELL, Break.TUPLE}
)
_DROPPED = {"broadcast": Break.BROADCAST, "cast": Break.CAST, "transpose": Break.TRANSPOSE}
_KEPT = {op.kept_by: op.name for op in OPERATIONS.values() if op.kept_by is not None}


@dataclass(frozen=True)
class Mutant:
    """A broken program; `where` is what stood in the place that was edited."""

    kind: Break
    text: str
    where: str


def mutants(text: str, program: Program) -> list[Mutant]:
    """Every way to break `text`, whose checked form is `program`, in one place."""
    source = Source("original.p0", text)
    ranks = {
        step.span: first.rank
        for definition in program.units[-1].definitions
        for step in definition.steps
        if isinstance(step.node, Apply)
        for operands in [step.node.operands]
        if isinstance(
            first := definition.type_of(operands[0]) if operands else step.type, TensorType
        )
    }
    found: list[Mutant] = []
    for node in _nodes(parse(source).file.declarations):
        for kind, span, replacement in _edits(source, node, ranks):
            broken = text[: span.start] + replacement + text[span.end :]
            found.append(Mutant(kind, broken, source.slice(span)))
    return found


def _nodes(roots: object) -> Iterator[object]:
    """All nodes of a tree in source order."""
    todo = [roots]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple) and not isinstance(node, Span):
            if hasattr(node, "_fields"):
                yield node
            todo += reversed(node)


def _edits(
    source: Source, node: object, ranks: dict[Span, int]
) -> Iterator[tuple[Break, Span, str]]:
    match node:
        case tree.Apply():
            yield from _apply_edits(source, node, ranks)
        case tree.Name(span=span, text=text) if len(text) > 2:
            yield Break.MISSPELL, span, _misspelt(text)
        case tree.Binding(value=value):
            # A line that begins with a minus would go on with the value before it.
            keyword = re.compile(r"[\s)]*\b(in)\n(?!\s*-)").match(source.text, value.span.end)
            if keyword is not None:
                yield Break.IN, Span(*keyword.span(1)), ""
        case tree.Definition(assume=assume, equals_span=equals) if assume:
            start = source.text.rindex("assume", 0, assume[0].span.start)
            yield Break.ASSUME, Span(start, equals.start), ""
        case tree.TensorType(dtype=dtype, dims=dims):
            for one, other in pairwise(dims):
                first, second = source.slice(one.span), source.slice(other.span)
                if first != second:
                    yield Break.DIMS, one.span.to(other.span), f"{second}, {first}"
            yield Break.DTYPE, dtype.span, "F64" if dtype.text == "F32" else "F32"


def _apply_edits(
    source: Source, node: tree.Apply, ranks: dict[Span, int]
) -> Iterator[tuple[Break, Span, str]]:
    name = node.head.text
    if name in _DROPPED:
        yield _DROPPED[name], node.span, _atom(source, node.arguments[0])
    if name in _KEPT:
        yield Break.KEEP, node.head.span, _KEPT[name]
    first = node.arguments[0] if node.arguments else None
    if name in CALLABLE and first is not None and not isinstance(first, tree.ShapeArgument):
        text = _atom(source, first)
        # Whether parentheses stand around the span already does not matter.
        yield Break.TUPLE, first.span, f"({text}, {text})"
    if len(name) > 2:
        yield Break.MISSPELL, node.head.span, _misspelt(name)
    if name not in CALLABLE and name not in OPERATIONS and node.attributes_span is not None:
        yield Break.SHAPE_ARGUMENTS, node.attributes_span, ""
    for attribute in node.attributes or ():
        value = attribute.value
        is_axis = attribute.name is not None and attribute.name.text == "axis"
        if is_axis and isinstance(value, tree.DimInteger) and node.span in ranks:
            yield Break.AXIS, value.span, str(value.value - ranks[node.span])


def _atom(source: Source, expr: tree.Expr) -> str:
    text = source.slice(expr.span)
    return text if isinstance(expr, tree.Name | tree.Literal | tree.Tuple) else f"({text})"


def _misspelt(name: str) -> str:
    """`name` with its middle letter doubled."""
    middle = len(name) // 2
    return name[: middle + 1] + name[middle:]
