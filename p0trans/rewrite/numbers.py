"""The scalars that emitted code has as Python numbers, and where they may stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from p0trans.dtypes import DType
from p0trans.ir.program import Apply, Number, Value
from p0trans.ops.fused import EVERY, FUSED
from p0trans.ops.table import Attributes, Site
from p0trans.rewrite.graph import Graph
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType, Type

# What is written as a function of a size, and the power of it that this is.
_POWERS: Mapping[str, float] = {"sqrt": 0.5, "rsqrt": -0.5, "reciprocal": -1.0}


def number_of(graph: Graph, value: Value) -> Number | None:
    """The Python number that emitted code can have for `value`; None when it is a tensor."""
    node = graph.node(value)
    if node is None:
        return Number(parameter=value) if value in graph.numbers else None
    if isinstance(node, Number):
        return node
    if isinstance(node, Apply) and node.operation == "const":
        literal = node.attributes["value"]
        assert isinstance(literal, float | int)
        return Number(literal)
    return _size(graph, value)


def literal_of(graph: Graph, value: Value) -> float | None:
    """The number that `value` is in every call; None when it is none."""
    number = number_of(graph, value)
    return float(number.value) if number is not None and number.is_literal else None


def _size(graph: Graph, value: Value) -> Number | None:
    """A size, or a root or the reciprocal of one, unless the dtype has too few bits for it."""
    power = 1.0
    found = graph.node(value)
    if isinstance(found, Apply) and found.operation in _POWERS:
        power = _POWERS[found.operation]
        found = graph.node(found.operands[0])
    if not isinstance(found, Apply) or found.operation != "size":
        return None
    size = found.attributes["size"]
    assert isinstance(size, Dim)
    return Number(dim=size, power=power) if graph.tensor(value).dtype.bits >= 32 else None


def taken_as_numbers(graph: Graph, node: Apply, result: Type) -> tuple[int, ...]:
    """The operands that PyTorch takes as Python numbers, too."""
    if not isinstance(result, TensorType):
        return ()
    site = Site(tuple(map(graph.tensor, node.operands)), node.attributes, result)
    return EVERY[node.operation].numbers(site)


def has_tensor(graph: Graph, node: Apply, numbers: Collection[int]) -> bool:
    """Whether `numbers`, of one dtype, leave a tensor of that dtype among the operands."""
    dtype = graph.tensor(node.operands[min(numbers)]).dtype
    return any(
        graph.tensor(operand).dtype is dtype
        for index, operand in enumerate(node.operands)
        if index not in numbers
    )


def needed_as_tensors(graph: Graph, node: Apply, result: Type) -> frozenset[int]:
    """The operands that are Python numbers where PyTorch takes none, and the first of those that
    leave no tensor of their dtype: two numbers would make a third one."""
    numbers = [i for i, one in enumerate(node.operands) if isinstance(graph.node(one), Number)]
    taken = taken_as_numbers(graph, node, result)
    needed = {index for index in numbers if index not in taken}
    left = [index for index in numbers if index in taken]
    if left and node.operation not in FUSED and not has_tensor(graph, node, left):
        needed.add(left[0])
    return frozenset(needed)


def tensor_steps(number: Number, dtype: DType) -> Iterator[tuple[str, Attributes]]:
    """The operations, each on the one before, that make a tensor of a literal or of a size: what
    `number_of` takes for that number."""
    if number.dim is None:
        yield "const", {"value": number.value, "dtype": dtype}
        return
    yield "size", {"dtype": dtype, "size": number.dim}
    for function, power in _POWERS.items():
        if power == number.power:
            yield function, {}
