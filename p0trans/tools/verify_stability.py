"""Whether a program itself turns rounding into a difference as large as the one that was found.

An input that is moved to the neighbouring number of its dtype is as good as the input. What then
changes as much as an engine is off says nothing against the engine: subtracting almost equal
numbers, dividing by almost nothing, and comparing what is almost equal do this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any

from p0trans.interpret import interpret
from p0trans.ir.program import Definition, Program
from p0trans.tools.verify_compare import distance, tolerance
from p0trans.tools.verify_gradients import Slope, allowance, along
from p0trans.tools.verify_inputs import Evaluated, flat, given_sizes
from p0trans.tools.verify_subjects import Input
from p0trans.types import tensors

if TYPE_CHECKING:
    from p0trans.dtypes import DType
    from p0trans.interpret.arrays import ArrayValue

_PATTERNS = 8
_SAFETY = 4.0


def explains_values(
    program: Program, definition: Definition, evaluated: Evaluated, results: Sequence[Any]
) -> bool:
    """Whether the reference moves as far as `results` are from it, in every element."""
    import numpy as np

    given = given_sizes(definition, evaluated.sizes)
    wanted = list(flat(evaluated.result))
    spread = [np.zeros(array.shape) for array in wanted]
    for moved in _moved(evaluated):
        try:
            other = flat(interpret(program, definition, moved.inputs, given))
        except (ArithmeticError, IndexError):
            continue
        spread = [
            np.maximum(most, distance(one, reference))
            for most, one, reference in zip(spread, other, wanted, strict=True)
        ]
    return all(
        bool((distance(one, other) <= tolerance(other, type_.dtype) + _SAFETY * most).all())
        for one, other, type_, most in zip(
            results, wanted, tensors(definition.result_type), spread, strict=True
        )
    )


def explains_gradients(
    gradients_at: Callable[[Evaluated], Mapping[Input, Any]],
    evaluated: Evaluated,
    slopes: Sequence[Slope],
    dtype: DType,
) -> bool:
    """Whether an engine's own gradients move as far as they are off, along every direction.

    The reference has no rounding to show in F64; that of the engine shows in its own numbers.
    """
    gradients = gradients_at(evaluated)
    others = [gradients_at(moved) for moved in _moved(evaluated)]
    return all(
        abs(along(gradients, slope) - slope.derivative)
        <= allowance(gradients, slope, dtype)
        + _SAFETY * max(abs(along(other, slope) - along(gradients, slope)) for other in others)
        for slope in slopes
    )


def _moved(evaluated: Evaluated) -> Iterator[Evaluated]:
    for pattern in range(_PATTERNS):
        generator = Random(pattern)
        inputs = tuple(_neighbour(value, generator) for value in evaluated.inputs)
        yield replace(evaluated, inputs=inputs)


def _neighbour(value: ArrayValue, generator: Random) -> ArrayValue:
    """A value with each float moved to a neighbour of its dtype, up or down at random."""
    import numpy as np

    if isinstance(value, tuple):
        return tuple(_neighbour(item, generator) for item in value)
    if value.dtype.kind not in "fV":
        return value
    ends = [generator.choice((-np.inf, np.inf)) for _ in range(value.size)]
    toward = np.array(ends).reshape(value.shape).astype(value.dtype)
    neighbours: ArrayValue = np.nextafter(value, toward)
    return neighbours
