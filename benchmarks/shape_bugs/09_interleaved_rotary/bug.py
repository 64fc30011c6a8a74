"""Rotary embedding of neighbours where the weights were trained for halves."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x[:, 0::2], x[:, 1::2]
    turned = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.flatten(-2)


def silent() -> tuple[Tensor, ...]:
    angle = torch.arange(4.0)[:, None] * torch.tensor([1.0, 0.1, 0.01])
    return torch.randn(4, 6), angle.cos(), angle.sin()
