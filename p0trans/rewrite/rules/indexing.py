"""Elements that are picked by number."""

from __future__ import annotations

from p0trans.rewrite.pattern import Var, op
from p0trans.rewrite.rule import Match, Rule

_TABLE, _IDS = Var("table"), Var("ids")


def _is_table(match: Match) -> str | None:
    table = match.type("table")
    if table.rank != 2:
        return f"the table has {table.rank} axes, not 2"
    return None if table.dtype.is_float else f"the table is {table.dtype}"


INDEXING = (
    Rule(
        "embedding",
        "take[axis=0] table ids = embedding ids table",
        op("take", _TABLE, _IDS, axis=0),
        op("embedding", _IDS, _TABLE),
        (_is_table,),
    ),
)
