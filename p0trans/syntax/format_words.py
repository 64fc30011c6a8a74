"""The words of a text as the formatter sees them: what stands between two of them, and how wide
they are when they stand on one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from p0trans.source import Source
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.grammar import grammar
from p0trans.syntax.surroundings import CLOSER, ENDS_VALUE, NAMES
from p0trans.syntax.tokens import Token
from p0trans.syntax.tree import Comment

_DECLARATIONS = frozenset({"LET", "FROM", "MODULE"})
_CLOSERS = frozenset(CLOSER.values())
_TIGHT_BEFORE = _CLOSERS | {"COMMA", "DOT"}
_TIGHT_AFTER = frozenset(CLOSER) | {"DOT"}
_STICKS = _CLOSERS | {"COMMA", "IN"}


class CommentLine(NamedTuple):
    """Comments that begin on one line without a word before them.

    `column` (from 0) is where the first of them began, `blank` says that a blank line was above.
    """

    text: str
    column: int
    blank: bool
    documents: bool


class Gap(NamedTuple):
    """What stands between a word and the next.

    `trailing` are the comments on the line of the word before, `lines` those on lines of their
    own. `blank` says that a blank line was right above the word after; below a doc comment there
    is none. `breaks` says that the two words cannot share a line.
    """

    trailing: str = ""
    lines: tuple[CommentLine, ...] = ()
    blank: bool = False
    breaks: bool = False

    def any_blank(self) -> bool:
        return self.blank or any(line.blank for line in self.lines)

    def blank_above(self, skip: int = 0) -> bool:
        """Whether a blank line was above what follows, but for the first `skip` comment lines."""
        return (self.lines[skip] if skip < len(self.lines) else self).blank


class Words:
    """The words of a text that parses. A range of words is given by its first and its last.

    `gaps[k]` is before word `k`, the last one at the end of the text; `closers` has, for each
    opening bracket, the index of its closing one.
    """

    def __init__(self, source: Source) -> None:
        stripped = strip_comments(source)
        self.tokens: Sequence[Token] = grammar().scanner.scan(stripped.text)
        self.gaps = _gaps(source, self.tokens, stripped.comments)
        self.closers = _closers(self.tokens)
        self._starting = {token.span.start: k for k, token in enumerate(self.tokens)}
        self._ending = {token.span.end: k for k, token in enumerate(self.tokens)}
        self._separators = _separators(self.tokens, self.gaps)
        self._offsets: list[int] = []
        self._breaks: list[int] = []
        self._followed: list[int] = [0] * len(self.tokens)
        self._measure()

    def starting_at(self, offset: int) -> int:
        return self._starting[offset]

    def ending_at(self, offset: int) -> int:
        return self._ending[offset]

    def closes(self, word: int) -> bool:
        """Whether `word` is a closing bracket."""
        return self.tokens[word].type in _CLOSERS

    def separator(self, word: int) -> int:
        """How many columns are between `word` and the one before it on the same line."""
        return self._separators[word]

    def width(self, first: int, last: int) -> int:
        """The columns of a range on one line."""
        return self._offsets[last] + len(self.tokens[last].text) - self._offsets[first]

    def followed(self, last: int) -> int:
        """The columns of what has to stand on the line of word `last`, after it."""
        return self._followed[last]

    def must_break(self, first: int, last: int) -> bool:
        """Whether a range cannot be on one line: a comment or a chain of `let`s is in it."""
        return self._breaks[last] > self._breaks[first]

    def _measure(self) -> None:
        offset = breaks = 0
        for k, token in enumerate(self.tokens):
            offset += self._separators[k]
            breaks += self.gaps[k].breaks or (k > 0 and self.tokens[k - 1].type == "IN")
            self._offsets.append(offset)
            self._breaks.append(breaks)
            offset += len(token.text)
        for k in range(len(self.tokens) - 1, 0, -1):
            token = self.tokens[k]
            if token.type in _STICKS and not self.gaps[k].breaks:
                rest = self._followed[k] if self.closes(k) else 0
                self._followed[k - 1] = self._separators[k] + len(token.text) + rest


def _closers(tokens: Sequence[Token]) -> dict[int, int]:
    closers: dict[int, int] = {}
    opened: list[int] = []
    for k, token in enumerate(tokens):
        if token.type in CLOSER:
            opened.append(k)
        elif token.type in _CLOSERS:
            closers[opened.pop()] = k
    return closers


# --- gaps ---------------------------------------------------------------------------------


def _gaps(source: Source, tokens: Sequence[Token], comments: Sequence[Comment]) -> list[Gap]:
    gaps: list[Gap] = []
    position = taken = 0
    starts = (*(token.span.start for token in tokens), len(source.text))
    for k, start in enumerate(starts):
        first = taken
        while taken < len(comments) and comments[taken].span.start < start:
            taken += 1
        gaps.append(_gap(source, position, start, comments[first:taken]))
        position = tokens[k].span.end if k < len(tokens) else start
    return gaps


def _gap(source: Source, start: int, end: int, comments: Sequence[Comment]) -> Gap:
    trailing: list[str] = []
    lines: list[CommentLine] = []
    position, breaks = start, False
    for comment in comments:
        line_ends = source.text.count("\n", position, comment.span.start)
        text = "\n".join(line.rstrip() for line in comment.text.split("\n"))
        position = comment.span.end
        if line_ends or (start == 0 and not lines):
            _, column = source.position(comment.span.start)
            blank = line_ends > 1 and (start > 0 or bool(lines))
            lines.append(CommentLine(text, column - 1, blank, comment.kind == "doc"))
        elif lines:
            lines[-1] = lines[-1]._replace(text=f"{lines[-1].text} {text}")
        else:
            trailing.append(text)
            breaks = breaks or comment.kind != "block" or "\n" in text
    documented = bool(lines) and lines[-1].documents
    blank = source.text.count("\n", position, end) > 1 and position > 0 and not documented
    return Gap(" ".join(trailing), tuple(lines), blank, breaks or bool(lines))


# --- spaces -------------------------------------------------------------------------------


def _separators(tokens: Sequence[Token], gaps: Sequence[Gap]) -> list[int]:
    return [
        len(gap.trailing) + 2 if gap.trailing else int(spaced)
        for gap, spaced in zip(gaps, _spaces(tokens), strict=False)
    ]


def _spaces(tokens: Sequence[Token]) -> Iterator[bool]:
    """For each word whether a space is before it. What is glued to what follows from the words
    alone: `f[axis=2] (-x)` but `let f [B]`, and `normal(0.02)` in a module."""
    declaration, in_brackets = "", 0
    before, last = "", ""
    for token in tokens:
        kind = token.type
        if kind in _DECLARATIONS:
            declaration = kind
        in_brackets -= kind == "RSQB"
        if not last or last in _TIGHT_AFTER or kind in _TIGHT_BEFORE:
            yield False
        elif last == "MINUS":
            yield before in ENDS_VALUE
        elif "EQUAL" in (kind, last):
            yield not in_brackets
        elif kind == "LSQB":
            heads = last in NAMES and before not in ENDS_VALUE and before != "LET"
            yield not (heads or last == "TENSOR")
        elif kind == "LPAR":
            yield not (declaration == "MODULE" and last in NAMES)
        else:
            yield True
        in_brackets += kind == "LSQB"
        before, last = last, kind
