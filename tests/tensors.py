"""Random tensors of any dtype, and the way between torch and NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import torch

from p0trans.dtypes import DType


def random_tensor(dtype: DType, shape: Sequence[int]) -> torch.Tensor:
    """Standard normal floats, small integers of either sign, fair truth values."""
    kind = getattr(torch, dtype.torch)
    if dtype.is_float:
        return torch.randn(*shape).to(kind)
    if dtype.kind == "bool":
        return torch.rand(*shape) < 0.5
    return torch.randint(0 if dtype.name == "U8" else -5, 6, tuple(shape)).to(kind)


def to_numpy(value: torch.Tensor) -> Any:
    """A copy as a NumPy array; BF16 as ml_dtypes' bfloat16."""
    if value.dtype is torch.bfloat16:
        return value.view(torch.int16).numpy().copy().view(ml_dtypes.bfloat16)
    return value.numpy().copy()


def to_torch(array: Any) -> torch.Tensor:
    array = np.array(array, order="C")
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
