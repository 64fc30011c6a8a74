"""Source excerpts with underlined places, laid out as rows of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise

from p0trans.diagnostics.measure import Shown, columns, shown, wrapped
from p0trans.diagnostics.model import Label
from p0trans.source import Source

_WHOLE_SPAN = 5
_LEAST_ROOM = 24


class Role(Enum):
    """What a piece of an excerpt is, which decides its colour."""

    SOURCE = auto()
    PRIMARY = auto()
    SECONDARY = auto()
    INSERTED = auto()
    DELETED = auto()


@dataclass(frozen=True, slots=True)
class Cell:
    """`text` that begins at `column`, counted from 0 at the left edge of the excerpt."""

    column: int
    text: str
    role: Role = Role.SOURCE


@dataclass(frozen=True, slots=True)
class Row:
    """One row: what stands left of the rule, the rule itself, and cells from left to right.

    A row without a rule stands for lines that are left out.
    """

    cells: tuple[Cell, ...]
    number: str = ""
    rule: str = "|"


def gap(cells: tuple[Cell, ...] = ()) -> Row:
    return Row(cells, number="...", rule="")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A labelled place as lines (from 1) and character indices (from 0) in them."""

    first: int
    start: int
    last: int
    end: int
    text: str
    primary: bool

    @property
    def role(self) -> Role:
        return Role.PRIMARY if self.primary else Role.SECONDARY

    @property
    def sign(self) -> str:
        return "^" if self.primary else "-"


@dataclass(frozen=True, slots=True)
class _Bar:
    """A place of several lines: a bar at the left, `depth` columns from the edge.

    `slash` says that it begins its line, so that the bar can begin on that line.
    """

    mark: _Mark
    depth: int
    slash: bool

    def open_at(self, line: int) -> bool:
        """Whether the bar passes the row of source line `line`."""
        return self.mark.first < line <= self.mark.last


@dataclass(frozen=True, slots=True)
class _Underline:
    """A place within one line, in columns of the excerpt."""

    start: int
    end: int
    mark: _Mark


def rows(source: Source, labels: Sequence[tuple[Label, bool]], room: int) -> list[Row]:
    """The lines of `source` that `labels` are about, each place underlined and explained.

    A label comes with whether it is the primary one; all are about `source`. A row takes at most
    `room` columns, except for labels that stand too far right to be wrapped.
    """
    marks = [_mark(source, label, primary) for label, primary in labels]
    bars = _bars(source, [mark for mark in marks if mark.first < mark.last])
    result: list[Row] = []
    previous = None
    for line in _lines(marks):
        if previous is not None and line > previous + 1:
            result.append(gap(_bar_cells(bars, line)))
        result += _line_rows(source, line, marks, bars, room)
        previous = line
    return result


def _mark(source: Source, label: Label, primary: bool) -> _Mark:
    first, start = source.position(label.place.span.start)
    last, end = source.position(max(label.place.span))
    if last > first and end == 1:
        # What follows the last line end is not part of the place.
        last -= 1
        end = len(source.line(last)) + 1
    return _Mark(first, start - 1, last, end - 1, label.text, primary)


def _lines(marks: Sequence[_Mark]) -> list[int]:
    """The lines to show: all of a short place, the ends of a long one, and gaps of one line."""
    lines: set[int] = set()
    for mark in marks:
        lines |= {mark.first, mark.last}
        if mark.last - mark.first < _WHOLE_SPAN:
            lines |= set(range(mark.first, mark.last))
    lines |= {low + 1 for low, high in pairwise(sorted(lines)) if high == low + 2}
    return sorted(lines)


def _bars(source: Source, marks: Sequence[_Mark]) -> tuple[_Bar, ...]:
    bars: list[_Bar] = []
    for mark in sorted(marks, key=lambda mark: (mark.first, -mark.last, mark.start)):
        crossed = {bar.depth for bar in bars if bar.mark.last >= mark.first}
        depth = next(depth for depth in range(len(bars) + 1) if depth not in crossed)
        bars.append(_Bar(mark, depth, not source.line(mark.first)[: mark.start].strip()))
    return tuple(bars)


def _margin(bars: Sequence[_Bar]) -> int:
    return max((bar.depth + 2 for bar in bars), default=0)


def _line_rows(
    source: Source, line: int, marks: Sequence[_Mark], bars: Sequence[_Bar], room: int
) -> Iterator[Row]:
    margin = _margin(bars)
    inner = room - margin
    text = source.line(line)
    view = shown(text, _focus(line, marks, len(text), inner), inner)
    beginning = [bar for bar in bars if bar.mark.first == line]
    slashes = tuple(Cell(bar.depth, "/", bar.mark.role) for bar in beginning if bar.slash)
    yield Row(
        _ordered(*_bar_cells(bars, line), *slashes, Cell(margin, view.text)), number=str(line)
    )
    passing = [bar for bar in bars if bar.open_at(line)]
    passing += [bar for bar in beginning if bar.slash]
    for cells in _underline_rows(line, marks, view, margin, room):
        yield Row(_ordered(*_uprights(passing), *cells))
    for bar in beginning:
        if not bar.slash:
            yield Row(_corner(bar, " ", passing, margin + view.column(bar.mark.start)))
            passing.append(bar)
    for bar in sorted(bars, key=lambda bar: -bar.depth):
        if bar.mark.last == line:
            passing.remove(bar)
            column = margin + max(0, view.column(bar.mark.end) - 1)
            label = wrapped(bar.mark.text, max(_LEAST_ROOM, room - column - 2))
            yield Row(_corner(bar, "|", passing, column, label[0]))
            for continued in label[1:]:
                cell = Cell(column + 2, continued, bar.mark.role)
                yield Row(_ordered(*_uprights(passing), cell))


def _focus(line: int, marks: Sequence[_Mark], length: int, room: int) -> tuple[int, int]:
    """The characters of the line that must stay in sight when it is cut."""
    spans = []
    for mark in sorted(marks, key=lambda mark: not mark.primary):
        if line in (mark.first, mark.last):
            start = mark.start if mark.first == line else max(0, mark.end - 1)
            end = mark.end if mark.last == line else start + 1
            spans.append((min(start, length), min(end, length)))
    if not spans:
        return (0, 0)
    hull = (min(start for start, _ in spans), max(end for _, end in spans))
    return hull if hull[1] - hull[0] < room else spans[0]


def _underline_rows(
    line: int, marks: Sequence[_Mark], view: Shown, margin: int, room: int
) -> Iterator[tuple[Cell, ...]]:
    tiers: list[list[_Underline]] = []
    for mark in sorted(marks, key=lambda mark: (not mark.primary, mark.start, -mark.end)):
        if mark.first == mark.last == line:
            start = margin + view.column(mark.start)
            underline = _Underline(start, max(start + 1, margin + view.column(mark.end)), mark)
            for tier in tiers:
                if all(_apart(underline, other) for other in tier):
                    tier.append(underline)
                    break
            else:
                tiers.append([underline])
    for tier in tiers:
        yield from _tier_rows(sorted(tier, key=lambda underline: underline.start), room)


def _apart(one: _Underline, other: _Underline) -> bool:
    return one.end <= other.start or other.end <= one.start


def _tier_rows(tier: Sequence[_Underline], room: int) -> Iterator[tuple[Cell, ...]]:
    """Underlines side by side: the last one's label behind it, the others' hung below them."""
    last = tier[-1]
    hung = [underline for underline in tier if underline.mark.text]
    column = last.end + 1
    label: tuple[str, ...] = ()
    if last.mark.text and _fits(last.mark.text, room - column):
        hung.pop()
        label = wrapped(last.mark.text, room - column)
    yield (
        *(_underline_cell(underline) for underline in tier),
        *(Cell(column, text, last.mark.role) for text in label[:1]),
    )
    for text in label[1:]:
        yield (*_threads(hung), Cell(column, text, last.mark.role))
    if hung and len(label) <= 1:
        yield _threads(hung)
    while hung:
        underline = hung.pop()
        for text in wrapped(underline.mark.text, max(_LEAST_ROOM, room - underline.start)):
            yield (*_threads(hung), Cell(underline.start, text, underline.mark.role))


def _fits(text: str, room: int) -> bool:
    return room >= min(_LEAST_ROOM, max(map(columns, wrapped(text, len(text) + 1))))


def _underline_cell(underline: _Underline) -> Cell:
    length = underline.end - underline.start
    return Cell(underline.start, underline.mark.sign * length, underline.mark.role)


def _threads(hung: Sequence[_Underline]) -> tuple[Cell, ...]:
    return tuple(Cell(underline.start, "|", underline.mark.role) for underline in hung)


def _bar_cells(bars: Sequence[_Bar], line: int) -> tuple[Cell, ...]:
    return _ordered(*_uprights([bar for bar in bars if bar.open_at(line)]))


def _uprights(bars: Sequence[_Bar]) -> tuple[Cell, ...]:
    return tuple(Cell(bar.depth, "|", bar.mark.role) for bar in bars)


def _corner(
    bar: _Bar, edge: str, passing: Sequence[_Bar], column: int, label: str = ""
) -> tuple[Cell, ...]:
    """The row that leads from the bar to the column where its place begins or ends."""
    role, sign = bar.mark.role, bar.mark.sign
    path = Cell(bar.depth, edge + "_" * (column - bar.depth - 1) + sign, role)
    outer = [other for other in passing if other.depth < bar.depth]
    behind = (Cell(column + 2, label, role),) if label else ()
    return _ordered(*_uprights(outer), path, *behind)


def _ordered(*cells: Cell) -> tuple[Cell, ...]:
    return tuple(sorted(cells, key=lambda cell: cell.column))
