"""Small programs in the typed IR, built by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from p0trans.dtypes import DTYPES
from p0trans.emit import Header
from p0trans.ir.program import (
    Alias,
    Apply,
    Call,
    Const,
    Definition,
    Initializer,
    Module,
    Node,
    Pack,
    Parameter,
    Program,
    Project,
    Reference,
    State,
    Step,
    Sub,
    Unit,
    Value,
)
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeValue
from p0trans.shapes.dim import Constraint, Dim, constant, product, variable
from p0trans.shapes.solve import solve
from p0trans.source import Source, Span
from p0trans.types import Shape, TensorType, TupleType, Type

HEADER = Header("0.1.0", ("main.p0",), "0" * 64, "p0trans build main.p0")
_NOWHERE = Span(0, 0)


class _Trusting:
    """Facts that believe everything: these programs are right by construction."""

    def equal(self, left: Dim, right: Dim) -> bool:
        return True

    def holds(self, constraint: Constraint) -> bool:
        return True

    def equal_volume(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        return True


def dim(text: str) -> Dim:
    """`dim("2*K")`: a number, a variable or a product of these."""
    return product(constant(int(w)) if w.isdigit() else variable(w) for w in text.split("*"))


def dims(text: str) -> Shape:
    """`dims("B 1 2*K")`."""
    return tuple(map(dim, text.split()))


def fact(text: str) -> Constraint:
    """`fact("H == G*R")`."""
    left, relation, right = text.split()
    return Constraint(dim(left), relation, dim(right))


def tensor(dtype: str, text: str = "") -> TensorType:
    return TensorType(DTYPES[dtype], dims(text))


@dataclass
class Build:
    """One definition under construction; its methods return the values that they define.

    `let` names a step; without it the step stands inside the `let` named `owner`.
    """

    name: str
    shape_parameters: str = ""
    doc: str | None = None
    where: tuple[Constraint, ...] = ()
    assume: tuple[Constraint, ...] = ()
    unit: str = "main"
    parameters: list[Parameter] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    def parameter(self, name: str, type_: Type) -> Value:
        self.parameters.append(Parameter(name, type_, _NOWHERE))
        return len(self.parameters) - 1

    def type_of(self, value: Value) -> Type:
        count = len(self.parameters)
        return self.parameters[value].type if value < count else self.steps[value - count].type

    def apply(
        self,
        operation: str,
        *operands: Value,
        let: str | None = None,
        owner: str | None = None,
        **attributes: AttributeValue,
    ) -> Value:
        types = tuple(self.type_of(value) for value in operands)
        tensors = tuple(type_ for type_ in types if isinstance(type_, TensorType))
        result = OPERATIONS[operation].infer(tensors, attributes, _Trusting())
        assert isinstance(result, TensorType), result
        return self._step(Apply(operation, operands, attributes), result, let, owner)

    def literal(self, value: float, dtype: str = "F32", owner: str | None = None) -> Value:
        return self.apply("const", owner=owner, dtype=DTYPES[dtype], value=value)

    def broadcast(
        self, value: Value, shape: str, let: str | None = None, owner: str | None = None
    ) -> Value:
        return self.apply("broadcast", value, let=let, owner=owner, shape=dims(shape))

    def reshape(
        self, value: Value, shape: str, let: str | None = None, owner: str | None = None
    ) -> Value:
        return self.apply("reshape", value, let=let, owner=owner, shape=dims(shape))

    def call(
        self,
        definition: Definition,
        shape: str,
        *operands: Value,
        let: str | None = None,
        owner: str | None = None,
        assumptions: tuple[Constraint, ...] = (),
    ) -> Value:
        arguments = dims(shape)
        replaced = dict(zip(definition.shape_parameters, arguments, strict=True))
        node = Call(definition.reference, arguments, operands, assumptions)
        return self._step(node, definition.result_type.substitute(replaced), let, owner)

    def pack(self, *operands: Value, let: str | None = None) -> Value:
        type_ = TupleType(tuple(self.type_of(value) for value in operands))
        return self._step(Pack(operands), type_, let, None)

    def project(self, operand: Value, index: int, let: str | None = None) -> Value:
        type_ = self.type_of(operand)
        assert isinstance(type_, TupleType)
        return self._step(Project(operand, index), type_.items[index], let, None)

    def alias(self, operand: Value, let: str) -> Value:
        return self._step(Alias(operand), self.type_of(operand), let, None)

    def done(self, result: Value) -> Definition:
        shape_parameters = tuple(self.shape_parameters.split())
        return Definition(
            name=self.name,
            unit=self.unit,
            span=_NOWHERE,
            doc=self.doc,
            shape_parameters=shape_parameters,
            parameters=tuple(self.parameters),
            result_type=self.type_of(result),
            where=self.where,
            assume=self.assume,
            bindings=solve(
                shape_parameters,
                [parameter.type for parameter in self.parameters],
                (*self.where, *self.assume),
            ),
            steps=tuple(self.steps),
            result=result,
        )

    def _step(self, node: Node, type_: Type, let: str | None, owner: str | None) -> Value:
        self.steps.append(Step(node, type_, _NOWHERE, let, None if let else owner))
        return len(self.parameters) + len(self.steps) - 1


def module(
    name: str,
    definition: Definition,
    states: Sequence[State] = (),
    consts: Sequence[Const] = (),
    subs: Sequence[Sub] = (),
    doc: str | None = None,
    unit: str | None = None,
) -> Module:
    return Module(
        name=name,
        unit=unit or definition.unit,
        doc=doc or definition.doc,
        definition=definition.reference,
        states=tuple(states),
        consts=tuple(consts),
        subs=tuple(subs),
        span=_NOWHERE,
    )


def param(index: int, initializer: str = "ones", *arguments: float) -> State:
    return State("param", index, Initializer(initializer, arguments), _NOWHERE)


def buffer(index: int, initializer: str = "zeros", *arguments: float) -> State:
    return State("buffer", index, Initializer(initializer, arguments), _NOWHERE)


def const(index: int, default: float | int | bool) -> Const:
    return Const(index, default, _NOWHERE)


def sub(
    name: str,
    child: Module,
    bound: Sequence[tuple[int, int]],
    calls: Sequence[Value],
    shape: str,
) -> Sub:
    reference = Reference(child.unit, child.name)
    numbers = frozenset(mine for theirs, mine in bound if theirs in child.numbers)
    return Sub(name, reference, tuple(bound), tuple(calls), dims(shape), _NOWHERE, numbers)


def unit(
    name: str,
    definitions: Sequence[Definition] = (),
    modules: Sequence[Module] = (),
    imports: Sequence[Reference] = (),
) -> Unit:
    return Unit(name, Source(name, ""), tuple(definitions), tuple(modules), tuple(imports))


def program(*units: Unit, roots: Sequence[str] = ()) -> Program:
    return Program(units, tuple(roots) or (units[-1].name,))


def alone(*definitions: Definition, modules: Sequence[Module] = (), name: str = "main") -> Program:
    """A program of one unit."""
    return program(unit(name, definitions, modules))
