"""The arithmetic of the NumPy meanings.

Every float result is computed in float64 from the operands' exact values and then rounded once
to the result's dtype (to nearest, ties to even). For `+ - * /` and `sqrt` of F16, BF16 and F32
that is the correctly rounded result, since float64 has more than twice their significand bits
and two more (Figueroa, "When is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995).
Sums and products over an axis have no such guarantee, yet are closer to the exact value than
those of an engine that accumulates in the dtype itself. Integers are computed in their own dtype
and wrap around as two's complement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from p0trans.ops.table import Evaluation

Meaning: TypeAlias = Callable[[Any, tuple[Any, ...], Evaluation], Any]

# NumPy knows bfloat16, which ml_dtypes adds to it, only as raw data.
_FLOAT_KINDS = "fV"


def widened(np: Any, array: Any) -> Any:
    """`array` in float64 when it holds floats, else as it is."""
    return array.astype(np.float64) if array.dtype.kind in _FLOAT_KINDS else array


def rounded(np: Any, array: Any, dtype: Any) -> Any:
    """`array` in `dtype`, floats rounded once."""
    array = np.asarray(array)
    if dtype.kind == "V" and array.dtype == np.float64:
        array = _to_odd(np, array)
    return array.astype(dtype, copy=False)


def _to_odd(np: Any, array: Any) -> Any:
    """float64 to float32 by truncation, with the last bit set where that was inexact.

    ml_dtypes goes from float64 to bfloat16 by way of float32, which rounds twice. Rounding to odd
    in between lets the second rounding see on which side of a tie the value was (Boldo and
    Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008).
    """
    near = array.astype(np.float32)
    beyond = np.abs(near) > np.abs(array)
    cut = np.where(beyond, np.nextafter(near, np.float32(0)), near)
    odd = (cut.view(np.uint32) | np.uint32(1)).view(np.float32)
    return np.where((cut == array) | np.isnan(array), cut, odd)


def computed(function: Callable[..., Any]) -> Meaning:
    """The meaning that `function(np, *widened operands)` has once rounded."""

    def meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
        with np.errstate(all="ignore"):
            result = function(np, *(widened(np, operand) for operand in operands))
            return rounded(np, result, evaluation.dtype)

    return meaning


def computed_along_axis(function: Callable[..., Any]) -> Meaning:
    """As `computed`, for `function(np, widened operand, evaluation)`."""

    def meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
        with np.errstate(all="ignore"):
            result = function(np, widened(np, operands[0]), evaluation)
            return rounded(np, result, evaluation.dtype)

    return meaning
