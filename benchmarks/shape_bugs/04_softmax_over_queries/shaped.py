# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

import torch
from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("N, Q, K, D")
def by_signature(
    scores: Shaped[Tensor, "[N, Q, K]"], v: Shaped[Tensor, "[N, K, D]"]
) -> Shaped[Tensor, "[N, Q, D]"]:
    return torch.softmax(scores, dim=-2) @ v


@shape_vars("N, Q, K, D")
def by_step(
    scores: Shaped[Tensor, "[N, Q, K]"], v: Shaped[Tensor, "[N, K, D]"]
) -> Shaped[Tensor, "[N, Q, D]"]:
    weights: Shaped[Tensor, "[N, Q, K]"] = torch.softmax(scores, dim=-2)
    return weights @ v


@shape_vars("N, Q, K, D")
def right(
    scores: Shaped[Tensor, "[N, Q, K]"], v: Shaped[Tensor, "[N, K, D]"]
) -> Shaped[Tensor, "[N, Q, D]"]:
    return torch.softmax(scores, dim=-1) @ v
