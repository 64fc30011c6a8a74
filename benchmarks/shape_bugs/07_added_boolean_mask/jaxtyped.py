# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor


def by_signature(
    scores: Float[Tensor, "N S S"], masked: Bool[Tensor, "N S S"]
) -> Float[Tensor, "N S S"]:
    return torch.softmax(scores + masked, dim=-1)


def by_step(
    scores: Float[Tensor, "N S S"], masked: Bool[Tensor, "N S S"]
) -> Float[Tensor, "N S S"]:
    kept = scores + masked
    assert isinstance(kept, Float[Tensor, "N S S"])
    return torch.softmax(kept, dim=-1)


def right(scores: Float[Tensor, "N S S"], masked: Bool[Tensor, "N S S"]) -> Float[Tensor, "N S S"]:
    return torch.softmax(scores.masked_fill(masked, -1e9), dim=-1)
