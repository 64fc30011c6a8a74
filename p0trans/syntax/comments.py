"""Comments, taken out before parsing: blanked to spaces, so that every offset stays right."""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from p0trans.source import Source, Span
from p0trans.syntax.tree import Comment

_OPENING = re.compile(r"//[^\r\n]*|\(\*")
_NESTED = re.compile(r"\(\*|\*\)")
_NOT_LINE_END = re.compile(r"[^\r\n]")


class Stripped(NamedTuple):
    """A text without its comments.

    `text` is as long as the source's text. `unclosed` holds the `(*` that have no `*)`, the
    outermost first; what follows them is all comment.
    """

    text: str
    comments: tuple[Comment, ...]
    unclosed: tuple[Span, ...]


def strip_comments(source: Source) -> Stripped:
    """Blank every comment of `source` and collect them in order. Linear in the text."""
    text = source.text
    kept: list[str] = []
    comments: list[Comment] = []
    unclosed: list[Span] = []
    position = 0
    while match := _OPENING.search(text, position):
        start, end = match.span()
        kind = _line_kind(match.group())
        if kind == "block":
            unclosed = [Span(start, end)]
            while unclosed:
                delimiter = _NESTED.search(text, end)
                if delimiter is None:
                    end = len(text)
                    break
                end = delimiter.end()
                if delimiter.group() == "(*":
                    unclosed.append(Span(*delimiter.span()))
                else:
                    unclosed.pop()
        comment = text[start:end]
        comments.append(Comment(Span(start, end), kind, comment))
        kept.append(text[position:start])
        kept.append(_NOT_LINE_END.sub(" ", comment))
        position = end
    kept.append(text[position:])
    return Stripped("".join(kept), tuple(comments), tuple(unclosed))


def _line_kind(opening: str) -> str:
    if opening == "(*":
        return "block"
    # A row of slashes is a rule across the page, not documentation.
    return "doc" if opening.startswith("///") and not opening.startswith("////") else "line"


def doc_comments(
    source: Source, comments: Sequence[Comment], starts: Sequence[int]
) -> Mapping[int, str]:
    """The doc text before each token that has one, by the token's offset.

    `starts` are the offsets of all tokens, ascending. A doc comment is a run of `///` on
    consecutive lines of their own; each loses its `///` and one space.
    """
    runs: list[tuple[int, list[str]]] = []
    next_line = 0
    for comment in comments:
        line, column = source.position(comment.span.start)
        if comment.kind != "doc" or source.line(line)[: column - 1].strip():
            continue
        text = comment.text[3:].removeprefix(" ").rstrip()
        if line == next_line:
            runs[-1][1].append(text)
        else:
            runs.append((comment.span.start, [text]))
        next_line = line + 1
    docs: dict[int, str] = {}
    for start, lines in runs:
        following = bisect.bisect_left(starts, start)
        if following < len(starts):
            docs[starts[following]] = "\n".join(lines).rstrip("\n")
    return docs
