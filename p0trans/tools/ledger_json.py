"""Ledgers as one JSON object; docs/ledger.md says what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from p0trans.tools.ledger import Cost, Ledger, Row
from p0trans.tools.ledger_cells import ratio, ratio_text
from p0trans.types import TensorType, Type

VERSION = 1


def render(ledgers: Sequence[Ledger], sources: bool) -> str:
    """The places are always there, `sources` or not."""
    document = {"version": VERSION, "definitions": [_ledger(ledger) for ledger in ledgers]}
    return json.dumps(document, indent=2) + "\n"


def _ledger(ledger: Ledger) -> dict[str, Any]:
    return {
        "name": ledger.name,
        "doc": ledger.doc,
        "shape_parameters": list(ledger.shape_parameters),
        "where": list(map(str, ledger.where)),
        "assume": list(map(str, ledger.assume)),
        "sizes": None if ledger.sizes is None else dict(ledger.sizes),
        "rows": [_row(row, ledger.sizes) for row in ledger.rows],
        "total": _cost(ledger.total, ledger.sizes),
    }


def _row(row: Row, sizes: Mapping[str, int] | None) -> dict[str, Any]:
    return {
        "role": row.role,
        "depth": row.depth,
        "name": row.name,
        "operation": row.operation,
        "expression": row.expression,
        "inputs": [_type(type_, sizes) for type_ in row.inputs],
        "output": _type(row.output, sizes),
        "cost": _cost(row.cost, sizes),
        "file": row.source.name,
        "line": row.line,
    }


def _type(type_: Type, sizes: Mapping[str, int] | None) -> dict[str, Any]:
    if not isinstance(type_, TensorType):
        return {"items": [_type(item, sizes) for item in type_.items]}
    return {
        "dtype": type_.dtype.name,
        "shape": list(map(str, type_.shape)),
        "sizes": None if sizes is None else [dim.evaluate(sizes) for dim in type_.shape],
    }


def _cost(cost: Cost, sizes: Mapping[str, int] | None) -> dict[str, Any]:
    return {
        "flops": str(cost.flops),
        "bytes": str(cost.bytes),
        "intensity": ratio_text(cost),
        "numbers": None if sizes is None else _numbers(cost, sizes),
    }


def _numbers(cost: Cost, sizes: Mapping[str, int]) -> dict[str, Any]:
    return {
        "flops": cost.flops.evaluate(sizes),
        "bytes": cost.bytes.evaluate(sizes),
        "intensity": ratio(cost, sizes),
    }
