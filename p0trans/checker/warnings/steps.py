"""Looking back from a value to the steps that made it."""

from __future__ import annotations

from collections.abc import Collection

from p0trans.ir.program import Alias, Apply, Definition, Value
from p0trans.types import TensorType

RESTORED = ("broadcast", "reshape", "cast")
"""The operations by which what a reduction gave gets the shape and dtype of its operand back."""

# A chain that is longer than this is no idiom: looking back costs the same everywhere.
_FARTHEST = 12


def applied(definition: Definition, value: Value) -> Apply | None:
    """The operation that makes `value`; None for a parameter, a call or a tuple's item."""
    step = definition.step_of(value)
    return step.node if step is not None and isinstance(step.node, Apply) else None


def origin(definition: Definition, value: Value, through: Collection[str] = ()) -> Value:
    """The value behind `value`: behind its other names, and behind operations of `through`."""
    for _ in range(_FARTHEST):
        step = definition.step_of(value)
        if step is None:
            break
        node = step.node
        if isinstance(node, Alias) or (isinstance(node, Apply) and node.operation in through):
            value = node.operands[0]
        else:
            break
    return value


def made_by(
    definition: Definition, value: Value, operations: Collection[str], through: Collection[str] = ()
) -> tuple[Value, Apply] | None:
    """The value behind `value` and the operation that makes it, if it is one of `operations`."""
    behind = origin(definition, value, through)
    node = applied(definition, behind)
    return (behind, node) if node is not None and node.operation in operations else None


def tensor(definition: Definition, value: Value) -> TensorType | None:
    type_ = definition.type_of(value)
    return type_ if isinstance(type_, TensorType) else None


def axis_of(node: Apply) -> int:
    axis = node.attributes["axis"]
    assert isinstance(axis, int)
    return axis


def literal(definition: Definition, value: Value) -> float | int | bool | None:
    """The number that every element of `value` is, when that is a literal, broadcast or not."""
    made = made_by(definition, value, ("const",), RESTORED)
    number = None if made is None else made[1].attributes["value"]
    return number if isinstance(number, bool | int | float) else None
