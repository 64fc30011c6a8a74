"""A softmax over the queries: the weights of a query do not add up to 1."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(scores: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-2) @ v


def silent() -> tuple[Tensor, ...]:
    return torch.randn(2, 3, 4), torch.randn(2, 4, 5)
