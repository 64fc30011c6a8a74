"""The types of values: a dtype with a shape, or a tuple of types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from p0trans.dtypes import DType
from p0trans.shapes.dim import Dim

Shape: TypeAlias = tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class TensorType:
    dtype: DType
    shape: Shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    def __str__(self) -> str:
        return f"Tensor[{self.dtype}, {shape_text(self.shape)}]"

    def substitute(self, replacements: Mapping[str, Dim]) -> TensorType:
        return TensorType(self.dtype, tuple(dim.substitute(replacements) for dim in self.shape))


@dataclass(frozen=True, slots=True)
class TupleType:
    items: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.items))})"

    def substitute(self, replacements: Mapping[str, Dim]) -> TupleType:
        return TupleType(tuple(item.substitute(replacements) for item in self.items))


Type: TypeAlias = TensorType | TupleType


def tensors(type_: Type) -> Iterator[TensorType]:
    """The tensor types in a type, in order."""
    pending = [type_]
    while pending:
        one = pending.pop()
        if isinstance(one, TensorType):
            yield one
        else:
            pending.extend(reversed(one.items))


def shape_text(shape: Shape) -> str:
    """`[B, S, 2*K]`."""
    return f"[{', '.join(map(str, shape))}]"
