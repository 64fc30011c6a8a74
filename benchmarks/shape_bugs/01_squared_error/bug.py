"""A column of predictions against a vector of targets: every prediction meets every target."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(prediction: Tensor, target: Tensor) -> Tensor:
    difference = prediction - target
    return (difference * difference).mean()


def silent() -> tuple[Tensor, ...]:
    return torch.randn(4, 1), torch.randn(4)
