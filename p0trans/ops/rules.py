"""What the typing rules of several operations share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from p0trans.dtypes import DTYPES, DType
from p0trans.ops.table import Attributes, Facts, Precedence, Rejection
from p0trans.shapes.dim import Dim
from p0trans.types import Shape, TensorType

Operands: TypeAlias = tuple[TensorType, ...]
Outcome: TypeAlias = TensorType | Rejection
Infer: TypeAlias = Callable[[Operands, Attributes, Facts], Outcome]

BOOL = DTYPES["Bool"]
I64 = DTYPES["I64"]

# How tightly the operand of a spelling such as `{0}.to(…)` or `{0}[…]` has to bind.
RECEIVER = (Precedence.PRIMARY,)

# The classes of dtypes that a rule can ask for, by the words that an error says them in.
_WANTED: Mapping[str, frozenset[DType]] = MappingProxyType(
    {
        "numeric": frozenset(dtype for dtype in DTYPES.values() if dtype.is_numeric),
        "float": frozenset(dtype for dtype in DTYPES.values() if dtype.is_float),
        "integer": frozenset(dtype for dtype in DTYPES.values() if dtype.is_integer),
        "Bool": frozenset({BOOL}),
        "I32 or I64": frozenset({DTYPES["I32"], I64}),
    }
)


def unwanted_dtype(found: DType, wanted: str, operand: int) -> Rejection | None:
    """P0302 when `found`, the dtype of `operand`, is not one of the class `wanted`."""
    if found in _WANTED[wanted]:
        return None
    return Rejection("P0302", operand, facts={"wanted": wanted, "found": found})


def unwanted_dtype_attribute(found: DType, wanted: str, attribute: str) -> Rejection | None:
    """P0302 when `found`, the dtype written as `attribute`, is not one of the class `wanted`."""
    if found in _WANTED[wanted]:
        return None
    return Rejection("P0302", attribute=attribute, facts={"wanted": wanted, "found": found})


def differing_dtype(operands: Sequence[TensorType], first: int = 0) -> Rejection | None:
    """P0301 when the operands from `first` on are not of one dtype."""
    expected = operands[first]
    for index, found in enumerate(operands[first + 1 :], start=first + 1):
        if found.dtype != expected.dtype:
            return Rejection("P0301", index, facts={"expected": expected, "found": found})
    return None


def same_shape(left: Shape, right: Shape, facts: Facts) -> bool:
    return len(left) == len(right) and all(map(facts.equal, left, right))


def broadcast_shape(shapes: Sequence[Shape], facts: Facts) -> Shape | None:
    """The shape that PyTorch broadcasts `shapes` to; None when it is not proved that it can.

    Shapes are aligned at their ends; a dim is the literal 1 or equal to the others in its place.
    """
    longest = max(shapes, key=len)
    result = list(longest)
    for shape in shapes:
        for place, dim in enumerate(shape, start=len(longest) - len(shape)):
            if result[place].as_integer() == 1:
                result[place] = dim
            elif dim.as_integer() != 1 and not facts.equal(dim, result[place]):
                return None
    return tuple(result)


def differing_shape(
    expected: TensorType, found: TensorType, facts: Facts, operand: int
) -> Rejection | None:
    """P0401 when the shape of `operand`, whose type is `found`, is not the expected one."""
    if same_shape(expected.shape, found.shape, facts):
        return None
    return Rejection("P0401", operand, facts={"expected": expected, "found": found})


def wrong_rank(found: TensorType, wanted: int, operand: int) -> Rejection | None:
    """P0408 when `operand` is not of rank `wanted`."""
    if found.rank == wanted:
        return None
    return Rejection("P0408", operand, facts={"wanted": wanted, "found": found})


def differing_other_dim(
    expected: TensorType, found: TensorType, axis: int, facts: Facts, operand: int
) -> Rejection | None:
    """P0407 when two types of one rank differ in a dim other than that of `axis`."""
    for other in range(expected.rank):
        if other != axis and not facts.equal(expected.shape[other], found.shape[other]):
            words = {"axis": other, "expected": expected, "found": found}
            return Rejection("P0407", operand, facts=words)
    return None


def axis_attribute(attributes: Attributes) -> int:
    axis = attributes["axis"]
    assert isinstance(axis, int)
    return axis


def from_end(axis: int, rank: int) -> int:
    """An axis as PyTorch people write it: the last one counted from the end."""
    return -1 if axis == rank - 1 else axis


def dtype_attribute(attributes: Attributes) -> DType:
    dtype = attributes["dtype"]
    assert isinstance(dtype, DType)
    return dtype


def dim_attribute(attributes: Attributes, name: str) -> Dim:
    dim = attributes[name]
    assert isinstance(dim, Dim)
    return dim
