# ruff: noqa: N806

"""Heads merged by a reshape alone: each row mixes the heads of other positions."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(x: Tensor) -> Tensor:
    B, H, S, K = x.shape
    return x.reshape(B, S, H * K)


def silent() -> tuple[Tensor, ...]:
    return (torch.randn(2, 3, 4, 5),)
