# ruff: noqa: F722, N806

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(x: Float[Tensor, "B H S K"]) -> Float[Tensor, "B S H*K"]:
    B, H, S, K = x.shape
    return x.reshape(B, S, H * K)


def by_step(x: Float[Tensor, "B H S K"]) -> Float[Tensor, "B S H*K"]:
    B, H, S, K = x.shape
    merged = x.reshape(B, S, H * K)
    assert isinstance(merged, Float[Tensor, "B S H*K"])
    return merged


def right(x: Float[Tensor, "B H S K"]) -> Float[Tensor, "B S H*K"]:
    B, H, S, K = x.shape
    return x.transpose(1, 2).reshape(B, S, H * K)
