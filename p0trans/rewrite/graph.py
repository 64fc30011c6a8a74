"""A definition while it is rewritten: steps that can be replaced, and who uses each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from p0trans.ir.program import (
    Alias,
    Apply,
    Call,
    Definition,
    Node,
    Number,
    Pack,
    Project,
    Step,
    Value,
)
from p0trans.ir.typing import applied_type
from p0trans.ops.fused import EVERY
from p0trans.ops.table import Attributes, Rejection
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType, Type

_SAME_ELEMENTS = frozenset({"broadcast", "reshape"})


class Graph:
    """The steps of one definition by value. A value keeps its number while others come and go;
    `finished` numbers them anew. `kept` are steps that no rule may take away or look into."""

    def __init__(self, definition: Definition, numbers: frozenset[int], kept: frozenset[Value]):
        self.definition = definition
        self.numbers = numbers
        self.kept = kept
        self.facts = Facts(definition.shape_parameters, (*definition.where, *definition.assume))
        self.steps: dict[Value, Step] = dict(definition.numbered_steps())
        self.users: dict[Value, dict[Value, None]] = {}
        self.result = definition.result
        self._next = len(definition.parameters) + len(definition.steps)
        for value, step in self.steps.items():
            self._use(value, step.node)
        self._drop([value for value in self.steps if not self.is_used(value)])

    def step(self, value: Value) -> Step | None:
        """The step of `value`; None for a parameter."""
        return self.steps.get(value)

    def node(self, value: Value) -> Node | None:
        step = self.steps.get(value)
        return None if step is None else step.node

    def type_of(self, value: Value) -> Type:
        step = self.steps.get(value)
        return self.definition.parameters[value].type if step is None else step.type

    def tensor(self, value: Value) -> TensorType:
        type_ = self.type_of(value)
        assert isinstance(type_, TensorType)
        return type_

    def is_used(self, value: Value) -> bool:
        return value == self.result or bool(self.users.get(value))

    def users_of(self, value: Value) -> tuple[Value, ...]:
        return tuple(self.users.get(value, ()))

    def applied(
        self, operation: str, operands: tuple[Value, ...], attributes: Attributes
    ) -> Type | Rejection:
        """The type that an operation on values of this definition would give."""
        types = tuple(map(self.tensor, operands))
        return applied_type(EVERY[operation], types, attributes, self.facts, True)

    def add(self, step: Step) -> Value:
        """A new step, which nothing uses yet."""
        value = self._next
        self._next += 1
        self.steps[value] = step
        self._use(value, step.node)
        return value

    def discard(self, value: Value) -> None:
        """Take back a step that nothing uses."""
        self._drop([value])

    def replace(self, value: Value, step: Step) -> None:
        """Another step for `value`; what only the old one used is dropped."""
        old = self.steps[value].node.operands
        self.steps[value] = step
        for operand in old:
            self.users[operand].pop(value, None)
        self._use(value, step.node)
        self._drop(old)

    def redirect(self, value: Value, other: Value) -> tuple[Value, ...]:
        """Let everything use `other` in place of `value`, which is dropped; its former users."""
        users = self.users_of(value)
        for user in users:
            step = self.steps[user]
            self.steps[user] = step._replace(node=_with_operand(step.node, value, other))
            self._use(user, self.steps[user].node)
        self.users[value] = {}
        if self.result == value:
            self.result = other
        self._drop([value])
        return users

    def _use(self, user: Value, node: Node) -> None:
        for operand in node.operands:
            self.users.setdefault(operand, {})[user] = None

    def _drop(self, values: Iterable[Value]) -> None:
        pending = list(values)
        while pending:
            value = pending.pop()
            if value not in self.steps or self.is_used(value):
                continue
            step = self.steps.pop(value)
            for operand in step.node.operands:
                self.users[operand].pop(value, None)
            self._pass_on_name(step)
            pending += step.node.operands

    def _pass_on_name(self, dropped: Step) -> None:
        """What was reshaped or broadcast under a name takes that name when it has none."""
        node = dropped.node
        named = dropped.binding is not None
        if not named or not isinstance(node, Apply) or node.operation not in _SAME_ELEMENTS:
            return
        (value,) = node.operands
        step = self.steps.get(value)
        if step is not None and step.binding is None and isinstance(step.node, Apply):
            self.steps[value] = step._replace(binding=dropped.binding, owner=dropped.owner)

    def _is_item(self, value: Value) -> bool:
        """Whether a value is taken out of a tuple that one operation gives."""
        node = self.steps[value].node
        return isinstance(node, Project) and isinstance(self.node(node.operand), Apply)

    def in_order(self) -> Iterator[Value]:
        """The values of the steps, each after its operands, else as the source has them."""
        done = set(range(len(self.definition.parameters)))
        for start in sorted(self.steps):
            pending = [start]
            while pending:
                value = pending[-1]
                if value in done:
                    pending.pop()
                    continue
                open_operands = [v for v in self.steps[value].node.operands if v not in done]
                if open_operands:
                    pending += reversed(open_operands)
                else:
                    done.add(pending.pop())
                    yield value
                    # Next to each other they are one line, `a, b = …`.
                    items = sorted(filter(self._is_item, self.users_of(value)))
                    done.update(items)
                    yield from items

    def finished(self) -> tuple[Definition, Mapping[Value, Value]]:
        """The rewritten definition, and its new number for each value that is left."""
        renumbered = {index: index for index in range(len(self.definition.parameters))}
        steps = []
        for value in self.in_order():
            renumbered[value] = len(renumbered)
            step = self.steps[value]
            steps.append(step._replace(node=_renumbered(step.node, renumbered)))
        definition = self.definition._replace(
            steps=tuple(steps),
            result=renumbered[self.result],
            idiomatic=True,
            numbers=self.numbers,
        )
        return definition, renumbered


def _renumbered(node: Node, numbers: Mapping[Value, Value]) -> Node:
    match node:
        case Apply() | Call() | Pack():
            return node._replace(operands=tuple(numbers[operand] for operand in node.operands))
        case Project():
            return Project(numbers[node.operand], node.index)
        case Alias():
            return Alias(numbers[node.operand])
        case Number():
            return node if node.parameter is None else Number(parameter=numbers[node.parameter])


def _with_operand(node: Node, old: Value, new: Value) -> Node:
    return _renumbered(node, {**{operand: operand for operand in node.operands}, old: new})
