"""Whether a program itself turns rounding into a difference as large as the one that was found.

An operation that rounds does as well as it can when its result is right for operands that are each
off by a rounding (Higham, "Accuracy and Stability of Numerical Algorithms", 1.5). So the reference
is evaluated again with such operands, chosen at random (Parker, "Monte Carlo Arithmetic", 1997):
what then changes as much as an engine is off says nothing against the engine. Subtracting almost
equal numbers, dividing by almost nothing, and comparing what is almost equal do this. An engine's
own numbers are not asked, so that none excuses itself.

Whole numbers stay as they are, as long as the dtype has all of their size: counts, positions and
masks come out the same in every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from p0trans.interpret import interpret
from p0trans.ir.program import Apply, Definition, Program, Step
from p0trans.ops import OPERATIONS
from p0trans.ops.table import no_flops
from p0trans.tools.verify_compare import distance, tolerance
from p0trans.tools.verify_gradients import Loss, Passing, Slope, allowance, along
from p0trans.tools.verify_inputs import Evaluated, flat, given_sizes
from p0trans.tools.verify_subjects import Input
from p0trans.types import TensorType, tensors

if TYPE_CHECKING:
    from p0trans.dtypes import DType
    from p0trans.interpret.arrays import ArrayValue

    _Operand: TypeAlias = Callable[[Any, DType], Any]

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
    for pattern in range(_PATTERNS):
        passing = _passing(_to_neighbours(Random(pattern)))
        try:
            other = flat(interpret(program, definition, evaluated.inputs, given, passing))
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
    loss: Loss, gradients: Mapping[Input, Any], slopes: Sequence[Slope], dtype: DType
) -> bool:
    """Whether the derivatives of the reference move as far as `gradients` are from them, along
    every direction.

    Both what an operation is given and what it hands on of the derivative are off by a rounding
    of `dtype`, since a gradient is rounded on its way back as well.
    """

    def beyond(slope: Slope) -> float:
        return abs(along(gradients, slope) - slope.derivative) - allowance(gradients, slope, dtype)

    # What is not finite is beyond every bound, and explained by nothing.
    left = [slope for slope in slopes if not beyond(slope) <= 0]
    for pattern in range(_PATTERNS):
        left = [
            slope
            for slope in left
            if not beyond(slope) <= _SAFETY * _change(loss, slope, dtype, pattern)
        ]
        if not left:
            return True
    return False


def _change(loss: Loss, slope: Slope, dtype: DType, pattern: int) -> float:
    """How much one choice of roundings changes a derivative; 0 where it leaves none."""
    edges: list[_Edge] = []
    try:
        loss.at({}, 0.0, _passing(_recorded(edges, dtype, Random(pattern))))
        moved = loss.derivative(slope.direction, lambda: _passing(_replayed(iter(edges))))
    except (ArithmeticError, IndexError):
        return 0.0
    return 0.0 if moved is None else abs(moved - slope.derivative)


def _passing(operand: _Operand) -> Passing:
    """Each float operand of an operation that rounds, put through `operand`."""

    def passing(step: Step, operands: tuple[ArrayValue, ...]) -> tuple[ArrayValue, ...]:
        assert isinstance(step.node, Apply)
        if OPERATIONS[step.node.operation].flops is no_flops:
            return operands
        if not isinstance(step.type, TensorType) or not step.type.dtype.is_float:
            return operands
        dtype = step.type.dtype
        return tuple(
            one if isinstance(one, tuple) or one.dtype.kind not in "fV" else operand(one, dtype)
            for one in operands
        )

    return passing


def _to_neighbours(generator: Random) -> _Operand:
    """Each number becomes a neighbour of its dtype, the next lower or the next higher one."""

    def operand(value: Any, dtype: DType) -> Any:
        import numpy as np

        toward = _signs(value.shape, generator) * np.inf
        return np.where(
            _may_move(value, dtype), np.nextafter(value, toward.astype(value.dtype)), value
        )

    return operand


class _Edge(NamedTuple):
    """An operand in F64: its numbers, by how much of themselves these are off and by how much of
    itself the derivative of each is. What is not finite is 0 here and has no error."""

    numbers: Any
    errors: Any
    slope_errors: Any


def _recorded(edges: list[_Edge], dtype: DType, generator: Random) -> _Operand:
    """Each number is off by the unit roundoff of `dtype`; `edges` gets what was done to it."""

    def operand(value: Any, _: DType) -> Any:
        import numpy as np

        finite = np.isfinite(value)
        roundoff = np.where(finite, 2.0**-dtype.precision, 0.0)
        errors = roundoff * _signs(value.shape, generator) * _may_move(value, dtype)
        slope_errors = roundoff * _signs(value.shape, generator)
        edges.append(_Edge(np.where(finite, value, 0.0), errors, slope_errors))
        return _off(value, edges[-1])

    return operand


def _replayed(edges: Iterator[_Edge]) -> _Operand:
    """The same for an operand whose numbers are near those that were recorded."""
    return lambda value, _: _off(value, next(edges))


def _off(value: Any, edge: _Edge) -> Any:
    import numpy as np

    finite = np.where(np.isfinite(value), value, 0.0)
    return value + finite * edge.errors + (finite - edge.numbers) * edge.slope_errors


def _may_move(value: Any, dtype: DType) -> Any:
    """Which numbers a rounding may change: finite ones that are not whole, or not exactly so."""
    import numpy as np

    wide = value.astype(np.float64)
    with np.errstate(invalid="ignore"):
        exact = (wide == np.rint(wide)) & (np.abs(wide) <= 2.0**dtype.precision)
    return np.isfinite(wide) & ~exact


def _signs(shape: tuple[int, ...], generator: Random) -> Any:
    import numpy as np

    count = int(np.prod(shape, dtype=np.int64))
    return np.array([generator.choice((-1.0, 1.0)) for _ in range(count)]).reshape(shape)
