"""What a valid program is, as a check that can be run after any pass."""

from __future__ import annotations

from p0trans.ir.program import (
    Alias,
    Apply,
    Call,
    Definition,
    Number,
    Pack,
    Program,
    Project,
    Reference,
)
from p0trans.ir.typing import applied_type
from p0trans.ops.fused import EVERY, FUSED
from p0trans.ops.table import Rejection, Site
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType, TupleType, Type


class InvalidProgramError(Exception):
    """A program that breaks an invariant of the IR: a fault of a pass, never of a user."""


def verify(program: Program) -> None:
    """Raise InvalidProgramError unless every definition of `program` is valid.

    Steps use only values before them; every step has the type that its node gives under the
    definition's facts; calls name definitions that stand earlier and fit them; the result has the
    declared type; every shape parameter has exactly one binding. In an idiomatic definition
    operands may be broadcast, and Python numbers stand where PyTorch takes them.
    """
    earlier: dict[Reference, Definition] = {}
    for unit in program.units:
        for definition in unit.definitions:
            _verify_definition(definition, earlier)
            earlier[definition.reference] = definition
        for module in unit.modules:
            _require(module.definition in earlier, f"{module.name}: unknown {module.definition}")
            count = len(earlier[module.definition].parameters)
            _require(all(0 <= i < count for i in module.owned), f"{module.name}: no such parameter")
            if module.body is not None:
                _verify_definition(module.body, earlier)
                for call in (call for sub in module.subs for call in sub.calls):
                    step = module.body.step_of(call)
                    _require(
                        step is not None and isinstance(step.node, Call),
                        f"{module.name}: a child is not called at {call}",
                    )


def _verify_definition(definition: Definition, earlier: dict[Reference, Definition]) -> None:
    where = f"{definition.unit}.{definition.name}"
    facts = Facts(definition.shape_parameters, (*definition.where, *definition.assume))
    bound = [binding.variable for binding in definition.bindings]
    _require(sorted(bound) == sorted(definition.shape_parameters), f"{where}: sizes not bound once")
    for value, step in definition.numbered_steps():
        here = f"{where}: step {value}"
        _require(all(0 <= v < value for v in step.node.operands), f"{here} uses a later value")
        types = tuple(definition.type_of(v) for v in step.node.operands)
        match step.node:
            case Apply():
                expected = _apply_type(definition, step.node, types, facts, here)
            case Call():
                expected = _call_type(step.node, types, facts, earlier, here)
            case Pack():
                expected = TupleType(types)
            case Project():
                source = types[0]
                _require(isinstance(source, TupleType), f"{here} takes apart a tensor")
                assert isinstance(source, TupleType)
                expected = source.items[step.node.index]
            case Alias():
                expected = types[0]
            case Number():
                expected = _number_type(definition, step.node, step.type, here)
        _require(_same(facts, step.type, expected), f"{here} is {step.type}, not {expected}")
    total = len(definition.parameters) + len(definition.steps)
    _require(0 <= definition.result < total, f"{where}: no such result")
    _require(
        _same(facts, definition.type_of(definition.result), definition.result_type),
        f"{where}: the result has another type than declared",
    )


def _apply_type(
    definition: Definition, node: Apply, types: tuple[Type, ...], facts: Facts, here: str
) -> Type:
    operation, idiomatic = EVERY[node.operation], definition.idiomatic
    tensors = tuple(type_ for type_ in types if isinstance(type_, TensorType))
    _require(len(tensors) == len(types), f"{here}: an operation on a tuple")
    _require(idiomatic or node.operation not in FUSED, f"{here}: {node.operation} is fused")
    outcome = applied_type(operation, tensors, node.attributes, facts, idiomatic)
    if isinstance(outcome, Rejection):
        raise InvalidProgramError(f"{here}: {node.operation} rejects its operands ({outcome.code})")
    if isinstance(outcome, TupleType):
        return outcome
    assert isinstance(outcome, TensorType)
    numbers = definition.number_operands(node)
    allowed = operation.numbers(Site(tensors, node.attributes, outcome, numbers))
    _require(numbers <= set(allowed), f"{here}: a number where PyTorch takes a tensor")
    if node.operation in FUSED:
        _require(numbers == set(allowed), f"{here}: a tensor where PyTorch takes a number")
    elif numbers:
        kept = {t.dtype for index, t in enumerate(tensors) if index not in numbers}
        _require(tensors[min(numbers)].dtype in kept, f"{here}: nothing but numbers")
    return outcome


def _number_type(definition: Definition, node: Number, type_: Type, here: str) -> Type:
    _require(definition.idiomatic, f"{here}: a number in a definition that was not rewritten")
    if node.parameter is not None:
        _require(node.parameter in definition.numbers, f"{here}: the parameter is no number")
        return definition.type_of(node.parameter)
    _require(isinstance(type_, TensorType) and type_.rank == 0, f"{here}: a number has no shape")
    return type_


def _call_type(
    node: Call,
    types: tuple[Type, ...],
    facts: Facts,
    earlier: dict[Reference, Definition],
    here: str,
) -> Type:
    _require(node.definition in earlier, f"{here} calls something that is not above it")
    callee = earlier[node.definition]
    replacements = dict(zip(callee.shape_parameters, node.shape_arguments, strict=True))
    for type_, parameter in zip(types, callee.parameters, strict=True):
        expected = parameter.type.substitute(replacements)
        _require(_same(facts, type_, expected), f"{here}: an argument is {type_}, not {expected}")
    for constraint in callee.where:
        proved = facts.holds(constraint.substitute(replacements))
        _require(proved, f"{here}: {constraint} is not proved")
    for constraint in callee.assume:
        instance = constraint.substitute(replacements)
        stated = instance in node.assumptions or facts.holds(instance)
        _require(stated, f"{here}: {constraint} is neither proved nor checked")
    return callee.result_type.substitute(replacements)


def _same(facts: Facts, left: Type, right: Type) -> bool:
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        return (
            left.dtype is right.dtype
            and left.rank == right.rank
            and all(facts.equal(a, b) for a, b in zip(left.shape, right.shape, strict=True))
        )
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        return len(left.items) == len(right.items) and all(
            _same(facts, a, b) for a, b in zip(left.items, right.items, strict=True)
        )
    return False


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvalidProgramError(message)
