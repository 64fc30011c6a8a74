"""What a rewrite rule is, and what its conditions and replacements can ask about a match."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, get_args

from p0trans.ir.program import Idiom, Number, Value
from p0trans.ops.create import nearest
from p0trans.ops.rules import same_shape
from p0trans.ops.table import AttributeValue
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.numbers import literal_of, number_of
from p0trans.rewrite.pattern import Bound, Pattern
from p0trans.shapes.dim import Dim
from p0trans.shapes.facts import Facts
from p0trans.targets import Target
from p0trans.types import Shape, TensorType

EVERY_TARGET: frozenset[Target] = frozenset(get_args(Target))
NOT_XLA: frozenset[Target] = frozenset({"torch", "compile"})


class Match(NamedTuple):
    """A place that a pattern fits: the root and what the pattern's names stand for there."""

    graph: Graph
    root: Value
    bound: Bound

    @property
    def facts(self) -> Facts:
        return self.graph.facts

    def value(self, name: str) -> Value:
        return self.bound.values[name]

    def has(self, name: str) -> bool:
        return name in self.bound.values

    def type(self, name: str) -> TensorType:
        return self.graph.tensor(self.bound.values[name])

    def shape(self, name: str) -> Shape:
        return self.type(name).shape

    @property
    def result(self) -> TensorType:
        return self.graph.tensor(self.root)

    def attribute(self, name: str) -> AttributeValue:
        return self.bound.attributes[name]

    def integer(self, name: str) -> int:
        value = self.bound.attributes[name]
        assert isinstance(value, int)
        return value

    def number(self, name: str) -> Number:
        """The Python number that `name` stands for."""
        number = number_of(self.graph, self.bound.values[name])
        assert number is not None
        return number

    def literal(self, name: str) -> float | None:
        """The number that `name` stands for in every call; None when it may be another one."""
        return literal_of(self.graph, self.bound.values[name])

    def rounded(self, name: str) -> float:
        """The literal that `name` stands for as its dtype has it. What 16 bits leave of it is part
        of the program; a float32 is as it was written."""
        number = float(self.number(name).value)
        dtype = self.type(name).dtype
        return nearest(number, dtype) if dtype.bits == 16 else number

    def is_last(self, axis: str, name: str) -> bool:
        """Whether the attribute `axis` is the last axis of the value `name`."""
        return self.integer(axis) == self.type(name).rank - 1

    def same_shape(self, left: Shape, right: Shape) -> bool:
        return same_shape(left, right, self.facts)


Condition: TypeAlias = Callable[[Match], "str | None"]
"""None when the condition holds, else why it does not, as the rest of a sentence."""

Replacement: TypeAlias = "Pattern | Callable[[Match], Pattern | None]"


def silent(match: Match) -> None:
    """A rewrite that a reader needs no word about."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One identity: steps that fit `pattern` may be computed by `to`, where `where` holds.

    `to` is a pattern of the matched names, or gives one (None: it does not apply after all). Both
    sides are equal for every shape and dtype that the types allow, and for every value that a
    `const` of the module may be set to, up to rounding and to the sign of a zero, wherever all
    steps of the left side are finite. A step that is not, as a square of F16 beyond 65504, may
    still lead to a finite number (x / inf is 0): there the right side may be another one.
    `note` names the idiom in the comment above the emitted line. A rule serves its `targets`;
    where these are not all, `because` is the measurement that says so.
    """

    name: str
    identity: str
    pattern: Pattern
    to: Replacement
    where: tuple[Condition, ...] = ()
    note: Callable[[Match], Idiom | None] = silent
    targets: frozenset[Target] = EVERY_TARGET
    because: str = ""


def over(idiom: str, operand: str, axis: str = "axis") -> Callable[[Match], Idiom]:
    """The note `softmax over S`: an idiom along an axis, named by its dim."""

    def note(match: Match) -> Idiom:
        return Idiom(idiom, match.shape(operand)[match.integer(axis)])

    return note


def called(idiom: str) -> Callable[[Match], Idiom]:
    """The note that is the idiom's name alone."""
    return lambda match: Idiom(idiom)


def with_dtype(operand: str, *dtypes: str) -> Condition:
    def condition(match: Match) -> str | None:
        found = match.type(operand).dtype.name
        return None if found in dtypes else f"the dtype is {found}, not {' or '.join(dtypes)}"

    return condition


def is_one(dim: Dim) -> bool:
    return dim.as_integer() == 1
