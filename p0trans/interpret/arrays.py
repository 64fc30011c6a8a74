"""The NumPy side of types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from p0trans.dtypes import DType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    ArrayValue: TypeAlias = NDArray[Any] | tuple["ArrayValue", ...]


def numpy_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype of `dtype`; that of BF16 comes from ml_dtypes."""
    import numpy as np

    if dtype.numpy != "bfloat16":
        return np.dtype(dtype.numpy)
    import ml_dtypes

    bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return bfloat16
