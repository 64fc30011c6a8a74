"""What the rules about reductions along an axis share."""

from __future__ import annotations

from p0trans.ir.program import Number
from p0trans.rewrite.pattern import (
    Attribute,
    Either,
    Num,
    Op,
    Pattern,
    Var,
    either,
    is_close,
    op,
)
from p0trans.rewrite.rule import Match, Rule
from p0trans.shapes.dim import Dim

AXIS = Attribute("axis")
FIRST_AXIS = Attribute("axis", only=0)
_X = Var("x")


def kept(kind: str, operand: Pattern, shared: bool = False) -> Either:
    """A reduction along `AXIS` that is broadcast along it again. One that drops the axis lines up
    with its operand when that is the first axis."""
    return either(
        op("reduce_keep", operand, kind=kind, axis=AXIS, shared=shared),
        op("reduce", operand, kind=kind, axis=FIRST_AXIS, shared=shared),
    )


def dropped(kind: str, operand: Pattern) -> Either:
    """A reduction along `AXIS` without that axis."""
    return either(
        op("reduce", operand, kind=kind, axis=AXIS),
        op("reshape", op("reduce_keep", operand, kind=kind, axis=AXIS, shared=True)),
    )


def _mean(match: Match) -> Pattern | None:
    """The mean that a sum over or times a number is."""
    number, size = match.number("number"), match.shape("x")[match.integer("axis")]
    over = match.has("over")
    if not _is_number_of_terms(match, number, size, over):
        return None
    name = "reduce_keep" if match.has("kept") else "reduce"
    return op(name, _X, kind="mean", axis=AXIS)


def _is_number_of_terms(match: Match, number: Number, size: Dim, over: bool) -> bool:
    """Whether `number` is `size`, or its inverse where the sum is not divided but multiplied."""
    if number.dim is not None:
        return number.power == (1 if over else -1) and match.facts.equal(number.dim, size)
    terms = size.as_integer()
    if not number.is_literal or terms is None:
        return False
    value = match.rounded("number")
    return value == terms if over else is_close(value, 1 / terms, match.type("number").dtype)


_SUM = either(
    op("reduce_keep", _X, kind="sum", axis=AXIS, name="kept"),
    op("reduce", _X, kind="sum", axis=AXIS),
)

MEANS = (
    Rule(
        "mean",
        "sum x / n = mean x where n is the size of the axis",
        either(op("div", _SUM, Num("number"), name="over"), op("mul", _SUM, Num("number"))),
        _mean,
    ),
)


def by_rows(operation: str, *rest: Pattern, along_axis: bool = False) -> Rule:
    """An operation along the last axis does not care how the others are laid out."""

    def same_rows(match: Match) -> str | None:
        whole, rows = match.shape("x"), match.shape("rows")
        if not match.same_shape(whole, match.result.shape):
            return "the result has another shape"
        if not whole or not match.facts.equal(whole[-1], rows[-1]):
            return "the rows are other ones"
        if along_axis and not match.is_last("axis", "rows"):
            return f"axis {match.integer('axis')} is not the last one"
        return None

    def on_whole(match: Match) -> Pattern:
        last = match.type("x").rank - 1
        return Op(operation, (_X, *rest), {"axis": last} if along_axis else {})

    rows = op("reshape", _X, name="rows", shared=True)
    attributes = {"axis": AXIS} if along_axis else {}
    return Rule(
        f"{operation}_by_rows",
        f"reshape ({operation} (reshape x)) = {operation} x",
        op("reshape", Op(operation, (rows, *rest), attributes)),
        on_whole,
        (same_rows,),
    )
