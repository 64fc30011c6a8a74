"""A boolean mask added to scores: true counts as 1, so that nothing is masked."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(scores: Tensor, masked: Tensor) -> Tensor:
    return torch.softmax(scores + masked, dim=-1)


def silent() -> tuple[Tensor, ...]:
    return torch.randn(2, 4, 4), torch.ones(2, 4, 4, dtype=torch.bool).triu(1)
