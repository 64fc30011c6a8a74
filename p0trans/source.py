"""A source text, its name and its lines; the only module that turns offsets into lines."""

from __future__ import annotations

import bisect
import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n|\r|\n")


class Span(NamedTuple):
    """A half-open range of character offsets into one source text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers this one and `other`."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """One text with the name that messages call it by.

    `path` is None for text that came from standard input or from a string.
    `bom` records that the file began with a byte order mark, which `text` does not hold.
    """

    name: str
    text: str
    path: Path | None = None
    bom: bool = False
    line_starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = (0, *(match.end() for match in _LINE_END.finditer(self.text)))
        object.__setattr__(self, "line_starts", starts)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both counted from 1, the column in characters."""
        line = bisect.bisect_right(self.line_starts, offset)
        return line, offset - self.line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of line `number` (from 1), without its line end."""
        start = self.line_starts[number - 1]
        end = self.line_starts[number] if number < len(self.line_starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def slice(self, span: Span) -> str:
        return self.text[span.start : span.end]

    def digest(self) -> str:
        """SHA-256 (hex) of the text with its line ends normalised, so that a checkout that
        rewrites line ends does not look like a changed source."""
        return hashlib.sha256(_LINE_END.sub("\n", self.text).encode()).hexdigest()


class Place(NamedTuple):
    """A span in a particular source."""

    source: Source
    span: Span

    @property
    def text(self) -> str:
        return self.source.slice(self.span)
