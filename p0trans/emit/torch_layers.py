"""Layers that torch.nn has: what is emitted of them in place of classes of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from p0trans.emit.notation import number
from p0trans.ir.program import Apply, Definition, Module, Number, State, Step, Value
from p0trans.ops.fused import EVERY
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType


class TorchLayer(NamedTuple):
    """The class `nn.NAME` as a module that takes one input.

    `sizes` are its first arguments, in the shape variables of the module's definition; `numbers`
    the keywords of those parameters that are Python numbers, and `keywords` further arguments.
    `resets` are the states that the source begins otherwise than the class does.
    """

    name: str
    sizes: tuple[Dim, ...]
    numbers: Mapping[int, str]
    keywords: tuple[str, ...]
    resets: tuple[State, ...]


def torch_layer(module: Module, definition: Definition) -> TorchLayer | None:
    """What torch.nn has for `module`, which computes `definition`: one operation on one input and
    the module's own state, under the names that torch.nn gives it."""
    step = _only_step(definition)
    if step is None or module.subs or any(state.kind != "param" for state in module.states):
        return None
    assert isinstance(step.node, Apply)
    operation = EVERY[step.node.operation]
    layer, operands = operation.layer, step.node.operands
    inputs = set(range(len(definition.parameters))) - module.owned
    if layer is None or inputs != {operands[0]}:
        return None
    states = {state.parameter: state for state in module.states}
    count = sum(operand in states for operand in operands)
    if count != len(states) or not 0 < count <= len(layer.states):
        return None
    numbers: dict[int, str] = {}
    keywords = [f"{name}=False" for name in layer.states[count:]]
    resets: list[State] = []
    for index, operand in enumerate(operands[1:]):
        if index < count:
            if operand not in states or definition.parameters[operand].name != layer.states[index]:
                return None
            begins = states[operand].initializer
            if (begins.name, begins.arguments) != layer.initial[index]:
                resets.append(states[operand])
            continue
        keyword = layer.numbers[index - count]
        found = definition.step_of(operand)
        if found is None or not isinstance(found.node, Number):
            return None
        if found.node.parameter is not None:
            numbers[found.node.parameter] = keyword
        elif found.node.is_literal:
            keywords.append(f"{keyword}={number(found.node.value)}")
        else:
            return None
    if numbers.keys() | states.keys() != module.owned:
        return None
    return TorchLayer(
        layer.name,
        layer.sizes(_types(definition, operands)),
        numbers,
        tuple(keywords),
        tuple(resets),
    )


def _only_step(definition: Definition) -> Step | None:
    """The one operation of a rewritten definition, which gives its result."""
    steps = [step for step in definition.steps if not isinstance(step.node, Number)]
    if not definition.idiomatic or len(steps) != 1 or not isinstance(steps[0].node, Apply):
        return None
    return steps[0] if definition.step_of(definition.result) is steps[0] else None


def _types(definition: Definition, operands: tuple[Value, ...]) -> tuple[TensorType, ...]:
    types = map(definition.type_of, operands)
    return tuple(type_ for type_ in types if isinstance(type_, TensorType))
