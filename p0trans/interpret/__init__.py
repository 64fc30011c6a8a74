"""The reference interpreter: what a program means, on NumPy arrays."""

from __future__ import annotations

from p0trans.interpret.arrays import numpy_dtype
from p0trans.interpret.boundary import BoundaryError
from p0trans.interpret.evaluate import interpret

__all__ = ["BoundaryError", "interpret", "numpy_dtype"]
