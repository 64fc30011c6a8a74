"""Broadcasts that PyTorch does by itself, and scalars that it takes as Python numbers."""

from __future__ import annotations

from p0trans.ir.program import Apply, Number, Value
from p0trans.ops.rules import broadcast_shape
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import has_tensor, number_of, taken_as_numbers
from p0trans.rewrite.pattern import (
    AnyOp,
    Attribute,
    Known,
    KnownNumber,
    Op,
    Pattern,
    Var,
    op,
)
from p0trans.rewrite.rule import Match, Rule
from p0trans.shapes.dim import constant

_X, _DTYPE, _ONE = Var("x"), Attribute("dtype"), constant(1)


def _apply(match: Match) -> Apply:
    node = match.graph.node(match.root)
    assert isinstance(node, Apply)
    return node


def _operation(node: Apply, operands: list[Pattern]) -> Op:
    return Op(node.operation, tuple(operands), dict(node.attributes))


def _as_numbers(match: Match) -> Pattern | None:
    """The operands that PyTorch takes as numbers; one stays a tensor that has their dtype."""
    graph, node = match.graph, _apply(match)
    numbers = [
        index
        for index in taken_as_numbers(graph, node, graph.type_of(match.root))
        if number_of(graph, _behind_broadcast(graph, node.operands[index])) is not None
    ]
    if numbers and not has_tensor(graph, node, numbers):
        numbers = numbers[1:]
    changed = False
    operands: list[Pattern] = []
    for index, operand in enumerate(node.operands):
        if index in numbers and not isinstance(graph.node(operand), Number):
            operands.append(KnownNumber(_behind_broadcast(graph, operand)))
            changed = True
        else:
            operands.append(Known(operand))
    return _operation(node, operands) if changed else None


def _behind_broadcast(graph: Graph, value: Value) -> Value:
    node = graph.node(value)
    if isinstance(node, Apply) and node.operation == "broadcast":
        return node.operands[0]
    return value


def _without_broadcast(match: Match) -> Pattern | None:
    """The operation on what its operands were before they were broadcast; broadcast afterwards
    when no operand is left that has the full shape."""
    graph, node = match.graph, _apply(match)
    inner = [_behind_broadcast(graph, operand) for operand in node.operands]
    if list(node.operands) == inner:
        return None
    shape = broadcast_shape([graph.tensor(value).shape for value in inner], match.facts)
    if shape is None:
        return None
    plain = _operation(node, [Known(value) for value in inner])
    if match.same_shape(shape, match.result.shape):
        return plain
    return Op("broadcast", (plain,), {"shape": match.result.shape})


def _line(match: Match) -> Pattern | None:
    """Positions along one axis, which is all that such a tensor holds, broadcast to the others."""
    axis, shape = match.integer("axis"), match.result.shape
    line = (shape[axis], *(_ONE for _ in shape[axis + 1 :]))
    if match.same_shape(line, shape):
        return None
    positions = op("iota", dtype=_DTYPE, axis=0, shape=line)
    return op("broadcast", positions, shape=shape)


def _if_unchanged(match: Match) -> Pattern | None:
    return _X if match.same_shape(match.shape("x"), match.result.shape) else None


NUMBERS = Rule(
    name="python_number",
    identity="f(x, broadcast c) = f(x, c) where c is a Python number",
    pattern=AnyOp("root", accepts=lambda node: len(node.operands) > 1),
    to=_as_numbers,
)

IMPLICIT_BROADCAST = Rule(
    name="implicit_broadcast",
    identity="f(x, broadcast y) = f(x, y)",
    pattern=AnyOp("root"),
    to=_without_broadcast,
)

BROADCAST_TO_ITSELF = Rule(
    name="broadcast_to_itself",
    identity="broadcast x = x where x has that shape",
    pattern=op("broadcast", _X),
    to=_if_unchanged,
)

BROADCAST_TWICE = Rule(
    name="broadcast_twice",
    identity="broadcast (broadcast x) = broadcast x",
    pattern=op("broadcast", Op("broadcast", (_X,), shared=True), shape=Attribute("shape")),
    to=op("broadcast", _X, shape=Attribute("shape")),
)

POSITIONS = Rule(
    name="positions",
    identity="iota[axis=n] [d…] = broadcast (iota[axis=0] [d_n, 1…])",
    pattern=op("iota", dtype=_DTYPE, axis=Attribute("axis")),
    to=_line,
)

BROADCASTING = (
    NUMBERS,
    IMPLICIT_BROADCAST,
    BROADCAST_TO_ITSELF,
    BROADCAST_TWICE,
    POSITIONS,
)
