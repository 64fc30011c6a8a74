"""How far a result is from the reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from p0trans.dtypes import DType


@dataclass(frozen=True, slots=True)
class Difference:
    """The largest differences of a result from its reference, over all elements.

    `relative` and `ulp`, units in the last place of the reference, are over the elements whose
    reference is not 0. What is not a float has its whole difference as `ulp`. An element where one
    is NaN or infinite and the other is not differs by infinity. `within` says whether every
    element is within the tolerance of its dtype.
    """

    absolute: float
    relative: float
    ulp: float
    within: bool


NO_DIFFERENCE = Difference(0.0, 0.0, 0.0, True)


def difference(
    found: Sequence[Any], reference: Sequence[Any], dtypes: Sequence[DType]
) -> Difference:
    """The largest differences of several arrays, each from its reference of that dtype."""
    parts = [_of_one(*item) for item in zip(found, reference, dtypes, strict=True)]
    return Difference(
        max((part.absolute for part in parts), default=0.0),
        max((part.relative for part in parts), default=0.0),
        max((part.ulp for part in parts), default=0.0),
        all(part.within for part in parts),
    )


def distance(found: Any, reference: Any) -> Any:
    """|found - reference| by element, in float64; equal infinities and two NaNs differ by 0."""
    import numpy as np

    found, reference = _wide(found), _wide(reference)
    with np.errstate(all="ignore"):
        far = np.abs(found - reference)
    same = (found == reference) | (np.isnan(found) & np.isnan(reference))
    return np.where(same, 0.0, np.where(np.isnan(far), np.inf, far))


def tolerance(reference: Any, dtype: DType) -> Any:
    """What an element may differ by: atol + rtol * |reference|, and nothing from an infinity."""
    import numpy as np

    magnitude = np.abs(_wide(reference))
    return np.where(np.isfinite(magnitude), dtype.atol + dtype.rtol * magnitude, 0.0)


def _of_one(found: Any, reference: Any, dtype: DType) -> Difference:
    import numpy as np

    if not dtype.is_float and not np.array_equal(found, reference):
        # In integers, so that large ones that float64 cannot tell apart do not count as equal.
        unequal = found != reference
        far = np.where(unequal, np.maximum(distance(found, reference), 1.0), 0.0)
    else:
        far = distance(found, reference)
    if not far.any():
        return NO_DIFFERENCE
    counted = _wide(reference) != 0
    with np.errstate(all="ignore"):
        relative = (far / np.abs(_wide(reference)))[counted]
    ulp = (far / _last_place(reference, dtype))[counted] if dtype.is_float else far
    return Difference(
        float(far.max()),
        float(np.where(np.isnan(relative), np.inf, relative).max(initial=0.0)),
        float(ulp.max(initial=0.0)),
        bool((far <= tolerance(reference, dtype)).all()),
    )


def _last_place(reference: Any, dtype: DType) -> Any:
    """One unit in the last place of each element: the gap between numbers of its size."""
    import ml_dtypes
    import numpy as np

    limits: Any = ml_dtypes.finfo
    smallest = float(limits(reference.dtype).smallest_subnormal)
    wide = _wide(reference)
    _, exponent = np.frexp(np.where(np.isfinite(wide), wide, 1.0))
    return np.maximum(np.ldexp(1.0, exponent - dtype.precision), smallest)


def _wide(array: Any) -> Any:
    import numpy as np

    return np.asarray(array).astype(np.float64)
