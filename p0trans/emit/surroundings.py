"""What a body is written from, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from p0trans.emit.expressions import Fragment
from p0trans.emit.lines import Line
from p0trans.ir.program import Definition, Reference, Value
from p0trans.source import Span


@dataclass(frozen=True, slots=True)
class Callee:
    """How a definition is called: the function's name, the keyword of each shape parameter (by
    its index) that the caller passes as an integer, and whether it is told the device."""

    name: str
    keywords: tuple[tuple[int, str], ...] = ()
    device: bool = False


@dataclass(frozen=True, slots=True)
class ChildCall:
    """A call that a child module computes: the child and which operands it takes."""

    child: str
    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the lines of a body may refer to; `cite` names the lines of some spans of its source
    when there are several.

    `parameters` are the expressions of the definition's parameters; one that is in `openings`
    is first bound to the expression there. `values` and `shapes` give the Python names of
    parameters and `let`s and of shape variables; other names avoid `taken`. `device` is an
    expression for the device of new tensors, None for the default device.
    """

    definition: Definition
    parameters: tuple[Fragment, ...]
    values: Mapping[str, str]
    shapes: Mapping[str, str]
    taken: frozenset[str]
    callees: Mapping[Reference, Callee]
    device: str | None
    indent: int
    checks: bool
    cite: Callable[[Sequence[Span]], str] = lambda spans: ""
    children: Mapping[Value, ChildCall] = field(default_factory=dict)
    openings: Mapping[Value, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """The lines, and the shape variables that their code uses."""

    lines: tuple[Line, ...]
    variables: frozenset[str]
