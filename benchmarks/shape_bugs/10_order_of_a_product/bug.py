# ruff: noqa: N806

"""A mask repeated head by head for scores that are flattened batch by batch."""

from __future__ import annotations

import torch
from torch import Tensor


def bug(scores: Tensor, bias: Tensor) -> Tensor:
    B, H, S, _ = scores.shape
    return scores.reshape(B * H, S, S) + bias.repeat(H, 1, 1)


def silent() -> tuple[Tensor, ...]:
    return torch.randn(2, 3, 4, 4), torch.randn(2, 4, 4)
