"""The pattern of a product, however it is grouped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from p0trans.ir.program import Apply, Value
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import literal_of
from p0trans.rewrite.pattern import Attempt, Bound, Pattern, is_close


@dataclass(frozen=True, slots=True)
class Product(Pattern):
    """A product of `factors`, and of literals that make up `coefficient`, in any order and
    grouping. A square is a product, and a division by a literal the product with its inverse."""

    coefficient: float
    factors: tuple[Pattern, ...]

    def roots(self) -> frozenset[str] | None:
        return frozenset({"mul", "div", "square", "pow"})

    def operations(self) -> int:
        return len(self.factors) + sum(factor.operations() for factor in self.factors)

    def matches(
        self, graph: Graph, value: Value, bound: Bound, attempt: Attempt
    ) -> Iterator[Bound]:
        split = _factors(graph, value)
        if split is None:
            attempt.note(bound, value, "a product")
            return
        dtype = graph.tensor(value).dtype

        def rest(
            values: tuple[Value, ...], factors: tuple[Pattern, ...], number: float, bound: Bound
        ) -> Iterator[Bound]:
            """The ways to make the product of `number` and `values` that of `factors`."""
            if not values:
                if not factors and is_close(number, self.coefficient, dtype):
                    yield bound
                return
            literals = [literal_of(graph, one) for one in values]
            if literals.count(None) > len(factors):
                return
            first, *others = values
            if literals[0] is not None:
                yield from rest(tuple(others), factors, number * literals[0], bound)
                return
            for index, factor in enumerate(factors):
                left = factors[:index] + factors[index + 1 :]
                for found in factor.matches(graph, first, bound, attempt):
                    yield from rest(tuple(others), left, number, found)
            split = _factors(graph, first)
            if split is not None:
                scale, parts = split
                yield from rest((*parts, *others), factors, number * scale, bound.taking_in(first))

        scale, parts = split
        yield from rest(parts, self.factors, scale, bound.taking_in(value))


def _factors(graph: Graph, value: Value) -> tuple[float, tuple[Value, ...]] | None:
    """A product as a number and the values that it multiplies; None when it is none."""
    node = graph.node(value)
    if not isinstance(node, Apply):
        return None
    match node.operation:
        case "mul":
            return 1.0, node.operands
        case "square":
            return 1.0, node.operands * 2
        case "pow" if literal_of(graph, node.operands[1]) == 3:
            return 1.0, node.operands[:1] * 3
        case "div":
            divisor = literal_of(graph, node.operands[1])
            return (1 / divisor, node.operands[:1]) if divisor else None
    return None


def product(coefficient: float, *factors: Pattern) -> Product:
    return Product(coefficient, factors)
