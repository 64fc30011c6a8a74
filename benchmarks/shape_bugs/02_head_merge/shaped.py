# ruff: noqa: F821, N806, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, H, S, K")
def by_signature(x: Shaped[Tensor, "[B, H, S, K]"]) -> Shaped[Tensor, "[B, S, H * K]"]:
    B, H, S, K = x.shape
    return x.reshape(B, S, H * K)


@shape_vars("B, H, S, K")
def by_step(x: Shaped[Tensor, "[B, H, S, K]"]) -> Shaped[Tensor, "[B, S, H * K]"]:
    B, H, S, K = x.shape
    merged: Shaped[Tensor, "[B, S, H * K]"] = x.reshape(B, S, H * K)
    return merged


@shape_vars("B, H, S, K")
def right(x: Shaped[Tensor, "[B, H, S, K]"]) -> Shaped[Tensor, "[B, S, H * K]"]:
    B, H, S, K = x.shape
    return x.transpose(1, 2).reshape(B, S, H * K)
