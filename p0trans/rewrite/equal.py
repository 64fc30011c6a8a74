"""Values that are computed twice.

A rule's pattern takes two such for one value; those that are left when no rule applies any more
are computed once.
"""

from __future__ import annotations

from collections.abc import Hashable

from p0trans.ir.program import Apply, Call, Node, Number, Origin, Pack, Project, Step, Value
from p0trans.rewrite.graph import Graph


def same_value(graph: Graph, left: Value, right: Value) -> bool:
    """Whether both are the same steps on the same values."""
    pending, seen = [(left, right)], set()
    while pending:
        pair = pending.pop()
        if pair[0] == pair[1] or pair in seen:
            continue
        seen.add(pair)
        steps = graph.step(pair[0]), graph.step(pair[1])
        if steps[0] is None or steps[1] is None or graph.kept.intersection(pair):
            return False
        if _what(steps[0]) != _what(steps[1]):
            return False
        pending += zip(steps[0].node.operands, steps[1].node.operands, strict=True)
    return True


def merge_equal(graph: Graph) -> bool:
    """Compute once what is computed twice, under the first name that it has; whether there was
    such."""
    found: dict[Hashable, Value] = {}
    firsts: dict[Value, Value] = {}
    merged = False
    for value in tuple(graph.in_order()):
        step = graph.step(value)
        if step is None or value in graph.kept:
            continue
        operands = tuple(firsts.get(operand, operand) for operand in step.node.operands)
        first = firsts[value] = found.setdefault((_what(step), operands), value)
        # A number is written where it is used.
        if first != value and not isinstance(step.node, Number):
            graph.steps[first] = _merged(graph.steps[first], step)
            graph.redirect(value, first)
            merged = True
    return merged


def _merged(first: Step, second: Step) -> Step:
    if first.binding is None:
        first = first._replace(binding=second.binding, owner=second.owner)
    origins = [step.origin for step in (first, second) if step.origin is not None]
    if not origins:
        return first
    spans = {span for origin in origins for span in origin.spans}
    return first._replace(origin=Origin(origins[0].idiom, tuple(sorted(spans))))


def _what(step: Step) -> Hashable:
    """What a step does to its operands, and how many these are."""
    node: Node = step.node
    count = len(node.operands)
    match node:
        case Apply():
            given = node.attributes
            attributes = tuple((name, _exact(given[name])) for name in sorted(given))
            return node.operation, attributes, count
        case Call():
            return node.definition, node.shape_arguments, count
        case Number():
            return _exact(node.value), node._replace(value=0), step.type
        case Project():
            return "project", node.index
        case Pack():
            return "pack", count
    return "alias", count


def _exact(given: object) -> object:
    """A number by its digits: the two zeros are not one."""
    return repr(given) if isinstance(given, float) else given
