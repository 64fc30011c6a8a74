"""Ledgers as comma-separated values: one table, a line for each row and each total."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from p0trans.tools.ledger import Cost, Ledger
from p0trans.tools.ledger_cells import dtype_cell, inputs_cell, ratio, ratio_text, shape_cell

FIELDS = (
    "definition",
    "role",
    "depth",
    "name",
    "operation",
    "expression",
    "inputs",
    "output",
    "dtype",
    "flops",
    "bytes",
    "intensity",
    "flops_number",
    "bytes_number",
    "intensity_number",
    "file",
    "line",
)


def render(ledgers: Sequence[Ledger], sources: bool) -> str:
    """Every line has the file and line, `sources` or not, so that it always has the same fields.

    The numbers are empty without sizes.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for ledger in ledgers:
        for row in ledger.rows:
            what = (row.role, row.depth, row.name, row.operation, row.expression)
            types = (inputs_cell(row), shape_cell(row.output), dtype_cell(row.output))
            place = (row.source.name, row.line)
            writer.writerow((ledger.name, *what, *types, *_costs(row.cost, ledger), *place))
        total = ("total", 0, "", "", "", "", "", "")
        writer.writerow((ledger.name, *total, *_costs(ledger.total, ledger), "", ""))
    return text.getvalue()


def _costs(cost: Cost, ledger: Ledger) -> tuple[object, ...]:
    written = (str(cost.flops), str(cost.bytes), ratio_text(cost))
    if ledger.sizes is None:
        return (*written, "", "", "")
    numbers = (cost.flops.evaluate(ledger.sizes), cost.bytes.evaluate(ledger.sizes))
    return (*written, *numbers, ratio(cost, ledger.sizes))
