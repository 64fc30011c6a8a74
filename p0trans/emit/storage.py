"""What decides whether a local takes the place of another."""

from __future__ import annotations

from collections import Counter

from p0trans.ir.program import Definition
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType, Type, tensors


def is_large(definition: Definition, type_: Type) -> bool:
    """Whether a tensor may be larger than every input and the result."""
    if not isinstance(type_, TensorType):
        return False
    dims = Counter(dim for dim in type_.shape if dim.as_integer() != 1)
    types = (*(parameter.type for parameter in definition.parameters), definition.result_type)
    others = [tensor.shape for other in types for tensor in tensors(other)]
    if any(not dims - Counter(shape) for shape in others):
        return False
    facts = Facts(definition.shape_parameters, (*definition.where, *definition.assume))
    return not any(facts.equal_volume(type_.shape, shape) for shape in others)


def structure(type_: Type) -> object:
    """What decides whether a Python variable may hold values of both types."""
    if isinstance(type_, TensorType):
        return None
    return tuple(map(structure, type_.items))
