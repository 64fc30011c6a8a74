"""Patterns over the steps of a definition, written like the identity that a rule uses.

    x = Var("x")
    x * op("sigmoid", x)            # matches a product of a value and its own sigmoid

A pattern is matched from its root towards the operands. It is also what a rule puts in place of
what it matched: there `Var`s are the values that were bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from p0trans.dtypes import DTYPES, DType
from p0trans.ir.program import Apply, Number, Value
from p0trans.ops.fused import EVERY
from p0trans.ops.table import AttributeValue
from p0trans.rewrite.equal import same_value
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import number_of
from p0trans.shapes.dim import Dim


class Bound(NamedTuple):
    """What a pattern has matched so far.

    `inside` are the steps that the pattern's operations matched, the root first; `shared` those of
    them that others may use as well.
    """

    values: Mapping[str, Value]
    attributes: Mapping[str, AttributeValue]
    inside: tuple[Value, ...] = ()
    shared: frozenset[Value] = frozenset()

    def with_value(self, graph: Graph, name: str, value: Value) -> Bound | None:
        """This with `name` bound to `value`; None when it is bound to another one. What is
        computed twice is one value."""
        if name in self.values:
            return self if same_value(graph, self.values[name], value) else None
        return self._replace(values={**self.values, name: value})

    def taking_in(self, value: Value) -> Bound:
        """This with the step of `value` among those that the pattern's operations matched."""
        return self if value in self.inside else self._replace(inside=(*self.inside, value))


NOTHING_BOUND = Bound({}, {})


@dataclass(slots=True)
class Attempt:
    """How far a match came: how many operations matched, and at which value it then failed."""

    matched: int = 0
    failed_at: Value | None = None
    wanted: str = ""

    def note(self, bound: Bound, value: Value, wanted: str) -> None:
        if len(bound.inside) > self.matched:
            self.matched, self.failed_at, self.wanted = len(bound.inside), value, wanted


class Pattern:
    """A shape of steps. Arithmetic on patterns gives the pattern of that operation."""

    __slots__ = ()

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        raise NotImplementedError

    def roots(self) -> frozenset[str] | None:
        """The operations that the root may be; None for any value."""
        return None

    def operations(self) -> int:
        """How many operations a match takes in at most."""
        return 0

    def __add__(self, other: Operand) -> Op:
        return op("add", self, other)

    def __radd__(self, other: Operand) -> Op:
        return op("add", other, self)

    def __sub__(self, other: Operand) -> Op:
        return op("sub", self, other)

    def __rsub__(self, other: Operand) -> Op:
        return op("sub", other, self)

    def __mul__(self, other: Operand) -> Op:
        return op("mul", self, other)

    def __rmul__(self, other: Operand) -> Op:
        return op("mul", other, self)

    def __truediv__(self, other: Operand) -> Op:
        return op("div", self, other)

    def __rtruediv__(self, other: Operand) -> Op:
        return op("div", other, self)

    def __neg__(self) -> Op:
        return op("neg", self)


Operand = Pattern | float | int | bool


@dataclass(frozen=True, slots=True)
class Var(Pattern):
    """Any value; the same one wherever the name stands."""

    name: str

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        found = bound.with_value(graph, self.name, value)
        if found is None:
            attempt.note(bound, value, f"the value that is `{self.name}` elsewhere")
        else:
            yield found


@dataclass(frozen=True, slots=True)
class Known(Pattern):
    """A value that a replacement has at hand."""

    value: Value


@dataclass(frozen=True, slots=True)
class KnownNumber(Pattern):
    """A value that a replacement has at hand, as the Python number that it is."""

    value: Value


@dataclass(frozen=True, slots=True)
class Size(Pattern):
    """In a replacement, a size to a power as a Python number."""

    dim: Dim
    power: float


@dataclass(frozen=True, slots=True)
class Num(Pattern):
    """A scalar that emitted code has as a Python number: a literal or a `const` of the module."""

    name: str

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        number = number_of(graph, value)
        if number is None:
            attempt.note(bound, value, "a Python number")
            return
        same = bound.values.get(self.name, value)
        if number_of(graph, same) == number:
            yield bound._replace(values={**bound.values, self.name: same})


@dataclass(frozen=True, slots=True)
class Literal(Pattern):
    """A literal of this value, but for an error of a unit or two in the last place of float32. What
    a rule puts in place is of `dtype`, or else of that of its surroundings."""

    value: float | int | bool
    dtype: DType | None = None

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        number = number_of(graph, value)
        if number is not None and number.is_literal and self._is(graph, value, number):
            yield bound
        else:
            attempt.note(bound, value, f"the number {self.value}")

    def _is(self, graph: Graph, value: Value, number: Number) -> bool:
        dtype = graph.tensor(value).dtype
        if not dtype.is_float:
            return number.value == self.value
        return is_close(number.value, self.value, dtype)


def is_close(found: float, wanted: float, dtype: DType) -> bool:
    """Whether a literal of `dtype` is the number `wanted`, written to some digits."""
    # People round what is no short decimal, such as the square root of 2, to some digits.
    digits = max(dtype.precision, DTYPES["F32"].precision) - 2
    near = math.isfinite(wanted) and abs(found - wanted) <= 2.0**-digits * abs(wanted)
    return near or found == wanted


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute's value under a name; the same one wherever the name stands. With `only` it
    has to be that."""

    name: str
    only: AttributeValue | None = None


@dataclass(frozen=True, slots=True)
class Op(Pattern):
    """An operation on operands. With `name` its result is bound as well; a `shared` one may have
    other users, since it stays when the pattern is replaced."""

    operation: str
    operands: tuple[Pattern, ...]
    attributes: Mapping[str, AttributeValue | Attribute] = field(default_factory=dict)
    name: str = ""
    shared: bool = False

    def roots(self) -> frozenset[str] | None:
        return frozenset({self.operation})

    def operations(self) -> int:
        return 1 + sum(operand.operations() for operand in self.operands)

    def named(self, name: str) -> Op:
        return Op(self.operation, self.operands, self.attributes, name, self.shared)

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        node = graph.node(value)
        if (
            not isinstance(node, Apply)
            or node.operation != self.operation
            or len(node.operands) != len(self.operands)
        ):
            attempt.note(bound, value, f"`{self.operation}`")
            return
        here = self._with_attributes(node, bound)
        if here is None:
            attempt.note(bound, value, f"`{self.operation}` with these attributes")
            return
        if self.name:
            named = here.with_value(graph, self.name, value)
            if named is None:
                return
            here = named
        if self.shared:
            here = here._replace(shared=here.shared | {value})
        here = here.taking_in(value)
        yield from _each(self.operands, node.operands, graph, here, attempt)
        if EVERY[node.operation].commutative and len(node.operands) == 2:
            yield from _each(self.operands, node.operands[::-1], graph, here, attempt)

    def _with_attributes(self, node: Apply, bound: Bound) -> Bound | None:
        for name, wanted in self.attributes.items():
            found = node.attributes.get(name)
            if isinstance(wanted, Attribute):
                if wanted.only not in (None, found):
                    return None
                if wanted.name in bound.attributes:
                    if bound.attributes[wanted.name] != found:
                        return None
                elif found is not None:
                    bound = bound._replace(attributes={**bound.attributes, wanted.name: found})
            elif found != wanted:
                return None
        return bound


def _each(
    patterns: tuple[Pattern, ...],
    values: tuple[Value, ...],
    graph: Graph,
    bound: Bound,
    attempt: Attempt,
) -> Iterator[Bound]:
    if not patterns:
        yield bound
        return
    for found in patterns[0].matches(graph, values[0], bound, attempt):
        yield from _each(patterns[1:], values[1:], graph, found, attempt)


@dataclass(frozen=True, slots=True)
class Either(Pattern):
    """One of several patterns, the first that matches first."""

    options: tuple[Pattern, ...]

    def roots(self) -> frozenset[str] | None:
        found: frozenset[str] = frozenset()
        for option in self.options:
            roots = option.roots()
            if roots is None:
                return None
            found |= roots
        return found

    def operations(self) -> int:
        return max(option.operations() for option in self.options)

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        for option in self.options:
            yield from option.matches(graph, value, bound, attempt)


@dataclass(frozen=True, slots=True)
class AnyOp(Pattern):
    """Any operation that `accepts`, by default an elementwise one; its result is `name`."""

    name: str
    accepts: Callable[[Apply], bool] = lambda node: EVERY[node.operation].family == "elementwise"

    def operations(self) -> int:
        return 1

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        node = graph.node(value)
        if isinstance(node, Apply) and self.accepts(node):
            found = bound.with_value(graph, self.name, value)
            if found is not None:
                yield found.taking_in(value)


@dataclass(frozen=True, slots=True)
class Item(Pattern):
    """Item `index` of a tuple, in what a rule puts in place."""

    operand: Pattern
    index: int


def op(
    operation: str, *operands: Operand, name: str = "", shared: bool = False, **attributes: object
) -> Op:
    """The pattern of an operation; a plain number among the operands is that literal."""
    patterns = tuple(
        operand if isinstance(operand, Pattern) else Literal(operand) for operand in operands
    )
    values: dict[str, AttributeValue | Attribute] = {}
    for key, value in attributes.items():
        values[key] = value  # type: ignore[assignment]
    return Op(operation, patterns, values, name, shared)


def either(*options: Pattern) -> Either:
    return Either(options)
