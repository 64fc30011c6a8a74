"""The pattern of a causal mask, however the comparison of the two positions is written."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from p0trans.ir.program import Apply, Value
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import number_of
from p0trans.rewrite.pattern import Attempt, Bound, Pattern
from p0trans.types import Shape

# 8 and 16 bits do not hold the positions of a long sequence.
_EXACT = frozenset({"I32", "I64", "F32", "F64"})
_ROW, _COLUMN = -2, -1
# left - right, or its negative, is at least a number.
_COMPARISONS: Mapping[str, tuple[int, int]] = {
    "ge": (1, 0),
    "gt": (1, 1),
    "le": (-1, 0),
    "lt": (-1, 1),
}


@dataclass(frozen=True, slots=True)
class Causal(Pattern):
    """A Bool that is true where the column is at most the row. The steps that make it may have
    other users."""

    name: str

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        least = _least_difference(graph, value, False, graph.tensor(value).shape)
        if least is None or least.number:
            attempt.note(bound, value, "a causal mask")
            return
        found = bound.with_value(graph, self.name, value)
        if found is not None:
            for step in least.steps:
                found = found.taking_in(step)
            yield found._replace(shared=found.shared | set(least.steps))


class _Least(NamedTuple):
    """A mask that is true where row - column is at least `number`, and its steps."""

    number: int
    steps: tuple[Value, ...]


class _Affine(NamedTuple):
    """A whole number that depends on the place: so much for each step along an axis, which is
    counted from the end, and `number`."""

    slopes: Mapping[int, int]
    number: int
    steps: tuple[Value, ...] = ()

    def times(self, factor: int) -> _Affine:
        slopes = {axis: slope * factor for axis, slope in self.slopes.items()}
        return _Affine(slopes, self.number * factor, self.steps)

    def plus(self, other: _Affine) -> _Affine:
        slopes = dict(self.slopes)
        for axis, slope in other.slopes.items():
            slopes[axis] = slopes.get(axis, 0) + slope
        return _Affine(slopes, self.number + other.number, self.steps + other.steps)


def _least_difference(graph: Graph, value: Value, negated: bool, shape: Shape) -> _Least | None:
    """What is known of the mask `value`, or of its negation, once it is broadcast to `shape`."""
    node = graph.node(value)
    if not isinstance(node, Apply):
        return None
    if node.operation in ("not", "broadcast", "reshape"):
        (inner,) = node.operands
        if node.operation == "reshape" and not _same_end(graph, inner, value):
            return None
        found = _least_difference(graph, inner, negated != (node.operation == "not"), shape)
        return found and _Least(found.number, (value, *found.steps))
    if node.operation not in _COMPARISONS:
        return None
    left, right = (_affine(graph, operand, shape) for operand in node.operands)
    if left is None or right is None:
        return None
    # sign * (left - right) >= least, or where that is not so.
    sign, least = _COMPARISONS[node.operation]
    difference = left.plus(right.times(-1)).times(sign)
    if negated:
        difference, least = difference.times(-1), 1 - least
    if difference.slopes != {_ROW: 1, _COLUMN: -1}:
        return None
    return _Least(least - difference.number, (value, *difference.steps))


def _same_end(graph: Graph, left: Value, right: Value) -> bool:
    """Whether both have the same last two axes."""
    ends = graph.tensor(left).shape[-2:], graph.tensor(right).shape[-2:]
    return len(ends[0]) == len(ends[1]) == 2 and all(map(graph.facts.equal, *ends))


def _affine(graph: Graph, value: Value, shape: Shape) -> _Affine | None:
    """What `value` is at each place of `shape`, to which it is broadcast."""
    number = number_of(graph, value)
    if number is not None:
        known = number.is_literal and math.isfinite(number.value)
        whole = known and number.value == int(number.value)
        return _Affine({}, int(number.value)) if whole else None
    node = graph.node(value)
    if not isinstance(node, Apply) or graph.tensor(value).dtype.name not in _EXACT:
        return None
    if node.operation == "iota":
        axis = node.attributes["axis"]
        assert isinstance(axis, int)
        return _position(graph, value, axis, shape)
    if node.operation == "reshape":
        return _reshaped_line(graph, value, node.operands[0], shape)
    parts = [_affine(graph, operand, shape) for operand in node.operands]
    known_parts = [part for part in parts if part is not None]
    if len(known_parts) < len(parts):
        return None
    match node.operation:
        case "add":
            found = known_parts[0].plus(known_parts[1])
        case "sub":
            found = known_parts[0].plus(known_parts[1].times(-1))
        case "neg":
            found = known_parts[0].times(-1)
        case "cast" | "broadcast":
            found = known_parts[0]
        case _:
            return None
    return found._replace(steps=(value, *found.steps))


def _position(graph: Graph, value: Value, axis: int, shape: Shape) -> _Affine | None:
    """The place along `axis` of `value`, unless that axis is broadcast to that of `shape`."""
    line = graph.tensor(value).shape
    from_end = axis - len(line)
    if -from_end > len(shape) or not graph.facts.equal(line[axis], shape[from_end]):
        return None
    return _Affine({from_end: 1}, 0, (value,))


def _reshaped_line(graph: Graph, value: Value, line: Value, shape: Shape) -> _Affine | None:
    """A vector that is made a row or a column."""
    source = graph.tensor(line).shape
    axes = [axis for axis, dim in enumerate(graph.tensor(value).shape) if dim.as_integer() != 1]
    if len(source) != 1 or len(axes) != 1:
        return None
    place, along = _position(graph, value, axes[0], shape), _affine(graph, line, source)
    if place is None or along is None:
        return None
    turned = place.times(along.slopes.get(-1, 0)).plus(_Affine({}, along.number, along.steps))
    return turned._replace(steps=(value, *along.steps))
