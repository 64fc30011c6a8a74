"""Calls of small definitions are replaced by what these compute where that becomes one operation.

So a library function such as softmax costs no function call, and an idiom is seen that goes across
definitions. Where nothing grows together, the call stays: people keep their helper functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from p0trans.ir.program import Apply, Call, Definition, Number, Origin, Reference, Step, Value
from p0trans.ops.fused import EVERY
from p0trans.ops.table import AttributeValue, no_bytes
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import number_of
from p0trans.shapes.dim import Dim, DimLimitError

Rewritten = Callable[[Reference, frozenset[int]], Definition]
Inlined = Mapping[Value, tuple[Value, ...]]
"""By call, the steps that took its place besides the one that has its value."""

_MOST_OPERATIONS = 8


def inline_calls(graph: Graph, rewritten: Rewritten, without: frozenset[Value]) -> Inlined:
    """Inline the calls of small definitions but for those in `without`; `rewritten` gives a
    definition some of whose parameters are numbers."""
    inlined: dict[Value, tuple[Value, ...]] = {}
    for value in tuple(graph.in_order()):
        step = graph.steps.get(value)
        if step is None or value in graph.kept or value in without:
            continue
        if isinstance(step.node, Call) and not step.node.assumptions:
            numbers = frozenset(
                index
                for index, operand in enumerate(step.node.operands)
                if number_of(graph, operand) is not None
            )
            callee = rewritten(step.node.definition, numbers)
            if _is_small(callee):
                try:
                    inlined[value] = _inline(graph, value, step, step.node, callee)
                except DimLimitError:
                    continue
    return inlined


def left_apart(graph: Graph, inlined: Inlined) -> frozenset[Value]:
    """The calls of which more than one operation is left; views beside it do not count."""
    found = set()
    for call, steps in inlined.items():
        left = [step for step in (call, *steps) if step in graph.steps]
        computing = sum(not _is_view(graph, step) for step in left)
        if computing > 1 or (computing == 0 and len(left) > 1):
            found.add(call)
    return frozenset(found)


def _is_view(graph: Graph, value: Value) -> bool:
    node = graph.node(value)
    return isinstance(node, Apply) and EVERY[node.operation].bytes is no_bytes


def _is_small(definition: Definition) -> bool:
    nodes = [step.node for step in definition.steps]
    operations = [node for node in nodes if not isinstance(node, Number)]
    return (
        0 < len(operations) <= _MOST_OPERATIONS
        and all(isinstance(node, Apply) for node in operations)
        and definition.result == len(definition.parameters) + len(nodes) - 1
    )


def _inline(
    graph: Graph, value: Value, call: Step, node: Call, callee: Definition
) -> tuple[Value, ...]:
    """Put the steps of `callee` in place of a call. Raises DimLimitError before any change."""
    dims = dict(zip(callee.shape_parameters, node.shape_arguments, strict=True))
    values: dict[Value, Value] = dict(enumerate(node.operands))
    steps = [
        step._replace(
            node=_substituted(step.node, dims),
            type=step.type.substitute(dims),
            span=call.span,
            binding=None,
            owner=call.binding or call.owner,
            origin=step.origin and Origin(step.origin.idiom.substitute(dims), (call.span,)),
        )
        for step in callee.steps
    ]
    added: list[Value] = []
    for theirs, step in enumerate(steps, start=len(callee.parameters)):
        match step.node:
            case Number(parameter=parameter) if parameter is not None:
                number = number_of(graph, values[parameter])
                assert number is not None, "the callee was rewritten for these numbers"
                step = step._replace(node=number)
            case Apply(operands=operands):
                here = tuple(values[operand] for operand in operands)
                step = step._replace(node=step.node._replace(operands=here))
        if theirs == callee.result:
            graph.replace(value, call._replace(node=step.node, origin=step.origin))
        else:
            values[theirs] = graph.add(step)
            if isinstance(step.node, Apply):
                added.append(values[theirs])
    return tuple(added)


def _substituted(node: object, dims: Mapping[str, Dim]) -> Apply | Number:
    if isinstance(node, Apply):
        attributes = {name: _substitute(value, dims) for name, value in node.attributes.items()}
        return node._replace(attributes=attributes)
    assert isinstance(node, Number)
    return node if node.dim is None else node._replace(dim=node.dim.substitute(dims))


def _substitute(value: AttributeValue, dims: Mapping[str, Dim]) -> AttributeValue:
    if isinstance(value, Dim):
        return value.substitute(dims)
    if isinstance(value, tuple):
        return tuple(  # type: ignore[return-value]
            item.substitute(dims) if isinstance(item, Dim) else item for item in value
        )
    return value
