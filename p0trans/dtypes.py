"""The dtypes: their Phase 0, PyTorch, NumPy and jaxtyping names, their size and their kind.

Their tolerances, by which every comparison of two engines is judged, stand here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class DType:
    """One element type.

    `bits` is the size of an element in memory; `precision` a float's significand bits.
    `rtol` and `atol` bound |engine - reference| <= atol + rtol * |reference|.
    """

    name: str
    kind: str  # "float", "integer" or "bool"
    bits: int
    torch: str
    numpy: str
    jaxtyping: str
    rtol: float = 0.0
    atol: float = 0.0
    precision: int = 0

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def is_float(self) -> bool:
        return self.kind == "float"

    @property
    def is_integer(self) -> bool:
        return self.kind == "integer"

    @property
    def is_numeric(self) -> bool:
        return self.kind != "bool"

    def __str__(self) -> str:
        return self.name


_DTYPES = (
    DType("F16", "float", 16, "float16", "float16", "Float16", 2e-3, 1e-3, 11),
    DType("BF16", "float", 16, "bfloat16", "bfloat16", "BFloat16", 1.6e-2, 1e-2, 8),
    DType("F32", "float", 32, "float32", "float32", "Float32", 1e-5, 1e-6, 24),
    DType("F64", "float", 64, "float64", "float64", "Float64", 1e-10, 1e-12, 53),
    DType("I8", "integer", 8, "int8", "int8", "Int8"),
    DType("I16", "integer", 16, "int16", "int16", "Int16"),
    DType("I32", "integer", 32, "int32", "int32", "Int32"),
    DType("I64", "integer", 64, "int64", "int64", "Int64"),
    DType("U8", "integer", 8, "uint8", "uint8", "UInt8"),
    DType("Bool", "bool", 8, "bool", "bool", "Bool"),
)

DTYPES: Mapping[str, DType] = MappingProxyType({dtype.name: dtype for dtype in _DTYPES})
