"""Rules are applied to one definition until none applies any more."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from p0trans.ir.program import Apply, Idiom, Node, Number, Origin, Project, Step, Value
from p0trans.ops.table import AttributeValue, Rejection
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import needed_as_tensors, number_of, tensor_steps
from p0trans.rewrite.pattern import (
    NOTHING_BOUND,
    Attempt,
    Attribute,
    Item,
    Known,
    KnownNumber,
    Literal,
    Num,
    Op,
    Pattern,
    Size,
    Var,
)
from p0trans.rewrite.rule import Match, Rule
from p0trans.source import Source, Span
from p0trans.types import TensorType, TupleType, Type

Phase = Sequence[Rule]

# A rule that undoes another one would go on for ever.
_MOST_REWRITES_OF_A_STEP = 64


class Event(NamedTuple):
    """Something that a rule did to some spans of a source, or did not do and `why`."""

    rule: str
    identity: str
    definition: str
    source: Source
    spans: tuple[Span, ...]
    why: str = ""

    @property
    def fired(self) -> bool:
        return not self.why


class Indexed(NamedTuple):
    """The rules of one phase by the operation of their root, each in its place in the order."""

    by_operation: Mapping[str, tuple[Rule, ...]]
    general: tuple[Rule, ...]

    def of(self, node: Node) -> tuple[Rule, ...]:
        if not isinstance(node, Apply):
            return ()
        return self.by_operation.get(node.operation, self.general)


def indexed(phase: Phase) -> Indexed:
    names = {name for rule in phase for name in rule.pattern.roots() or ()}
    return Indexed(
        {
            name: tuple(rule for rule in phase if name in (rule.pattern.roots() or {name}))
            for name in names
        },
        tuple(rule for rule in phase if rule.pattern.roots() is None),
    )


def apply_rules(graph: Graph, phases: Sequence[Indexed], source: Source) -> list[Event]:
    """Rewrite `graph` by each phase in turn, each to its fixed point; what was done, in order."""
    events: list[Event] = []
    limit = _MOST_REWRITES_OF_A_STEP * (len(graph.steps) + 1)
    for phase in phases:
        pending = deque(graph.in_order())
        waiting = set(pending)
        while pending:
            value = pending.popleft()
            waiting.discard(value)
            step = graph.step(value)
            if step is None or value in graph.kept:
                continue
            rewritten = _rewrite_step(graph, value, phase.of(step.node), source)
            if rewritten is None:
                continue
            event, touched = rewritten
            events.append(event)
            assert len(events) < limit, f"the rules do not come to an end: {events[-5:]}"
            # At once: whatever uses these is to see what becomes of them in the end.
            new = [one for one in touched if one in graph.steps and one not in waiting]
            waiting.update(new)
            pending.extendleft(reversed(new))
    return events


def near_misses(graph: Graph, phases: Sequence[Indexed], source: Source) -> list[Event]:
    """For each step, the rules that fit it but for one operation or a condition, and why."""
    events = []
    for value in graph.in_order():
        step = graph.steps[value]
        # A rule may stand in several phases.
        rules = {id(rule): rule for phase in phases for rule in phase.of(step.node)}
        for rule in rules.values():
            attempt = Attempt()
            why = ""
            for match in _matches(graph, rule, value, attempt):
                why = why or _refusal(rule, match) or ""
            wanted = rule.pattern.operations()
            if not why and wanted > 2 and attempt.matched >= wanted - 1:
                why = f"{_found(graph, attempt, source)} is not {attempt.wanted}"
            if why:
                name = graph.definition.name
                events.append(Event(rule.name, rule.identity, name, source, (step.span,), why))
    return events


def _found(graph: Graph, attempt: Attempt, source: Source) -> str:
    assert attempt.failed_at is not None
    step = graph.step(attempt.failed_at)
    if step is None:
        return f"`{graph.definition.parameters[attempt.failed_at].name}`"
    text = " ".join(source.slice(step.span).split())
    return f"`{text}`" if len(text) <= 40 else f"`{text[:37]}...`"


def _rewrite_step(
    graph: Graph, value: Value, rules: Sequence[Rule], source: Source
) -> tuple[Event, list[Value]] | None:
    for rule in rules:
        for match in _matches(graph, rule, value, Attempt()):
            if _refusal(rule, match) is not None:
                continue
            replacement = rule.to(match) if callable(rule.to) else rule.to
            if replacement is None:
                continue
            spans = _spans(match)
            touched = _replace(match, rule, replacement)
            if touched is not None:
                name = graph.definition.name
                return Event(rule.name, rule.identity, name, source, spans), touched
    return None


def _matches(graph: Graph, rule: Rule, value: Value, attempt: Attempt) -> Iterator[Match]:
    for bound in rule.pattern.matches(graph, value, NOTHING_BOUND, attempt):
        yield Match(graph, value, bound)


def _refusal(rule: Rule, match: Match) -> str | None:
    """Why a rule may not be applied to a match; None when it may."""
    inside = set(match.bound.inside)
    for value in match.bound.inside:
        if value == match.root or value in match.bound.shared:
            continue
        users = match.graph.users_of(value)
        if value == match.graph.result or not inside.issuperset(users):
            step = match.graph.steps[value]
            return f"`{step.binding or step.owner or 'a part of it'}` is used elsewhere, too"
    return next((why for condition in rule.where if (why := condition(match))), None)


def _spans(match: Match) -> tuple[Span, ...]:
    """The source of all that a match takes in, in the order of the text."""
    spans: set[Span] = set()
    for value in match.bound.inside:
        step = match.graph.steps[value]
        spans.update((step.span,) if step.origin is None else step.origin.spans)
    return tuple(sorted(spans))


def _replace(match: Match, rule: Rule, replacement: Pattern) -> list[Value] | None:
    """Put `replacement` in place of a match; the values to look at again, None when its type would
    be another."""
    graph, root = match.graph, match.root
    old = graph.steps[root]
    builder = _Builder(match, old)
    value = builder.result(replacement, match.result)
    if value is None or not _same_type(match, graph.tensor(value)):
        builder.undo()
        return None
    idiom = rule.note(match) or _inherited(match)
    origin = Origin(idiom, _spans(match)) if idiom else None
    if value in builder.added and value == builder.added[-1]:
        new = graph.steps[value]
        # An item of a tuple has no line of its own: it is named after what is made of it.
        name = old.owner if isinstance(new.node, Project) else None
        binding = old.binding or name
        graph.replace(root, old._replace(node=new.node, origin=origin, binding=binding))
        graph.discard(value)
        return [*_around(graph, builder.added[:-1]), root, *graph.users_of(root)]
    existing = graph.step(value)
    if existing is not None and existing.binding is None and value not in graph.kept:
        # The `let` of what falls away names the same value.
        graph.steps[value] = existing._replace(binding=old.binding, owner=old.owner)
    return [value, *_around(graph, builder.added), *graph.redirect(root, value)]


def _around(graph: Graph, added: list[Value]) -> list[Value]:
    """New steps, each after its operands, which have other users now."""
    return [one for value in added for one in (*graph.steps[value].node.operands, value)]


def _inherited(match: Match) -> Idiom | None:
    """The idiom that a match extends without a word of its own."""
    origins = (match.graph.steps[value].origin for value in match.bound.inside)
    return next((origin.idiom for origin in origins if origin is not None), None)


def _same_type(match: Match, found: TensorType) -> bool:
    return found.dtype is match.result.dtype and match.same_shape(found.shape, match.result.shape)


class _Builder:
    """Adds the steps of a replacement to a graph."""

    def __init__(self, match: Match, old: Step) -> None:
        self.match = match
        self.old = old
        self.added: list[Value] = []

    def undo(self) -> None:
        for value in reversed(self.added):
            self.match.graph.discard(value)

    def result(self, pattern: Pattern, context: TensorType) -> Value | None:
        """The value of a whole replacement: a tensor, whatever uses it."""
        value = self.value(pattern, context)
        is_number = value is not None and isinstance(self.match.graph.node(value), Number)
        return self._as_tensor(value) if value is not None and is_number else value

    def value(self, pattern: Pattern, context: TensorType) -> Value | None:
        """The value of a pattern; a literal gets the dtype of `context`."""
        match pattern:
            case Var(name=name):
                return self.match.value(name)
            case Known(value=known):
                return known
            case Num(name=name):
                return self._number(self.match.value(name))
            case KnownNumber(value=known):
                return self._number(known)
            case Size(dim=dim, power=power):
                return self._add(Number(dim=dim, power=power), TensorType(context.dtype, ()))
            case Literal(value=number, dtype=dtype):
                return self._add(Number(number), TensorType(dtype or context.dtype, ()))
            case Op():
                return self._operation(pattern, context)
            case Item(operand=operand, index=index):
                return self._item(self.value(operand, context), index)
        raise TypeError(f"{pattern} cannot be put in place of anything")

    def _number(self, value: Value) -> Value:
        graph = self.match.graph
        number = number_of(graph, value)
        assert number is not None, "only what is a number can stand for one"
        return self._add(number, TensorType(graph.tensor(value).dtype, ()))

    def _operation(self, pattern: Op, context: TensorType) -> Value | None:
        operands = []
        for operand in pattern.operands:
            value = self.value(operand, context)
            if value is None:
                return None
            operands.append(value)
        attributes: dict[str, AttributeValue] = {}
        for name, value_ in pattern.attributes.items():
            if not isinstance(value_, Attribute):
                attributes[name] = value_
            elif value_.name in self.match.bound.attributes:
                attributes[name] = self.match.attribute(value_.name)
        graph = self.match.graph
        node = Apply(pattern.operation, tuple(operands), attributes)
        found = graph.applied(*node)
        if isinstance(found, Rejection):
            return None
        # A pattern's `Var` may be what is a number where it was matched.
        for index in sorted(needed_as_tensors(graph, node, found)):
            operands[index] = self._as_tensor(operands[index])
        return self._add(node._replace(operands=tuple(operands)), found)

    def _as_tensor(self, value: Value) -> Value:
        graph = self.match.graph
        number = number_of(graph, value)
        assert number is not None, "only a number is to become a tensor"
        type_ = graph.tensor(value)
        if value in self.added and not graph.is_used(value):
            self.added.remove(value)
            graph.discard(value)
        if number.parameter is not None:
            return number.parameter
        made: tuple[Value, ...] = ()
        for operation, attributes in tensor_steps(number, type_.dtype):
            made = (self._add(Apply(operation, made, attributes), type_),)
        return made[0]

    def _item(self, operand: Value | None, index: int) -> Value | None:
        if operand is None:
            return None
        type_ = self.match.graph.type_of(operand)
        assert isinstance(type_, TupleType)
        return self._add(Project(operand, index), type_.items[index])

    def _add(self, node: Node, type_: Type) -> Value:
        old = self.old
        step = Step(node, type_, old.span, None, old.binding or old.owner)
        value = self.match.graph.add(step)
        self.added.append(value)
        return value
