"""What a fix does to the text, laid out as rows of deleted and inserted lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from p0trans.diagnostics.excerpt import Cell, Role, Row, gap
from p0trans.diagnostics.measure import shown
from p0trans.diagnostics.model import Edit
from p0trans.source import Source

_LINE_END = re.compile(r"\r\n|\r|\n")
_MOST_LINES = 8
_MARGINS = 8


@dataclass(frozen=True, slots=True)
class _Change:
    """Lines `old`, the first of them number `line`, become `new`.

    `deletes` says that some old text is not part of what replaces it.
    """

    line: int
    old: tuple[str, ...]
    new: tuple[str, ...]
    deletes: bool


def rows(source: Source, edits: Sequence[Edit], room: int) -> list[Row]:
    """The lines that `edits`, all of `source`, change: as they are, where text is lost, and as
    they become. A row takes at most `room` columns."""
    changes = [_change(source, group, room) for group in _groups(source, edits)]
    result: list[Row] = []
    for change in changes:
        if result:
            result.append(gap())
        if change.deletes:
            result += _lines(change.line, change.old, change.new, "-", Role.DELETED, room)
        result += _lines(change.line, change.new, change.old, "+", Role.INSERTED, room)
    return result


def _groups(source: Source, edits: Sequence[Edit]) -> Iterator[list[Edit]]:
    """The edits in source order, those that touch the same lines together."""
    group: list[Edit] = []
    last = 0
    for edit in sorted(edits, key=lambda edit: edit.place.span):
        if group and source.position(edit.place.span.start)[0] > last:
            yield group
            group = []
        group.append(edit)
        last = source.position(edit.place.span.end)[0]
    if group:
        yield group


def _change(source: Source, edits: Sequence[Edit], room: int) -> _Change:
    """What `edits` do to their lines. A line that is far wider than `room` is cut around them."""
    margin = _MARGINS * room
    first, _ = source.position(edits[0].place.span.start)
    last, _ = source.position(edits[-1].place.span.end)
    start = max(source.line_starts[first - 1], edits[0].place.span.start - margin)
    end = edits[-1].place.span.end + margin
    if end >= (*source.line_starts[last : last + 1], len(source.text))[0]:
        end = source.line_starts[last - 1] + len(source.line(last))
    pieces: list[str] = []
    position = start
    for edit in edits:
        pieces += (source.text[position : edit.place.span.start], edit.text)
        position = edit.place.span.end
    pieces.append(source.text[position:end])
    old = _LINE_END.split(source.text[start:end])
    new = _LINE_END.split("".join(pieces))
    before = _shared(old, new)
    after = _shared(old[before:][::-1], new[before:][::-1])
    return _Change(
        first + before,
        tuple(old[before : len(old) - after]),
        tuple(new[before : len(new) - after]),
        any(map(_deletes, edits)),
    )


def _deletes(edit: Edit) -> bool:
    old, new = edit.place.text, edit.text
    before = _shared(old, new)
    after = _shared(old[before:][::-1], new[before:][::-1])
    return before + after < len(old) and old not in new


def _lines(
    number: int,
    lines: Sequence[str],
    others: Sequence[str],
    sign: str,
    role: Role,
    room: int,
) -> Iterator[Row]:
    for index, line in enumerate(lines[:_MOST_LINES]):
        other = others[index] if index < len(others) else ""
        before = _shared(line, other)
        after = _shared(line[before:][::-1], other[before:][::-1])
        view = shown(line, (before, len(line) - after), room)
        yield Row((Cell(0, view.text, role),), number=str(number + index), rule=sign)
    if len(lines) > _MOST_LINES:
        yield gap()


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    """How many items the two begin with in common."""
    # By bisection, since a slice is compared in one step: a line can be as long as a file.
    least, most = 0, min(len(one), len(other))
    while least < most:
        middle = (least + most + 1) // 2
        if one[least:middle] == other[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least
