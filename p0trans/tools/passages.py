"""Which parts of a definition stand on a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from p0trans.ir.program import Definition, Value
from p0trans.source import Source, Span
from p0trans.syntax import tree


@dataclass(frozen=True, slots=True)
class Passage:
    """A definition as text and as steps, with what its `let`s are.

    `typed` are the `let`s with a written type, by the span of the expression that they name.
    """

    source: Source
    node: tree.Definition
    definition: Definition
    bindings: tuple[tree.Binding, ...]
    result: tree.Expr

    @property
    def typed(self) -> dict[Span, tree.Binding]:
        found: dict[Span, tree.Binding] = {}
        for binding in self.bindings:
            if binding.type is not None and len(binding.names) == 1:
                found[value_of(binding.value).span] = binding
        return found

    def signature_stands_on(self, line: int) -> bool:
        return touches(self.source, self._signature, line)

    def result_stands_on(self, line: int) -> bool:
        return touches(self.source, self.result.span, line)

    def steps_on(self, line: int) -> list[Value]:
        """The steps of every expression on the line and of every `let` that begins there."""
        begun = [
            binding
            for binding in self.bindings
            if touches(self.source, binding.names[0].span, line)
        ]
        whole = {(binding.names[0].text, binding.value.span) for binding in begun}
        return [
            value
            for value, step in self.definition.numbered_steps()
            if touches(self.source, step.span, line)
            or any(
                step.owner == owner and span.start <= step.span.start and step.span.end <= span.end
                for owner, span in whole
            )
        ]

    def lines(self) -> Iterator[tuple[int, int]]:
        """The first and last line of each part that can be explained."""
        spans = [self._signature, self.result.span]
        spans += [binding.names[0].span for binding in self.bindings]
        spans += [step.span for step in self.definition.steps]
        return (line_range(self.source, span) for span in spans)

    @property
    def _signature(self) -> Span:
        return Span(self.node.name.span.start, self.node.equals_span.end)


def passage(source: Source, node: tree.Definition, definition: Definition) -> Passage:
    return Passage(source, node, definition, tuple(bindings_of(node.body)), value_of(node.body))


def line_range(source: Source, span: Span) -> tuple[int, int]:
    last = max(span.start, span.end - 1)
    return source.position(span.start)[0], source.position(last)[0]


def touches(source: Source, span: Span, line: int) -> bool:
    first, last = line_range(source, span)
    return first <= line <= last


def value_of(expr: tree.Expr) -> tree.Expr:
    """The expression whose value a chain of `let`s is: what is no chain is itself."""
    while isinstance(expr, tree.Block):
        expr = expr.result
    return expr


def bindings_of(root: tree.Expr) -> Iterator[tree.Binding]:
    """Every `let` of an expression."""
    for expr in tree.subexpressions(root):
        if isinstance(expr, tree.Block):
            yield from expr.bindings
