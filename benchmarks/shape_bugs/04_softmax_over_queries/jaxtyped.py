# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

import torch
from jaxtyping import Float
from torch import Tensor


def by_signature(
    scores: Float[Tensor, "N Q K"], v: Float[Tensor, "N K D"]
) -> Float[Tensor, "N Q D"]:
    return torch.softmax(scores, dim=-2) @ v


def by_step(scores: Float[Tensor, "N Q K"], v: Float[Tensor, "N K D"]) -> Float[Tensor, "N Q D"]:
    weights = torch.softmax(scores, dim=-2)
    assert isinstance(weights, Float[Tensor, "N Q K"])
    return weights @ v


def right(scores: Float[Tensor, "N Q K"], v: Float[Tensor, "N K D"]) -> Float[Tensor, "N Q D"]:
    return torch.softmax(scores, dim=-1) @ v
