"""Keys of groups tiled, where the query heads of one group stand side by side."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(q: Tensor, k: Tensor) -> Tensor:
    repeats = q.shape[1] // k.shape[1]
    return q @ k.repeat(1, repeats, 1, 1).transpose(2, 3)


def silent() -> tuple[Tensor, ...]:
    return torch.randn(2, 6, 4, 5), torch.randn(2, 2, 4, 5)
