"""The typed IR, in A-normal form: what the checker proves and everything behind it reads.

A value is an integer: `0 … n-1` are a definition's parameters, and step `i` of its steps
defines value `n + i`. A step uses only values before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from p0trans.ops.table import Attributes
from p0trans.shapes.dim import Constraint, Dim
from p0trans.shapes.solve import ShapeBinding
from p0trans.source import Source, Span
from p0trans.types import Type

Value: TypeAlias = int


class Reference(NamedTuple):
    """A definition or module by the unit that declares it and its name there."""

    unit: str
    name: str


class Apply(NamedTuple):
    """One operation of the table. A written target shape is the attribute `shape`."""

    operation: str
    operands: tuple[Value, ...]
    attributes: Attributes


class Call(NamedTuple):
    """A definition applied to dims for its shape parameters and to operands.

    `assumptions` are those of its `assume` facts, in the caller's dims, that the caller's own
    facts do not prove: they are checked where the call runs.
    """

    definition: Reference
    shape_arguments: tuple[Dim, ...]
    operands: tuple[Value, ...]
    assumptions: tuple[Constraint, ...] = ()


class Pack(NamedTuple):
    """A tuple of values."""

    operands: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Project:
    """Item `index` of a tuple."""

    operand: Value
    index: int

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.operand,)


class Alias(NamedTuple):
    """A second name for a value: `let y = x in`."""

    operand: Value

    @property
    def operands(self) -> tuple[Value, ...]:
        return (self.operand,)


class Number(NamedTuple):
    """A scalar that emitted code has as a Python number: a literal, the parameter `parameter`, or
    `dim` to a power.

    Only a rewritten definition has it, as an operand where PyTorch takes a number.
    """

    value: float | int | bool = 0
    parameter: Value | None = None
    dim: Dim | None = None
    power: float = 1

    @property
    def operands(self) -> tuple[Value, ...]:
        return () if self.parameter is None else (self.parameter,)

    @property
    def is_literal(self) -> bool:
        return self.parameter is None and self.dim is None


Node: TypeAlias = Apply | Call | Pack | Project | Alias | Number


class Idiom(NamedTuple):
    """What a reader calls a rewritten step, `softmax over S`: a name, and the size of the axis that
    it goes along."""

    name: str
    over: Dim | None = None

    def __str__(self) -> str:
        return self.name if self.over is None else f"{self.name} over {self.over}"

    def substitute(self, replacements: Mapping[str, Dim]) -> Idiom:
        return self if self.over is None else Idiom(self.name, self.over.substitute(replacements))


class Origin(NamedTuple):
    """What a rewritten step stands for: an idiom, and the source that it replaced, in the file of
    its definition."""

    idiom: Idiom
    spans: tuple[Span, ...]


class Step(NamedTuple):
    """One value: what computes it, its type, its source, and the `let` name it was given.

    `binding` is None for a step that stands inside a larger expression; `owner` is then the
    name of the `let` whose right-hand side it is in (None in a definition's result).
    """

    node: Node
    type: Type
    span: Span
    binding: str | None = None
    owner: str | None = None
    origin: Origin | None = None


class Parameter(NamedTuple):
    name: str
    type: Type
    span: Span


class Definition(NamedTuple):
    """One checked definition. `bindings` says how each shape parameter gets its number.

    In a rewritten one (`idiomatic`) elementwise operations broadcast their operands as PyTorch
    does, operations may be fused ones, and `numbers` are the parameters that are Python numbers.
    """

    name: str
    unit: str
    span: Span
    doc: str | None
    shape_parameters: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    result_type: Type
    where: tuple[Constraint, ...]
    assume: tuple[Constraint, ...]
    bindings: tuple[ShapeBinding, ...]
    steps: tuple[Step, ...]
    result: Value
    idiomatic: bool = False
    numbers: frozenset[int] = frozenset()

    @property
    def reference(self) -> Reference:
        return Reference(self.unit, self.name)

    def type_of(self, value: Value) -> Type:
        count = len(self.parameters)
        return self.parameters[value].type if value < count else self.steps[value - count].type

    def step_of(self, value: Value) -> Step | None:
        """The step that defines `value`; None when it is a parameter."""
        count = len(self.parameters)
        return None if value < count else self.steps[value - count]

    def number_operands(self, node: Apply) -> frozenset[int]:
        """Which operands of an operation are Python numbers."""
        steps = map(self.step_of, node.operands)
        return frozenset(
            index
            for index, step in enumerate(steps)
            if step is not None and isinstance(step.node, Number)
        )

    def numbered_steps(self) -> Iterator[tuple[Value, Step]]:
        return enumerate(self.steps, start=len(self.parameters))


class Initializer(NamedTuple):
    """How a param or buffer begins: `ones`, `normal(0.02)`."""

    name: str
    arguments: tuple[float, ...] = ()


class State(NamedTuple):
    """A parameter of the definition that the module owns as `param` or `buffer`."""

    kind: str
    parameter: int
    initializer: Initializer
    span: Span


class Const(NamedTuple):
    """A scalar parameter of the definition that is a constructor argument with a default."""

    parameter: int
    default: float | int | bool
    span: Span


class Sub(NamedTuple):
    """A child module.

    `bound` pairs each owned parameter of the child's definition with the parameter of this
    definition that stands for it; `calls` are the steps that the child computes, and
    `shape_arguments` the dims of the child's shape parameters at those calls. `numbers` are those
    parameters of this definition that the child, or a child of its own, has as a `const`.
    """

    name: str
    module: Reference
    bound: tuple[tuple[int, int], ...]
    calls: tuple[Value, ...]
    shape_arguments: tuple[Dim, ...]
    span: Span
    numbers: frozenset[int] = frozenset()


class Module(NamedTuple):
    """A `torch.nn.Module` to be: a definition and which of its parameters are state.

    `body` is the definition as this module computes it, where it was rewritten for it.
    """

    name: str
    unit: str
    doc: str | None
    definition: Reference
    states: tuple[State, ...]
    consts: tuple[Const, ...]
    subs: tuple[Sub, ...]
    span: Span
    body: Definition | None = None

    @property
    def owned(self) -> frozenset[int]:
        """Indices of the definition's parameters that are not inputs of `forward`."""
        return frozenset(
            (
                *(state.parameter for state in self.states),
                *(const.parameter for const in self.consts),
                *(mine for sub in self.subs for _, mine in sub.bound),
            )
        )

    @property
    def numbers(self) -> frozenset[int]:
        """Those of `owned` that are Python numbers: `const`s, the children's included."""
        return frozenset(const.parameter for const in self.consts).union(
            *(sub.numbers for sub in self.subs)
        )


class Unit(NamedTuple):
    """One checked file. `name` is dotted and unique in the program; `imports` are the
    references it brings in, in source order."""

    name: str
    source: Source
    definitions: tuple[Definition, ...]
    modules: tuple[Module, ...]
    imports: tuple[Reference, ...]

    @property
    def path(self) -> str:
        """The file's place among the sources, `std/norm.p0`; the same wherever these lie."""
        return f"{self.name.replace('.', '/')}.p0"


class Program(NamedTuple):
    """Checked files in dependency order; `roots` are the units that were asked for."""

    units: tuple[Unit, ...]
    roots: tuple[str, ...]

    def unit(self, name: str) -> Unit:
        return next(unit for unit in self.units if unit.name == name)

    def definition(self, reference: Reference) -> Definition:
        unit = self.unit(reference.unit)
        return next(d for d in unit.definitions if d.name == reference.name)

    def module(self, reference: Reference) -> Module:
        unit = self.unit(reference.unit)
        return next(m for m in unit.modules if m.name == reference.name)
