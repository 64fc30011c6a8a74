"""What must hold of the inputs of a definition before it is evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from p0trans.interpret.arrays import numpy_dtype
from p0trans.ir.program import Definition
from p0trans.shapes.dim import Constraint
from p0trans.shapes.solve import Given, Sizes, bind, input_tensors, size_at
from p0trans.types import TensorType, Type

if TYPE_CHECKING:
    from p0trans.interpret.arrays import ArrayValue


class BoundaryError(ValueError):
    """An input, or a number that the inputs give a shape variable, is not what was declared.

    `argument` names the input or the shape variables, `expected` and `found` say what is wrong.
    """

    def __init__(self, argument: str, expected: str, found: str) -> None:
        super().__init__(f"{argument}: expected {expected}, found {found}")
        self.argument = argument
        self.expected = expected
        self.found = found


def bind_inputs(
    definition: Definition, inputs: Sequence[ArrayValue], given: Mapping[str, int]
) -> dict[str, int]:
    """The number of each shape variable.

    Raises BoundaryError when the inputs are not those that `definition` declares: their number,
    dtypes, ranks and dims, shape variables of at least 1, `where` and `assume`.
    """
    parameters = definition.parameters
    if len(inputs) != len(parameters):
        raise BoundaryError(definition.name, f"{len(parameters)} inputs", str(len(inputs)))
    shapes = [
        _sizes(parameter.name, parameter.type, value)
        for parameter, value in zip(parameters, inputs, strict=True)
    ]
    _check_given(definition, given)
    numbers = bind(definition.bindings, shapes, given)
    _check_dims(definition, numbers, shapes)
    for name in definition.shape_parameters:
        if numbers[name] < 1:
            raise BoundaryError(name, f"{name} >= 1", f"{name} = {numbers[name]}")
    for constraint in (*definition.where, *definition.assume):
        check_constraint(constraint, numbers)
    return numbers


def check_constraint(constraint: Constraint, numbers: Mapping[str, int]) -> None:
    """Raises BoundaryError when `constraint` is not true of `numbers`."""
    if not constraint.evaluate(numbers):
        names = sorted(constraint.variables())
        found = ", ".join(f"{name} = {numbers[name]}" for name in names)
        raise BoundaryError(", ".join(names), str(constraint), found)


def _sizes(name: str, type_: Type, value: ArrayValue) -> Sizes:
    """The shape of an input, or those of a tuple's items, once dtypes and ranks are right."""
    if not isinstance(type_, TensorType):
        count = len(type_.items)
        if not isinstance(value, tuple) or len(value) != count:
            raise BoundaryError(name, f"a tuple of {count} values {type_}", _described(value))
        return tuple(
            _sizes(f"{name}[{index}]", item, part)
            for index, (item, part) in enumerate(zip(type_.items, value, strict=True))
        )
    if (
        isinstance(value, tuple)
        or value.dtype != numpy_dtype(type_.dtype)
        or value.ndim != type_.rank
    ):
        raise BoundaryError(name, str(type_), _described(value))
    return value.shape


def _described(value: ArrayValue) -> str:
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    return f"{value.dtype} of shape {list(value.shape)}"


def _check_given(definition: Definition, given: Mapping[str, int]) -> None:
    wanted = [item.variable for item in definition.bindings if isinstance(item, Given)]
    for name in (*wanted, *given):
        if name not in given:
            raise BoundaryError(name, "an integer, since no input has it", "nothing")
        if name not in wanted:
            raise BoundaryError(name, "no such number, since the inputs give it", str(given[name]))


def _check_dims(definition: Definition, numbers: Mapping[str, int], shapes: list[Sizes]) -> None:
    types = [parameter.type for parameter in definition.parameters]
    for tensor in input_tensors(types):
        path = "".join(f"[{index}]" for index in tensor.path)
        sizes = size_at(shapes, tensor.parameter, tensor.path)
        for axis, (dim, found) in enumerate(zip(tensor.type.shape, sizes, strict=True)):
            size = dim.evaluate(numbers)
            if found != size:
                equation = "" if dim.as_integer() is not None else f"{dim} = "
                raise BoundaryError(
                    f"{definition.parameters[tensor.parameter].name}{path}",
                    f"{tensor.type} with {equation}{size} on axis {axis}",
                    f"{found} in {list(sizes)}",
                )
