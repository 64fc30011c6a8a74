"""Inputs that suit a definition: ids that are in range, numbers on which its value is finite."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, TypeAlias

from p0trans.interpret import interpret, numpy_dtype
from p0trans.ir.program import Apply, Call, Definition, Pack, Program, Project, Reference
from p0trans.ops import OPERATIONS
from p0trans.shapes.dim import Dim
from p0trans.shapes.solve import Given, input_tensors
from p0trans.tools.verify_subjects import Input
from p0trans.types import TensorType, Type

if TYPE_CHECKING:
    import numpy as np

    from p0trans.interpret.arrays import ArrayValue

Path: TypeAlias = tuple[int, ...]
Sources: TypeAlias = Mapping[Path, frozenset[Input]]
Limits: TypeAlias = Mapping[Input, tuple[Dim, ...]]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Values of all parameters of a definition at some sizes, and its result in the reference."""

    sizes: Mapping[str, int]
    inputs: tuple[ArrayValue, ...]
    result: ArrayValue


@dataclass(frozen=True, slots=True)
class _Recipe:
    """The ranges, ends included, that floats and integers are drawn from, and how often a Bool is
    true."""

    floats: tuple[float, float]
    integers: tuple[int, int]
    true: float = 0.5


# Later ones suit what is harder to please: masks that have to leave something, logarithms,
# divisors, ids that are computed.
_RECIPES = (
    _Recipe((-1.0, 1.0), (-4, 4)),
    _Recipe((-1.0, 1.0), (-4, 4), 0.9),
    _Recipe((-1.0, 1.0), (-4, 4), 1.0),
    _Recipe((0.5, 2.0), (1, 4)),
    _Recipe((0.5, 2.0), (0, 1)),
    _Recipe((0.0, 0.0), (0, 0)),
)


def evaluate_at(
    program: Program,
    definition: Definition,
    sizes: Mapping[str, int],
    fixed: Mapping[int, float | int | bool],
    seed: str,
) -> Evaluated:
    """Random inputs at `sizes` and what the reference makes of them.

    `fixed` are the parameters that have a number already. The first kind of inputs on which the
    result is finite is taken; without one, the first on which there is a result. Raises
    ArithmeticError or IndexError when there is none.
    """
    import numpy as np

    limits = index_limits(program)[definition.reference]
    given = given_sizes(definition, sizes)
    fallback: Evaluated | None = None
    trouble: Exception | None = None
    for recipe in _RECIPES:
        inputs = tuple(
            (
                np.asarray(fixed[index]).astype(_dtype_of(parameter.type))
                if index in fixed
                else _drawn(parameter.type, index, sizes, limits, recipe, Random(f"{seed} {index}"))
            )
            for index, parameter in enumerate(definition.parameters)
        )
        try:
            result = interpret(program, definition, inputs, given)
        except (ArithmeticError, IndexError) as error:
            trouble = trouble or error
            continue
        evaluated = Evaluated(sizes, inputs, result)
        if all(np.isfinite(array.astype(np.float64)).all() for array in flat(result)):
            return evaluated
        fallback = fallback or evaluated
    if fallback is None:
        assert trouble is not None
        raise trouble
    return fallback


def given_sizes(definition: Definition, sizes: Mapping[str, int]) -> Mapping[str, int]:
    """The sizes that no input of the definition determines."""
    names = (binding.variable for binding in definition.bindings if isinstance(binding, Given))
    return {name: sizes[name] for name in names}


def flat(value: Any) -> Iterator[Any]:
    """The arrays, or tensors, in a value, in order."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, tuple):
            pending.extend(reversed(one))
        else:
            yield one


def _dtype_of(type_: Type) -> np.dtype[Any]:
    assert isinstance(type_, TensorType)
    return numpy_dtype(type_.dtype)


def _drawn(
    type_: Type,
    parameter: int,
    sizes: Mapping[str, int],
    limits: Limits,
    recipe: _Recipe,
    generator: Random,
    path: Path = (),
) -> ArrayValue:
    import numpy as np

    if not isinstance(type_, TensorType):
        return tuple(
            _drawn(item, parameter, sizes, limits, recipe, generator, (*path, index))
            for index, item in enumerate(type_.items)
        )
    shape = tuple(dim.evaluate(sizes) for dim in type_.shape)
    draw = _draw_element(type_, sizes, limits.get((parameter, path), ()), recipe, generator)
    elements = [draw() for _ in range(int(np.prod(shape, dtype=np.int64)))]
    return np.array(elements).astype(numpy_dtype(type_.dtype)).reshape(shape)


def _draw_element(
    type_: TensorType,
    sizes: Mapping[str, int],
    limits: Sequence[Dim],
    recipe: _Recipe,
    generator: Random,
) -> Callable[[], float | int | bool]:
    if type_.dtype.is_float:
        return lambda: generator.uniform(*recipe.floats)
    if not type_.dtype.is_integer:
        return lambda: generator.random() < recipe.true
    low, high = recipe.integers
    if limits:
        last = min(dim.evaluate(sizes) for dim in limits) - 1
        # Numbers that are ids as they stand can be any place; computed ones may have to be small.
        low, high = 0, last if low < 0 else min(last, high)
    elif type_.dtype.name == "U8":
        low = max(low, 0)
    return lambda: generator.randint(low, high)


def index_limits(program: Program) -> Mapping[Reference, Limits]:
    """For each definition, the inputs that ids are computed from, with the sizes of the axes.

    Integers are traced from the operands that the table declares to be ids back to the inputs,
    through calls as well. Where a step computes with them the limit is only a first guess.
    """
    limits: dict[Reference, dict[Input, tuple[Dim, ...]]] = {}
    results: dict[Reference, Sources] = {}
    for unit in program.units:
        for definition in unit.definitions:
            trace = _trace(program, definition, limits, results)
            limits[definition.reference], results[definition.reference] = trace
    return limits


def _trace(
    program: Program,
    definition: Definition,
    limits: Mapping[Reference, Limits],
    results: Mapping[Reference, Sources],
) -> tuple[dict[Input, tuple[Dim, ...]], Sources]:
    """The limits of one definition, and the inputs that each integer in its result is from."""
    types = [parameter.type for parameter in definition.parameters]
    values: list[Sources] = [{} for _ in types]
    for tensor in input_tensors(types):
        if tensor.type.dtype.is_integer:
            source = frozenset({(tensor.parameter, tensor.path)})
            values[tensor.parameter] = {**values[tensor.parameter], tensor.path: source}
    found: dict[Input, tuple[Dim, ...]] = {}

    def limit(sources: frozenset[Input], dims: Sequence[Dim]) -> None:
        for source in sources:
            found[source] = tuple(dict.fromkeys((*found.get(source, ()), *dims)))

    for step in definition.steps:
        node = step.node
        operands = [values[operand] for operand in node.operands]
        match node:
            case Apply():
                ids = OPERATIONS[node.operation].ids
                if ids is not None:
                    table, axis = definition.type_of(node.operands[0]), node.attributes["axis"]
                    assert isinstance(table, TensorType)
                    assert isinstance(axis, int)
                    limit(operands[ids].get((), frozenset()), (table.shape[axis],))
                values.append(_computed(step.type, operands, ids))
            case Call():
                called = program.definition(node.definition)
                sizes = dict(zip(called.shape_parameters, node.shape_arguments, strict=True))
                for (parameter, path), dims in limits[node.definition].items():
                    sources = operands[parameter].get(path, frozenset())
                    limit(sources, [dim.substitute(sizes) for dim in dims])
                values.append(
                    {
                        path: frozenset().union(
                            *(operands[index].get(inner, frozenset()) for index, inner in sources)
                        )
                        for path, sources in results[node.definition].items()
                    }
                )
            case Pack():
                values.append(
                    {
                        (index, *path): sources
                        for index, operand in enumerate(operands)
                        for path, sources in operand.items()
                    }
                )
            case Project():
                values.append(
                    {
                        path[1:]: sources
                        for path, sources in operands[0].items()
                        if path[0] == node.index
                    }
                )
            case _:
                values.append(operands[0])
    return found, values[definition.result]


def _computed(type_: Type, operands: Sequence[Sources], ids: int | None) -> Sources:
    """The inputs that the integers of an operation's result are computed from."""
    if not isinstance(type_, TensorType) or not type_.dtype.is_integer:
        return {}
    sources = (
        operand.get((), frozenset()) for index, operand in enumerate(operands) if index != ids
    )
    return {(): frozenset[Input]().union(*sources)}
