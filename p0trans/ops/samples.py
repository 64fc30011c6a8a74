"""A short way to write the types of samples."""

from __future__ import annotations

from p0trans.dtypes import DTYPES
from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.types import Shape, TensorType

B, D, H, K, N, S = map(variable, "BDHKNS")
TWO_K = constant(2) * K


def shape(*dims: Dim | int) -> Shape:
    return tuple(constant(dim) if isinstance(dim, int) else dim for dim in dims)


def tensor(dtype: str, *dims: Dim | int) -> TensorType:
    """`tensor("F32", B, 1)` is `Tensor[F32, [B, 1]]`."""
    return TensorType(DTYPES[dtype], shape(*dims))


def at_least(dim: Dim, number: int) -> Constraint:
    return Constraint(dim, ">=", constant(number))
