"""The page that the formatter writes: words, comments in their places, and indentation."""

from __future__ import annotations

from itertools import groupby

from p0trans.syntax.format_words import Words

LINE_LENGTH = 100

_DEEPEST = 60
"""Indentation goes no further, so that a text nested without end does not grow with the square of
its depth."""

_CONTINUED = 4
"""The further indentation of a word that a comment keeps off its line."""


class Page:
    """Lines of words. The words come in order, and with each the comments around it.

    `column` is where the next character goes.
    """

    def __init__(self, words: Words) -> None:
        self._words = words
        self._lines: list[tuple[int, str, str]] = []
        self._parts: list[str] = []
        self._trailing = ""
        self._comments_put = 0
        self._indent = 0
        self._base = 0
        self.column = 0

    def newline(self, indent: int) -> None:
        """Go on in a new line, if anything is in this one."""
        self._end_line(indent)
        self._base = self._indent

    def blank(self) -> None:
        """A blank line above the new line that has begun."""
        if self._lines:
            self._lines.append((0, "", ""))

    def place(self, word: int) -> int:
        """The column that `word` would get if it came next."""
        if not self._parts:
            return self.column
        if self._words.gaps[word].breaks:
            return min(self._base + _CONTINUED, _DEEPEST)
        return self.column + self._words.separator(word)

    def word(self, word: int) -> None:
        """Put the next word, and the comments around it that are not there yet."""
        gap = self._words.gaps[word]
        if gap.breaks and self._parts:
            self._end_line(self._base + _CONTINUED)
        if self._comments_put < len(gap.lines):
            self.comments(word)
            if gap.blank:
                self.blank()
        self._comments_put = 0
        if self._trailing:
            self._put(f" {self._trailing} ")
            self._trailing = ""
        elif self._parts:
            self.pad(self._words.separator(word))
        self._put(self._words.tokens[word].text)
        self._trailing = self._words.gaps[word + 1].trailing

    def words(self, first: int, last: int) -> None:
        for word in range(first, last + 1):
            self.word(word)

    def pad(self, columns: int) -> None:
        self._put(" " * columns)

    def comments(self, word: int, until: int | None = None) -> None:
        """Put the comments above `word` on lines of their own: the first `until`, or what is left
        of them. A blank line above the first of these is not theirs to put."""
        lines = self._words.gaps[word].lines[self._comments_put : until]
        self._comments_put += len(lines)
        for number, line in enumerate(lines):
            if number and line.blank:
                self.blank()
            self._put(_shifted(line.text, self._indent - line.column))
            self._end_line(self._indent)

    def fits(self, first: int, last: int) -> bool:
        """Whether a range fits into the line, with what has to follow on it."""
        words = self._words
        end = self.place(first) + words.width(first, last) + words.followed(last)
        return end <= LINE_LENGTH and not words.must_break(first, last)

    def text(self) -> str:
        """All lines, with the comments at the ends of neighbouring ones in one column."""
        self._end_line(0)
        lines: list[str] = []
        for (_, in_column), run in groupby(self._lines, _alignment):
            rows = [(code, comment) for _, code, comment in run]
            column = max(len(code) for code, _ in rows) if in_column else 0
            lines += [
                f"{code.ljust(column)}  {comment}" if comment else code for code, comment in rows
            ]
        return "".join(f"{line}\n" for line in lines)

    def _put(self, text: str) -> None:
        if not self._parts:
            self._parts.append(" " * self._indent)
        self._parts.append(text)
        self.column += len(text)

    def _end_line(self, indent: int) -> None:
        if self._parts:
            code = "".join(self._parts)
            self._lines.append((self._indent, code, self._trailing))
        self._parts, self._trailing = [], ""
        self._indent = self.column = min(indent, _DEEPEST)


def _alignment(line: tuple[int, str, str]) -> tuple[int, bool]:
    """What lines have in common whose comments share a column, and whether this one has any."""
    indent, _, comment = line
    return indent, bool(comment) and "\n" not in comment


def _shifted(text: str, columns: int) -> str:
    """A comment that moves by `columns`: its further lines move with it, as far as they can."""
    first, *rest = text.split("\n")
    room = min((len(line) - len(line.lstrip(" ")) for line in rest if line), default=0)
    if columns >= 0:
        rest = [f"{' ' * columns}{line}" if line else line for line in rest]
    else:
        rest = [line[min(-columns, room) :] for line in rest]
    return "\n".join((first, *rest))
