"""How text looks in a terminal: columns, escapes, line breaks and cuts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

TAB = 4
ELLIPSIS = "…"
_INVISIBLE = frozenset(("Cc", "Cf", "Cs", "Zl", "Zp"))

# Brackets hold their spaces; an empty word keeps two spaces in a row as they are.
_WORD = re.compile(r"(?:\[[^\[\]]{0,60}\]|[^ ])+|(?<= )(?= )")


def escaped(text: str) -> str:
    r"""`text` with every control, format and surrogate character written out, as in `\x1b`.

    What a file holds can then neither move the cursor nor reorder or hide other text.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(character) for character in text)


def columns(text: str) -> int:
    """How many terminal columns `text`, free of control characters, takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def wrapped(text: str, room: int) -> tuple[str, ...]:
    """`text`, escaped, in lines of at most `room` columns.

    Lines of `text` stay apart; one that begins with a space is laid out already and is kept.
    A word wider than `room` gets a line of its own. A shape such as `[B, S, D]` is one word.
    """
    lines: list[str] = []
    for line in text.split("\n"):
        clean = escaped(line)
        lines += [clean] if clean.startswith(" ") else _filled(_WORD.findall(clean) or [""], room)
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a line that is shown, with the way from its characters to columns.

    `starts` holds the column at which each character from `first` on begins, and the column
    behind the last; the shown text covers the columns from `left` to `left + room`.
    """

    text: str
    first: int
    starts: tuple[int, ...]
    left: int
    room: int

    def column(self, index: int) -> int:
        """The column of character `index` of the line, or the nearest one that is shown."""
        nearest = min(max(index - self.first, 0), len(self.starts) - 1)
        return min(max(self.starts[nearest] - self.left, 0), self.room)


def shown(line: str, focus: tuple[int, int], room: int) -> Shown:
    """`line` as it is shown in `room` columns: tabs expanded, control characters escaped.

    A line that is wider is cut on one side or both, around the characters from `focus[0]` to
    `focus[1]`; an ellipsis stands for what is cut off.
    """
    first = max(0, focus[0] - room) if len(line) > 4 * room else 0
    last = min(len(line), first + 4 * room)
    pieces, starts = _pieces(line[first:last])
    total = starts[-1]
    if total <= room and first == 0 and last == len(line):
        return Shown("".join(pieces), first, starts, 0, room)
    begin, end = (starts[min(index - first, len(pieces))] for index in focus)
    left = max(0, min(begin - max(0, room - (end - begin)) // 3, total - room))
    cut_left, cut_right = first > 0 or left > 0, last < len(line) or left + room < total
    low, high = left + cut_left, left + room - cut_right
    kept = [
        (start, piece)
        for start, end, piece in zip(starts, starts[1:], pieces, strict=False)
        if low <= start and end <= high
    ]
    lead = kept[0][0] - left if kept else 0
    text = "".join(
        (
            ELLIPSIS.ljust(lead) if cut_left else "",
            *(piece for _, piece in kept),
            ELLIPSIS if cut_right else "",
        )
    )
    return Shown(text, first, starts, left, room)


def _pieces(line: str) -> tuple[list[str], tuple[int, ...]]:
    if line.isascii() and line.isprintable():
        return list(line), tuple(range(len(line) + 1))
    pieces: list[str] = []
    starts = [0]
    for character in line:
        column = starts[-1]
        piece = " " * (TAB - column % TAB) if character == "\t" else _escaped(character)
        pieces.append(piece)
        starts.append(column + columns(piece))
    return pieces, tuple(starts)


def _filled(words: list[str], room: int) -> list[str]:
    lines = [words[0]]
    for word in words[1:]:
        if columns(lines[-1]) + 1 + columns(word) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _escaped(character: str) -> str:
    if unicodedata.category(character) not in _INVISIBLE:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
