"""The evaluation of a definition, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from p0trans.interpret.arrays import numpy_dtype
from p0trans.interpret.boundary import bind_inputs, check_constraint
from p0trans.ir.program import (
    Apply,
    Call,
    Definition,
    Number,
    Pack,
    Program,
    Project,
    Reference,
    Step,
    Value,
)
from p0trans.ops.fused import EVERY
from p0trans.ops.table import Attributes, Evaluation
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType, TupleType

if TYPE_CHECKING:
    from p0trans.interpret.arrays import ArrayValue

Numbers: TypeAlias = Mapping[str, int]
Operands: TypeAlias = "tuple[ArrayValue, ...]"
NOTHING_GIVEN: Numbers = MappingProxyType({})


def interpret(
    program: Program,
    definition: Definition,
    inputs: Sequence[ArrayValue],
    given: Numbers = NOTHING_GIVEN,
    passing: Callable[[Step, Operands], Operands] | None = None,
) -> ArrayValue:
    """The result of `definition`, which is one of `program`, on `inputs`.

    An input is a NumPy array of the declared dtype (ml_dtypes' bfloat16 for BF16), or a tuple
    where a tuple is declared; `given` has the shape variables that no input determines. `passing`
    may put others, of the same dtypes and shapes, in the place of the operands of an operation.
    Raises BoundaryError when inputs and declaration disagree or an assumption is not true,
    ZeroDivisionError for an integer divided by zero and IndexError for an id out of range.
    """
    definitions = {one.reference: one for unit in program.units for one in unit.definitions}
    deaths: dict[Reference, Deaths] = {}

    def frame(called: Definition, numbers: Numbers, values: Sequence[ArrayValue]) -> _Frame:
        reference = called.reference
        if reference not in deaths:
            deaths[reference] = _deaths(called)
        return _Frame(called, numbers, list(values), called.numbered_steps(), deaths[reference])

    # Calls are kept on a stack of our own: definitions can call one another thousands deep.
    stack = [frame(definition, bind_inputs(definition, inputs, given), inputs)]
    while True:
        top = stack[-1]
        result: ArrayValue
        try:
            value, step = next(top.steps)
        except StopIteration:
            result = top.read(top.definition.result)
            stack.pop()
            if not stack:
                return result
            stack[-1].store(result)
            continue
        node = step.node
        operands = tuple(map(top.read, node.operands))
        top.forget(value)
        if isinstance(node, Call):
            for constraint in node.assumptions:
                check_constraint(constraint, top.numbers)
            called = definitions[node.definition]
            sizes = (dim.evaluate(top.numbers) for dim in node.shape_arguments)
            numbers = dict(zip(called.shape_parameters, sizes, strict=True))
            stack.append(frame(called, numbers, operands))
        elif isinstance(node, Apply):
            if passing is not None:
                operands = passing(step, operands)
            top.store(_apply(node, step, operands, top.numbers))
        elif isinstance(node, Number):
            top.store(_scalar(node, step, operands, top.numbers))
        elif isinstance(node, Pack):
            top.store(operands)
        elif isinstance(node, Project):
            top.store(_project(node, operands[0]))
        else:
            top.store(operands[0])


Deaths: TypeAlias = Mapping[Value, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class _Frame:
    """A definition that is being evaluated: its numbers, the values so far, the steps to come.

    `deaths` are the values that each step is the last to use; they are then let go.
    """

    definition: Definition
    numbers: Numbers
    values: list[ArrayValue | None]
    steps: Iterator[tuple[Value, Step]]
    deaths: Deaths

    def read(self, value: Value) -> ArrayValue:
        found = self.values[value]
        assert found is not None
        return found

    def forget(self, value: Value) -> None:
        for dead in self.deaths.get(value, ()):
            self.values[dead] = None

    def store(self, result: ArrayValue) -> None:
        self.values.append(result)


def _deaths(definition: Definition) -> Deaths:
    last_use: dict[Value, Value] = {}
    for value, step in definition.numbered_steps():
        for operand in step.node.operands:
            last_use[operand] = value
    last_use.pop(definition.result, None)
    dying: dict[Value, list[Value]] = {}
    for operand, value in last_use.items():
        dying.setdefault(value, []).append(operand)
    return dying


def _apply(
    node: Apply, step: Step, operands: tuple[ArrayValue, ...], numbers: Numbers
) -> ArrayValue:
    import numpy as np

    items = step.type.items if isinstance(step.type, TupleType) else (step.type,)
    types = tuple(type_ for type_ in items if isinstance(type_, TensorType))
    attributes = {name: _number(value, numbers) for name, value in node.attributes.items()}
    evaluations = [
        Evaluation(
            attributes,
            numpy_dtype(type_.dtype),
            tuple(dim.evaluate(numbers) for dim in type_.shape),
        )
        for type_ in types
    ]
    result: ArrayValue = EVERY[node.operation].numpy(np, operands, evaluations[0])
    results = result if isinstance(result, tuple) else (result,)
    for one, type_, expected in zip(results, types, evaluations, strict=True):
        assert not isinstance(one, tuple)
        if one.shape != expected.shape or one.dtype != expected.dtype:
            found = f"{one.dtype} of shape {list(one.shape)}"
            raise AssertionError(f"{node.operation} gave {found} where {type_} was proved")
    return result


def _number(value: object, numbers: Numbers) -> object:
    if isinstance(value, Dim):
        return value.evaluate(numbers)
    if isinstance(value, tuple):
        return tuple(_number(item, numbers) for item in value)
    return value


def _scalar(
    node: Number, step: Step, operands: tuple[ArrayValue, ...], numbers: Numbers
) -> ArrayValue:
    if operands:
        return operands[0]
    value = node.value if node.dim is None else node.dim.evaluate(numbers) ** node.power
    assert isinstance(step.type, TensorType)
    attributes: Attributes = {"value": value, "dtype": step.type.dtype}
    return _apply(Apply("const", (), attributes), step, (), {})


def _project(node: Project, operand: ArrayValue) -> ArrayValue:
    assert isinstance(operand, tuple)
    item: ArrayValue = operand[node.index]
    return item
