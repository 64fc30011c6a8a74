"""How far an engine may be from the reference on a given program and given inputs.

A tolerance per dtype bounds one operation. On a chain of them the error of one step is carried
through the next, which may amplify it. So each value is computed together with a bound on its
error (running error analysis: Wilkinson 1960; Higham, "Accuracy and Stability of Numerical
Algorithms", 3.3): what a step makes of its operands' errors, found by moving the operands within
them (Monte Carlo arithmetic: Parker 1997), and, when the step computes anything, its own
tolerance. Summation is taken to be backward stable: its operands are moved by a few units in the
last place as well. A step on which engines may honestly differ by much, such as a comparison of
what may be equal, has no bound and raises UnsuitableError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from p0trans.dtypes import DTYPES, DType
from p0trans.interpret import numpy_dtype
from p0trans.ir.program import Apply, Call, Definition, Pack, Program, Project
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeValue, Evaluation, Operation, Site
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType

Numbers: TypeAlias = Mapping[str, int]

_PATTERNS = 6
_SAFETY = 2.0
_LARGEST = 1e4
_MOST_AMPLIFIED = 100.0
_LAST_PLACES = 4.0
_DTYPE_OF = {numpy_dtype(dtype): dtype for dtype in DTYPES.values()}


class UnsuitableError(Exception):
    """A step whose value is not defined, not finite, or not the same on every engine."""


@dataclass(frozen=True, slots=True)
class Approximate:
    """An array and the bound on an engine's error in each element; 0 for other than floats."""

    array: Any
    error: Any

    @property
    def dtype(self) -> DType:
        return _DTYPE_OF[self.array.dtype]


Known: TypeAlias = "Approximate | tuple[Known, ...]"


def exact(array: Any) -> Approximate:
    return Approximate(array, np.zeros(array.shape))


def exactly(value: Any) -> Known:
    """An input, all of whose digits are given."""
    return tuple(map(exactly, value)) if isinstance(value, tuple) else exact(value)


def apply(
    operation: Operation,
    attributes: Mapping[str, AttributeValue],
    types: tuple[TensorType, ...],
    result: TensorType,
    operands: Sequence[Approximate],
    numbers: Numbers,
) -> Approximate:
    """One use of an operation at the sizes `numbers`; raises UnsuitableError."""
    shape = tuple(dim.evaluate(numbers) for dim in result.shape)
    evaluation = Evaluation(
        {name: evaluated(value, numbers) for name, value in attributes.items()},
        numpy_dtype(result.dtype),
        shape,
    )

    def run(arrays: Sequence[Any]) -> Any:
        try:
            found = operation.numpy(np, tuple(arrays), evaluation)
        except (ArithmeticError, IndexError) as error:
            raise UnsuitableError(str(error)) from error
        if result.dtype.is_float and not np.isfinite(found.astype(np.float64)).all():
            raise UnsuitableError("not finite")
        return found

    if not result.dtype.is_float:
        _require_in_range(operands, result.dtype)
    arrays = [operand.array for operand in operands]
    value = run(arrays)
    assert value.shape == shape, f"{operation.name} gave {value.shape} where {shape} was proved"
    computes = operation.flops(Site(types, attributes, result)).as_integer() != 0
    error = np.zeros(shape)
    for index, operand in enumerate(operands):
        radius = operand.error
        if computes and result.dtype.is_float and operand.dtype.is_float:
            unit = 2.0**-operand.dtype.precision
            radius = radius + _LAST_PLACES * unit * np.abs(operand.array.astype(np.float64))
        if not radius.any():
            continue
        carried = np.zeros(shape)
        for moved in _moved(operand, radius, index):
            other = run([*arrays[:index], moved, *arrays[index + 1 :]])
            if not result.dtype.is_float and (other != value).any():
                raise UnsuitableError("engines may decide otherwise")
            difference = np.abs(other.astype(np.float64) - value.astype(np.float64))
            carried = np.maximum(carried, difference)
        error = error + _SAFETY * carried
    return _judged(value, result.dtype, error, computes)


def _judged(value: Any, dtype: DType, error: Any, computes: bool) -> Approximate:
    if not dtype.is_float:
        if dtype.is_integer and (value == np.iinfo(value.dtype).min).any() and dtype.name != "U8":
            raise UnsuitableError("the lowest integer has no negative and no quotient by -1")
        return Approximate(value, np.zeros(value.shape))
    magnitude = np.abs(value.astype(np.float64))
    own = dtype.atol + dtype.rtol * magnitude
    total = error + own if computes else error
    if (magnitude > _LARGEST).any() or (total > _MOST_AMPLIFIED * own).any():
        raise UnsuitableError("too large or too imprecise")
    return Approximate(value, total)


def _moved(operand: Approximate, radius: Any, seed: int) -> list[Any]:
    """`operand` at corners of the box of its errors."""
    generator = np.random.default_rng(seed)
    signs = [1.0, -1.0]
    signs += [generator.choice((-1.0, 1.0), radius.shape) for _ in range(_PATTERNS)]
    center = operand.array.astype(np.float64)
    return [(center + sign * radius).astype(operand.array.dtype) for sign in signs]


def _require_in_range(operands: Sequence[Approximate], dtype: DType) -> None:
    """A float that an integer dtype cannot hold becomes an unspecified number."""
    if not dtype.is_integer:
        return
    limits = np.iinfo(numpy_dtype(dtype))
    for operand in operands:
        if operand.dtype.is_float:
            array = operand.array.astype(np.float64)
            if (array <= limits.min - 1).any() or (array >= limits.max).any():
                raise UnsuitableError("out of range")


def evaluated(value: Any, numbers: Numbers) -> Any:
    """An attribute with every dim evaluated."""
    if isinstance(value, Dim):
        return value.evaluate(numbers)
    if isinstance(value, tuple):
        return tuple(evaluated(item, numbers) for item in value)
    return value


def run(
    program: Program, definition: Definition, numbers: Numbers, inputs: Sequence[Known]
) -> Known:
    """The result of `definition` at the sizes `numbers`; raises UnsuitableError.

    It is also UnsuitableError when the numbers break a `where` or an `assume`.
    """
    if min(numbers.values(), default=1) < 1 or not all(
        constraint.evaluate(numbers) for constraint in (*definition.where, *definition.assume)
    ):
        raise UnsuitableError("sizes that break a constraint")
    values: list[Known] = list(inputs)
    for step in definition.steps:
        node = step.node
        operands = [values[operand] for operand in node.operands]
        match node:
            case Apply():
                assert isinstance(step.type, TensorType)
                tensors = [operand for operand in operands if isinstance(operand, Approximate)]
                types = tuple(
                    type_
                    for operand in node.operands
                    if isinstance(type_ := definition.type_of(operand), TensorType)
                )
                operation = OPERATIONS[node.operation]
                found: Known = apply(operation, node.attributes, types, step.type, tensors, numbers)
            case Call():
                called = program.definition(node.definition)
                sizes = [dim.evaluate(numbers) for dim in node.shape_arguments]
                inner = dict(zip(called.shape_parameters, sizes, strict=True))
                found = run(program, called, inner, operands)
            case Pack():
                found = tuple(operands)
            case Project():
                whole = operands[0]
                assert isinstance(whole, tuple)
                found = whole[node.index]
            case _:
                found = operands[0]
        values.append(found)
    return values[definition.result]


def assert_within(found: Any, known: Known, what: str) -> None:
    """`found`, an engine's result as NumPy arrays, is `known` up to its error bounds."""
    if isinstance(known, tuple):
        assert isinstance(found, tuple), f"{what}: not a tuple"
        assert len(found) == len(known), f"{what}: another number of results"
        for one, other in zip(found, known, strict=True):
            assert_within(one, other, what)
        return
    assert found.dtype == known.array.dtype, f"{what}: {found.dtype} for {known.array.dtype}"
    assert found.shape == known.array.shape, f"{what}: {found.shape} for {known.array.shape}"
    if known.dtype.is_float:
        far = np.abs(found.astype(np.float64) - known.array.astype(np.float64))
        wrong = ~(far <= known.error)
    else:
        wrong = found != known.array
    assert (
        not wrong.any()
    ), f"{what}: {found[wrong][0]} is not {known.array[wrong][0]} within {known.error[wrong][0]}"
