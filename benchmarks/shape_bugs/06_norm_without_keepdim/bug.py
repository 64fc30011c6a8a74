"""Rows divided by the norms of the columns' numbers: the reduced axis was not kept."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(x: Tensor) -> Tensor:
    return x / (x * x).sum(dim=1).sqrt()


def silent() -> tuple[Tensor, ...]:
    return (torch.randn(4, 4),)


def loud() -> tuple[Tensor, ...]:
    return (torch.randn(3, 4),)
