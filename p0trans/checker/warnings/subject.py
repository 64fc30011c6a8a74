"""What a rule is given, and how it speaks of values and axes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from p0trans.checker.warnings.analysis import Analysis
from p0trans.checker.warnings.survey import Survey
from p0trans.diagnostics.model import Edit, Fix, Label
from p0trans.ir.program import Apply, Definition, Step, Value
from p0trans.ir.provenance import Factor, Origin
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree
from p0trans.types import TensorType


class Subject(NamedTuple):
    """One definition: its text, its steps and what is known of both."""

    source: Source
    written: tree.Definition
    survey: Survey
    analysis: Analysis

    @property
    def definition(self) -> Definition:
        return self.analysis.definition

    def place(self, span: Span) -> Place:
        return Place(self.source, span)

    def label(self, span: Span, text: str) -> Label:
        return Label(self.place(span), text)

    def step(self, value: Value) -> Step:
        step = self.definition.step_of(value)
        assert step is not None, "a parameter is no step"
        return step

    def span(self, value: Value) -> Span:
        """Where `value` is made or, for a parameter, declared."""
        step = self.definition.step_of(value)
        return self.definition.parameters[value].span if step is None else step.span

    def shape_of(self, value: Value) -> TensorType:
        type_ = self.definition.type_of(value)
        assert isinstance(type_, TensorType), "operations take and give tensors"
        return type_

    def name(self, value: Value) -> str:
        """How a message calls a value: its name where it has one, else its text."""
        step = self.definition.step_of(value)
        if step is None:
            return f"`{self.definition.parameters[value].name}`"
        if step.binding is not None:
            return f"`{step.binding}`"
        text = self.source.slice(step.span)
        return f"`{text}`" if len(text) <= 40 and "\n" not in text else "this value"

    def application(self, value: Value) -> tree.Apply | None:
        """The text of the step that makes `value`, when that is an application."""
        return self.survey.applications.get(self.step(value).span)

    def replace(self, title: str, span: Span, text: str, *, machine: bool = False) -> Fix:
        return Fix(title, (Edit(self.place(span), text),), machine)

    def argument_text(self, application: tree.Apply, index: int) -> str:
        """An argument as it was written, with its parentheses."""
        argument = application.arguments[index]
        text = self.source.slice(argument.span)
        atomic = isinstance(argument, tree.Name | tree.Literal | tree.Tuple)
        return text if atomic else f"({text})"

    def applied(self) -> Iterable[tuple[Value, Apply]]:
        """Every step that applies an operation, in order."""
        for value, step in self.definition.numbered_steps():
            if isinstance(step.node, Apply):
                yield value, step.node

    def axis_labels(self, factors: Iterable[Factor]) -> tuple[Label, ...]:
        """Where axes came into being: one label for each value that they are axes of."""
        made: dict[tuple[Value, bool], list[Factor]] = {}
        for factor in dict.fromkeys(factors):
            key = (factor.value, factor.origin is Origin.REPEATED)
            made.setdefault(key, []).append(factor)
        return tuple(
            self._axis_label(value, repeated, group) for (value, repeated), group in made.items()
        )

    def _axis_label(self, value: Value, repeated: bool, factors: list[Factor]) -> Label:
        dims = ", ".join(str(factor.dim) for factor in factors)
        if repeated:
            return self.label(self.span(value), f"{dims} is a repetition, which this adds")
        axes = ", ".join(str(factor.axis) for factor in factors)
        are = "is axis" if len(factors) == 1 else "are axes"
        return self.label(self.span(value), f"{dims} {are} {axes} of {self.name(value)}")


def listed(items: Iterable[object]) -> str:
    """`[G, KV]`."""
    return f"[{', '.join(map(str, items))}]"
