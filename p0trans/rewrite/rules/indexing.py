"""Elements that are picked by number."""

from __future__ import annotations

from p0trans.rewrite.pattern import Attribute, Pattern, Var, op
from p0trans.rewrite.rule import Match, Rule
from p0trans.shapes.dim import constant

_TABLE, _IDS = Var("table"), Var("ids")


def _is_table(match: Match) -> str | None:
    table = match.type("table")
    if table.rank != 2:
        return f"the table has {table.rank} axes, not 2"
    return None if table.dtype.is_float else f"the table is {table.dtype}"


def _first_places(match: Match) -> Pattern | None:
    """The slice of as many places as there are positions."""
    ids, axis = match.shape("ids"), match.integer("axis")
    if len(ids) != 1:
        return None
    return op("slice", _TABLE, axis=axis, start=constant(0), stop=ids[0])


INDEXING = (
    Rule(
        "positions_taken",
        "take table (iota [n]) = slice[0:n] table",
        op("take", _TABLE, op("iota", name="ids", shared=True), axis=Attribute("axis")),
        _first_places,
    ),
    Rule(
        "embedding",
        "take[axis=0] table ids = embedding ids table",
        op("take", _TABLE, _IDS, axis=0),
        op("embedding", _IDS, _TABLE),
        (_is_table,),
    ),
)
