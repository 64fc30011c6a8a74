"""A weight kept as [output, input], as by `nn.Linear`, multiplied without its transpose."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


def silent() -> tuple[Tensor, ...]:
    return torch.randn(2, 4), torch.randn(4, 4)


def loud() -> tuple[Tensor, ...]:
    return torch.randn(2, 4), torch.randn(3, 4)
