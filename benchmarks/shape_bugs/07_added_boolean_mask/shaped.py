# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

import torch
from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("N, S")
def by_signature(
    scores: Shaped[Tensor, "[N, S, S]"], masked: Shaped[Tensor, "[N, S, S]"]
) -> Shaped[Tensor, "[N, S, S]"]:
    return torch.softmax(scores + masked, dim=-1)


@shape_vars("N, S")
def by_step(
    scores: Shaped[Tensor, "[N, S, S]"], masked: Shaped[Tensor, "[N, S, S]"]
) -> Shaped[Tensor, "[N, S, S]"]:
    kept: Shaped[Tensor, "[N, S, S]"] = scores + masked
    return torch.softmax(kept, dim=-1)


@shape_vars("N, S")
def right(
    scores: Shaped[Tensor, "[N, S, S]"], masked: Shaped[Tensor, "[N, S, S]"]
) -> Shaped[Tensor, "[N, S, S]"]:
    return torch.softmax(scores.masked_fill(masked, -1e9), dim=-1)
