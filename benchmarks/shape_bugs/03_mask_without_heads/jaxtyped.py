# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Bool, Float
from torch import Tensor


def by_signature(
    scores: Float[Tensor, "B H S S"], mask: Bool[Tensor, "B S S"]
) -> Float[Tensor, "B H S S"]:
    return scores.masked_fill(mask, -1e9)


def by_step(
    scores: Float[Tensor, "B H S S"], mask: Bool[Tensor, "B S S"]
) -> Float[Tensor, "B H S S"]:
    masked = scores.masked_fill(mask, -1e9)
    assert isinstance(masked, Float[Tensor, "B H S S"])
    return masked


def right(
    scores: Float[Tensor, "B H S S"], mask: Bool[Tensor, "B S S"]
) -> Float[Tensor, "B H S S"]:
    return scores.masked_fill(mask.unsqueeze(1), -1e9)
