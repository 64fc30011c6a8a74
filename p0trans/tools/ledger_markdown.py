"""Ledgers as Markdown, a section each."""

from __future__ import annotations

import re
from collections.abc import Sequence

from p0trans.diagnostics.measure import escaped
from p0trans.tools.ledger import Ledger
from p0trans.tools.ledger_cells import NAME, Column, facts, heading, table


def render(ledgers: Sequence[Ledger], sources: bool) -> str:
    return "\n".join(_one(ledger, sources) for ledger in ledgers)


def _one(ledger: Ledger, sources: bool) -> str:
    parts = [f"## `{heading(ledger)}`"]
    if ledger.doc:
        parts.append("\n".join(map(escaped, ledger.doc.splitlines())))
    parts += [_code(fact) for fact in facts(ledger)]
    held = table(ledger, sources)
    lines = [
        _line([column.heading for column in held.columns]),
        _line(["---:" if column.numeric else "---" for column in held.columns]),
    ]
    for row, depth in zip(held.rows, held.depths, strict=True):
        cells = [_cell(text, column) for text, column in zip(row, held.columns, strict=True)]
        cells[NAME] = "&emsp;" * depth + cells[NAME]
        lines.append(_line(cells))
    return "\n\n".join((*parts, "\n".join(lines))) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str, column: Column) -> str:
    return _code(text).replace("|", "\\|") if column.code and text else text


def _code(text: str) -> str:
    """As code, fenced by more backticks than a file's name may have in a row."""
    clean = escaped(text)
    fence = "`" * (1 + max(map(len, re.findall("`+", clean)), default=0))
    pad = " " if clean.startswith("`") or clean.endswith("`") else ""
    return f"{fence}{pad}{clean}{pad}{fence}"
