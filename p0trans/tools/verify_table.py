"""The rows of a verification as text."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from p0trans.tools.verify import Row, Verdict

_HEADINGS = ("name", "engine", "what", "dtype", "sizes", "abs", "rel", "ulp", "verdict")
_NUMBERS = frozenset({"abs", "rel", "ulp"})


def render(rows: Sequence[Row]) -> str:
    """A table with a line for each row; a note stands behind its verdict."""
    cells = [_HEADINGS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(len(_HEADINGS) - 1)]
    lines = []
    for line, note in zip(cells, ("", *(row.note for row in rows)), strict=True):
        padded = [
            cell.rjust(width) if heading in _NUMBERS else cell.ljust(width)
            for cell, width, heading in zip(line, widths, _HEADINGS, strict=False)
        ]
        lines.append("  ".join((*padded, line[-1])) + (f": {note}" if note else ""))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def summary(rows: Sequence[Row]) -> str:
    """How many comparisons came to which verdict: `12 comparisons: 11 ok, 1 FAIL`."""
    counts = Counter(row.verdict for row in rows)
    parts = ", ".join(
        f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]
    )
    plural = "" if len(rows) == 1 else "s"
    return f"{len(rows)} comparison{plural}: {parts}" if rows else "nothing was compared"


def _cells(row: Row) -> tuple[str, ...]:
    sizes = " ".join(f"{name}={size}" for name, size in row.sizes.items())
    return (row.name, row.engine, row.what, row.dtype, sizes, *_numbers(row), row.verdict.value)


def _numbers(row: Row) -> Iterator[str]:
    if row.difference is None:
        yield from ("-", "-", "-")
        return
    for number in (row.difference.absolute, row.difference.relative):
        yield _text(number, ".1e")
    yield _text(row.difference.ulp, ".1f" if row.difference.ulp < 1e4 else ".1e")


def _text(number: float, format_: str) -> str:
    if math.isnan(number):
        return "-"
    return "0" if number == 0 else format(number, format_)
