"""A mask of each sequence on the scores of each head: its batch axis meets the head axis."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, -1e9)


def silent() -> tuple[Tensor, ...]:
    return torch.randn(3, 3, 4, 4), torch.rand(3, 4, 4) < 0.5


def loud() -> tuple[Tensor, ...]:
    return torch.randn(2, 3, 4, 4), torch.rand(2, 4, 4) < 0.5
