"""Gradients from the reference: central differences of the program computed in F64.

Along a direction u the derivative of L(x) is taken from four points by the formula of fourth
order, (8 (L(x+hu) - L(x-hu)) - (L(x+2hu) - L(x-2hu))) / 12h (Abramowitz and Stegun, 25.3.6).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from p0trans.dtypes import DTYPES, DType
from p0trans.interpret import interpret
from p0trans.ir.program import Apply, Definition, Node, Program, Step
from p0trans.tools.verify_compare import Difference
from p0trans.tools.verify_inputs import Evaluated, flat, given_sizes
from p0trans.tools.verify_subjects import Input, Subject, dtypes_of, leaves_of
from p0trans.types import TensorType, TupleType, Type, tensors

if TYPE_CHECKING:
    from p0trans.interpret.arrays import ArrayValue

Passing: TypeAlias = "Callable[[Step, tuple[ArrayValue, ...]], tuple[ArrayValue, ...]]"

_F32, _F64 = DTYPES["F32"], DTYPES["F64"]
_STEP = 2e-4
_SMOOTH = 1e-6
"""How far the derivatives by two step lengths may differ, relative to their size, where L is
smooth; at a kink, such as that of a maximum, there is no derivative to compare with."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A direction, as an array for each leaf, and the derivative of the reference along it."""

    direction: Mapping[Input, Any]
    derivative: float


def without_gradients(program: Program, subject: Subject) -> str | None:
    """Why a subject has no gradients to hold against F64; None when it has."""
    definition = subject.definition
    found = dtypes_of(program, definition)
    narrow = [dtype.name for dtype in found if dtype.is_float and dtype.precision < _F32.precision]
    if narrow:
        return f"{' and '.join(sorted(narrow))} is too coarse for differences"
    if not any(type_.dtype.is_float for type_ in tensors(definition.result_type)):
        return "the result is not a float"
    if not leaves_of(program, subject):
        return "no input is a float"
    return None


def widened(program: Program) -> Program:
    """The program with every F32 as F64, written dtypes included."""
    return program._replace(
        units=tuple(
            unit._replace(definitions=tuple(map(_widened_definition, unit.definitions)))
            for unit in program.units
        ),
    )


def result_weights(evaluated: Evaluated, seed: str) -> tuple[Any, ...]:
    """Random weights of the results, in whose weighted sum L every element counts."""
    generator = Random(f"{seed} weights")
    return tuple(_random_array(array, generator) for array in flat(evaluated.result))


@dataclass(frozen=True, slots=True)
class Loss:
    """L: the sum of all float results of `definition` times `weights`, of which there is an array
    for each result, at the inputs of `evaluated`. `wide` is the widened program."""

    wide: Program
    definition: Definition
    evaluated: Evaluated
    weights: tuple[Any, ...]

    def inputs(self) -> tuple[ArrayValue, ...]:
        return tuple(map(_as_f64, self.evaluated.inputs))

    def at(
        self, direction: Mapping[Input, Any], distance: float, passing: Passing | None = None
    ) -> float:
        """L where the inputs are moved by `distance` along a direction; `passing` as `interpret`
        has it."""
        called = self.wide.definition(self.definition.reference)
        given = given_sizes(self.definition, self.evaluated.sizes)
        values = tuple(
            _moved(value, (index,), direction, distance)
            for index, value in enumerate(self.inputs())
        )
        results = flat(interpret(self.wide, called, values, given, passing))
        return float(
            sum(
                (array * weight).sum()
                for array, weight in zip(results, self.weights, strict=True)
                if array.dtype.kind == "f"
            )
        )

    def derivative(
        self,
        direction: Mapping[Input, Any],
        passing: Callable[[], Passing | None] = lambda: None,
    ) -> float | None:
        """The derivative of L along a direction, None at a kink; `passing` gives that of each
        evaluation."""
        coarse, fine = (
            (
                8 * (self.at(direction, step, passing()) - self.at(direction, -step, passing()))
                - self.at(direction, 2 * step, passing())
                + self.at(direction, -2 * step, passing())
            )
            / (12 * step)
            for step in (_STEP, _STEP / 2)
        )
        return coarse if abs(coarse - fine) <= _SMOOTH * max(1.0, abs(fine)) else None


def slopes(loss: Loss, leaves: Collection[Input], seed: str) -> tuple[Slope, ...]:
    """The derivatives of L along one random direction for each leaf, and one for all together.

    Directions along which L has a kink are left out.
    """
    generator = Random(f"{seed} directions")
    inputs = loss.inputs()
    whole = {leaf: _random_array(_at(inputs, leaf), generator) for leaf in leaves}
    directions = [{leaf: array} for leaf, array in whole.items()]
    if len(whole) > 1:
        directions.append(whole)
    derivatives = map(loss.derivative, directions)
    return tuple(
        Slope(direction, derivative)
        for direction, derivative in zip(directions, derivatives, strict=True)
        if derivative is not None
    )


def along(gradients: Mapping[Input, Any], slope: Slope) -> float:
    """The derivative along a direction that gradients give: sum(u * g); NaN where one of them is
    not finite."""
    terms = [gradient * u for gradient, u in _pairs(gradients, slope)]
    return math.fsum(terms) if all(map(math.isfinite, terms)) else math.nan


def allowance(gradients: Mapping[Input, Any], slope: Slope, dtype: DType) -> float:
    """What `along` may be off by when each element is within atol + rtol * |g|."""
    return math.fsum(
        abs(u) * (dtype.atol + dtype.rtol * abs(gradient))
        for gradient, u in _pairs(gradients, slope)
    )


def gradient_difference(
    gradients: Mapping[Input, Any], found: Sequence[Slope], dtype: DType
) -> Difference:
    """How far gradients are from the reference along its directions.

    `relative` is of sum(|u * g|), since a derivative along a direction can be 0 by chance.
    """
    absolute = relative = 0.0
    within = True
    for slope in found:
        far = abs(along(gradients, slope) - slope.derivative)
        far = far if math.isfinite(far) else math.inf
        scale = math.fsum(abs(gradient * u) for gradient, u in _pairs(gradients, slope))
        absolute = max(absolute, far)
        share = far / max(scale, abs(slope.derivative)) if far else 0.0
        relative = max(relative, math.inf if math.isnan(share) else share)
        within = within and math.isfinite(far) and far <= allowance(gradients, slope, dtype)
    return Difference(absolute, relative, math.nan, within)


def _pairs(gradients: Mapping[Input, Any], slope: Slope) -> Iterator[tuple[float, float]]:
    for leaf, direction in slope.direction.items():
        wide = gradients[leaf].astype("float64")
        yield from zip(wide.ravel().tolist(), direction.ravel().tolist(), strict=True)


def compared_dtype(program: Program, definition: Definition) -> DType:
    """The dtype whose tolerance gradients are held to: the coarser one that is computed in."""
    return _F32 if _F32 in dtypes_of(program, definition) else _F64


def _random_array(like: Any, generator: Random) -> Any:
    import numpy as np

    elements = [generator.uniform(0.5, 1.5) * generator.choice((-1, 1)) for _ in range(like.size)]
    return np.array(elements).reshape(like.shape)


def _as_f64(value: ArrayValue) -> ArrayValue:
    if isinstance(value, tuple):
        return tuple(map(_as_f64, value))
    return value.astype("float64") if value.dtype.name == "float32" else value


def _at(inputs: Sequence[ArrayValue], leaf: Input) -> Any:
    parameter, path = leaf
    value: Any = inputs[parameter]
    for index in path:
        value = value[index]
    return value


def _moved(
    value: ArrayValue, place: tuple[int, ...], direction: Mapping[Input, Any], distance: float
) -> ArrayValue:
    """A value, `place` being its parameter and path, moved along a direction."""
    if isinstance(value, tuple):
        return tuple(
            _moved(item, (*place, index), direction, distance) for index, item in enumerate(value)
        )
    step = direction.get((place[0], place[1:]))
    return value if step is None else value + distance * step


def _widened_definition(definition: Definition) -> Definition:
    return definition._replace(
        parameters=tuple(
            parameter._replace(type=_widened_type(parameter.type))
            for parameter in definition.parameters
        ),
        result_type=_widened_type(definition.result_type),
        steps=tuple(
            step._replace(type=_widened_type(step.type), node=_widened_node(step.node))
            for step in definition.steps
        ),
    )


def _widened_type(type_: Type) -> Type:
    if isinstance(type_, TensorType):
        return replace(type_, dtype=_F64) if type_.dtype is _F32 else type_
    return TupleType(tuple(map(_widened_type, type_.items)))


def _widened_node(node: Node) -> Node:
    if not isinstance(node, Apply) or _F32 not in node.attributes.values():
        return node
    attributes = {name: _F64 if value is _F32 else value for name, value in node.attributes.items()}
    return node._replace(attributes=attributes)
