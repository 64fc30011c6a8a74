"""The type that an operation gives inside a definition, where operands may be broadcast."""

from __future__ import annotations

from p0trans.ops.rules import broadcast_shape
from p0trans.ops.table import Attributes, Facts, Operation, Rejection
from p0trans.types import TensorType, TupleType, Type


def applied_type(
    operation: Operation,
    operands: tuple[TensorType, ...],
    attributes: Attributes,
    facts: Facts,
    idiomatic: bool,
) -> Type | Rejection:
    """The result's type. In an idiomatic definition the operands of an elementwise operation are
    first broadcast to one shape."""
    if idiomatic and operation.family == "elementwise" and len(operands) > 1:
        shape = broadcast_shape([operand.shape for operand in operands], facts)
        if shape is not None:
            operands = tuple(TensorType(operand.dtype, shape) for operand in operands)
    outcome = operation.infer(operands, attributes, facts)
    if operation.parts is None or isinstance(outcome, Rejection):
        return outcome
    return TupleType(operation.parts(outcome, attributes))
