"""Program text as lines of HTML, coloured where Pygments is installed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple, TypeAlias

from markupsafe import Markup

from p0trans.diagnostics.measure import escaped
from p0trans.source import Source, Span

Language: TypeAlias = Literal["phase0", "python"]

_STYLES = (
    ("Comment", "c"),
    ("Literal.String.Doc", "c"),
    ("Literal.String", "s"),
    ("Literal.Number", "n"),
    ("Keyword.Type", "t"),
    ("Keyword", "k"),
    ("Operator.Word", "k"),
    ("Name.Class", "t"),
    ("Name.Function", "f"),
    ("Name.Builtin", "f"),
)
"""The CSS class of each kind of token that gets a colour, the finer kinds first."""


class Mark(NamedTuple):
    """A part of a text that has the CSS class `style`."""

    span: Span
    style: str


def code_lines(source: Source, language: Language, marks: Sequence[Mark] = ()) -> list[Markup]:
    """Each line of a text, escaped, with its marks."""
    starts = source.line_starts
    cuts = sorted({*starts, *(offset for mark in marks for offset in mark.span)})
    lines: list[list[tuple[str, str]]] = [[] for _ in starts]
    for position, style, text in _tokens(source.text, language):
        end = position + len(text)
        while position < end:
            following = bisect_right(cuts, position)
            stop = min(end, cuts[following]) if following < len(cuts) else end
            over = (m.style for m in marks if m.span.start <= position and stop <= m.span.end)
            classes = " ".join(filter(None, (style, *over)))
            lines[bisect_right(starts, position) - 1].append(
                (classes, source.text[position:stop].rstrip("\r\n"))
            )
            position = stop
    return [_line(pieces) for pieces in lines]


def visible(text: str) -> str:
    """`text` with its control characters written out, except for tabs, which HTML lays out."""
    return "\t".join(map(escaped, text.split("\t")))


def _line(pieces: Sequence[tuple[str, str]]) -> Markup:
    parts = []
    for classes, group in groupby(pieces, key=lambda piece: piece[0]):
        text = visible("".join(text for _, text in group))
        if classes and text:
            parts.append(Markup('<span class="{}">{}</span>').format(classes, text))
        else:
            parts.append(Markup.escape(text))
    return Markup("").join(parts)


def _tokens(text: str, language: Language) -> Iterator[tuple[int, str, str]]:
    """The text in pieces, each with its offset and CSS class."""
    try:
        from pygments.lexers.python import PythonLexer

        from p0trans.highlight import Phase0Lexer
    except ImportError:
        yield 0, "", text
        return
    lexer = Phase0Lexer() if language == "phase0" else PythonLexer()
    for position, kind, piece in lexer.get_tokens_unprocessed(text):
        name = str(kind).removeprefix("Token.")
        style = next((style for prefix, style in _STYLES if name.startswith(prefix)), "")
        yield position, style, piece
