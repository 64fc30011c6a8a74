"""What the line breaks of a broken program say that its tokens do not.

White space means nothing in Phase 0. These functions are asked only about a text that does
not parse, to tell where its writer must have meant a step or a declaration to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from p0trans.source import Source
from p0trans.syntax.surroundings import CLOSER, ENDS_VALUE, NAMES, STARTS_VALUE
from p0trans.syntax.tokens import STRANGE, Token

DECLARATIONS = frozenset({"LET", "MODULE", "FROM"})
"""The words that start a declaration; only `let` may stand anywhere else."""

_OPENS_VALUE = frozenset({"IN", "EQUAL"})


@dataclass(frozen=True, slots=True)
class MissingIn:
    """An `in` is missing before token `index` (or before the end), for the `let` at `let`."""

    index: int
    let: int


@dataclass(slots=True)
class _Frame:
    """An open bracket or `let`. `column` is 0 until the value of a `let` has begun."""

    position: int
    type: str
    column: int = 0


def boundaries(source: Source, tokens: Sequence[Token], start: int) -> list[int]:
    """The indices from `start` on where a declaration starts, or text that is meant as one:
    its word stands in the first column and does not continue what is before it."""
    line_starts = frozenset(source.line_starts)
    return [
        index
        for index in range(start, len(tokens))
        if tokens[index].span.start in line_starts and is_boundary(tokens, index)
    ]


def is_boundary(tokens: Sequence[Token], index: int) -> bool:
    """Whether the token, which is the first of its line, starts a declaration; told from the
    token before it and the two behind it."""
    kind = tokens[index].type
    before = tokens[index - 1].type if index else ""
    if kind in DECLARATIONS:
        return kind != "LET" or before not in _OPENS_VALUE or not _is_binding(tokens, index)
    if kind == STRANGE:
        return tokens[index].text != "#"
    return kind in NAMES and before in ENDS_VALUE


def _is_binding(tokens: Sequence[Token], let: int) -> bool:
    following = [token.type for token in tokens[let + 1 : let + 3]]
    return following[-1:] == ["EQUAL"] or following[:1] == ["LPAR"]


def missing_ins(source: Source, tokens: Sequence[Token], body: int) -> list[MissingIn]:
    """Where the body that starts at index `body` lacks an `in`, as its layout has it.

    A value ends where another `let` follows it, or where a line that starts no further to the
    right than its own `let` starts a new value.
    """
    missing: list[MissingIn] = []
    frames: list[_Frame] = []
    for index in range(body, len(tokens)):
        kind = tokens[index].type
        top = frames[-1] if frames else None
        if (
            top is not None
            and top.column
            and index > body
            and tokens[index - 1].type in ENDS_VALUE
            and kind in STARTS_VALUE
            and (kind == "LET" or 0 < _line_column(source, tokens, index) <= top.column)
        ):
            missing.append(MissingIn(index, top.position))
            frames.pop()
            top = frames[-1] if frames else None
        if kind == "LET" or kind in CLOSER:
            frames.append(_Frame(index, kind))
        elif kind == "EQUAL" and top is not None and top.type == "LET":
            top.column = top.column or source.position(tokens[top.position].span.start)[1]
        elif kind == "IN" and top is not None and top.type == "LET":
            frames.pop()
        elif kind in CLOSER.values():
            _close(frames, kind)
    return missing


def _line_column(source: Source, tokens: Sequence[Token], index: int) -> int:
    """The column of token `index` if it is the first of its line, else 0."""
    line, column = source.position(tokens[index].span.start)
    return column if source.position(tokens[index - 1].span.start)[0] < line else 0


def _close(frames: list[_Frame], closer: str) -> None:
    while frames:
        if CLOSER.get(frames.pop().type) == closer:
            return
