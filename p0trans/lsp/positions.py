"""Positions as the protocol counts them: lines from 0, and columns in units of an encoding."""

from __future__ import annotations

from enum import Enum

from lsprotocol.types import Position, Range

from p0trans.source import Source, Span


class Encoding(Enum):
    """What a column counts: code units of the encoding that client and server have agreed on."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"

    def units(self, text: str) -> int:
        """How many units `text` takes."""
        if self is Encoding.UTF_32 or text.isascii():
            return len(text)
        if self is Encoding.UTF_8:
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def characters(self, line: str, units: int) -> int:
        """How many whole characters of `line` fit into so many units."""
        if self is Encoding.UTF_32 or line.isascii():
            return min(units, len(line))
        taken = 0
        for index, character in enumerate(line):
            taken += self.units(character)
            if taken > units:
                return index
        return len(line)


def position_at(source: Source, offset: int, encoding: Encoding) -> Position:
    line, column = source.position(offset)
    before = source.text[offset - column + 1 : offset]
    return Position(line - 1, encoding.units(before))


def offset_at(source: Source, position: Position, encoding: Encoding) -> int:
    """The offset of a position; one beyond a line or the text is at its end."""
    if position.line >= len(source.line_starts):
        return len(source.text)
    line = source.line(position.line + 1)
    return source.line_starts[position.line] + encoding.characters(line, position.character)


def range_of(source: Source, span: Span, encoding: Encoding) -> Range:
    return Range(position_at(source, span.start, encoding), position_at(source, span.end, encoding))
