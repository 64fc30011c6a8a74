"""When two computations of one thing count as equal."""

from __future__ import annotations

import torch
from torch import Tensor

from p0trans.dtypes import DTYPES


def assert_close(found: Tensor, wanted: Tensor) -> None:
    """Equal to the tolerance of F32, taken of the largest number: each is a sum of products that
    may cancel, and its rounding is that of the products."""
    f32 = DTYPES["F32"]
    allowed = f32.atol + f32.rtol * wanted.abs().max().item()
    torch.testing.assert_close(found, wanted, rtol=0.0, atol=allowed)
