# ruff: noqa: F722, N806

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(
    scores: Float[Tensor, "B H S S"], bias: Float[Tensor, "B S S"]
) -> Float[Tensor, "B*H S S"]:
    B, H, S, _ = scores.shape
    return scores.reshape(B * H, S, S) + bias.repeat(H, 1, 1)


def by_step(
    scores: Float[Tensor, "B H S S"], bias: Float[Tensor, "B S S"]
) -> Float[Tensor, "B*H S S"]:
    B, H, S, _ = scores.shape
    flat = scores.reshape(B * H, S, S)
    assert isinstance(flat, Float[Tensor, "B*H S S"])
    repeated = bias.repeat(H, 1, 1)
    assert isinstance(repeated, Float[Tensor, "H*B S S"])
    return flat + repeated


def right(
    scores: Float[Tensor, "B H S S"], bias: Float[Tensor, "B S S"]
) -> Float[Tensor, "B*H S S"]:
    B, H, S, _ = scores.shape
    return scores.reshape(B * H, S, S) + bias.repeat_interleave(H, dim=0)
