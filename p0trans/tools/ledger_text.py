"""Ledgers as text, in columns of a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from p0trans.diagnostics.measure import columns, escaped
from p0trans.tools.ledger import Ledger
from p0trans.tools.ledger_cells import NAME, facts, heading, table

_INDENT = "  "


def render(ledgers: Sequence[Ledger], sources: bool) -> str:
    return "\n".join(_one(ledger, sources) for ledger in ledgers)


def _one(ledger: Ledger, sources: bool) -> str:
    lines = [heading(ledger)]
    lines += [_INDENT + escaped(line) for line in (ledger.doc or "").splitlines()]
    lines += [_INDENT + fact for fact in facts(ledger)]
    held = table(ledger, sources)
    grid = [[column.heading for column in held.columns]]
    for row, depth in zip(held.rows, held.depths, strict=True):
        cells = list(map(escaped, row))
        cells[NAME] = _INDENT * depth + cells[NAME]
        grid.append(cells)
    widths = [max(map(columns, cells)) for cells in zip(*grid, strict=True)]
    lines.append("")
    for cells in grid:
        padded = []
        for cell, width, column in zip(cells, widths, held.columns, strict=True):
            gap = " " * (width - columns(cell))
            padded.append(gap + cell if column.numeric else cell + gap)
        lines.append("  ".join(padded))
    return "".join(f"{line.rstrip()}\n" for line in lines)
