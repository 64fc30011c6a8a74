"""The types that a check has found, by the places of the text that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from p0trans.checker.definition import CheckedDefinition
from p0trans.lsp.document import Placed
from p0trans.lsp.workspace import View
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.tools.passages import bindings_of, value_of
from p0trans.types import Type


class Typed(NamedTuple):
    """Types of one definition: of names by the place that declares them, of expressions by theirs.

    A definition with an error has those of what could be typed even so.
    """

    names: Mapping[Span, Type]
    expressions: Mapping[Span, Type]


def typed(view: View, placed: Placed, node: tree.Definition) -> Typed:
    """The types in a definition of a file that the view has checked."""
    checked = view.typed(placed, node)
    if checked is None:
        return Typed({}, {})
    expressions = {step.span: step.type for step in checked.steps}
    return Typed(dict(_names(node, checked)), expressions)


def _names(node: tree.Definition, checked: CheckedDefinition) -> Iterator[tuple[Span, Type]]:
    parameters = {parameter.span: parameter.type for parameter in checked.parameters}
    for parameter in node.parameters:
        if parameter.span in parameters:
            yield parameter.name.span, parameters[parameter.span]
    named = {(step.binding, step.span): step.type for step in checked.steps if step.binding}
    for binding in bindings_of(node.body):
        for name in binding.names:
            # A `let` of one name is the step of its value, of several a step for each name.
            places = (binding.value.span, value_of(binding.value).span, name.span)
            type_ = next((named[name.text, at] for at in places if (name.text, at) in named), None)
            if type_ is not None:
                yield name.span, type_
