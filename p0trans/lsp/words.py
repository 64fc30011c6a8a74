"""The words of a text as an editor colours them, each on one line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from p0trans.lsp.names import Name
from p0trans.lsp.positions import Encoding
from p0trans.source import Source, Span
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.grammar import grammar

_LINE = re.compile(r"[^\r\n]+")
_NUMBERS = frozenset({"INT", "FLOAT"})


class Lexical(Enum):
    """What a word is by the grammar alone."""

    KEYWORD = "keyword"
    NUMBER = "number"
    COMMENT = "comment"


class Word(NamedTuple):
    """A word's line and column, from 0, and its length, in units; what it is."""

    line: int
    column: int
    length: int
    what: Name | Lexical


def words(source: Source, names: Sequence[Name], encoding: Encoding) -> tuple[Word, ...]:
    """The names, keywords, numbers and comments of a text in order; `names` are its names."""
    found = sorted(_spans(source, names), key=lambda pair: pair[0])
    return tuple(_word(source, span, what, encoding) for span, what in found)


def _spans(source: Source, names: Sequence[Name]) -> Iterator[tuple[Span, Name | Lexical]]:
    stripped = strip_comments(source)
    for comment in stripped.comments:
        # Not every editor takes a word of several lines.
        for line in _LINE.finditer(source.text, *comment.span):
            yield Span(*line.span()), Lexical.COMMENT
    by_span = {name.span: name for name in names}
    scanner = grammar().scanner
    for token in scanner.scan(stripped.text):
        if token.span in by_span:
            yield token.span, by_span[token.span]
        elif token.text in scanner.fixed and token.text.isidentifier():
            yield token.span, Lexical.KEYWORD
        elif token.type in _NUMBERS:
            yield token.span, Lexical.NUMBER


def _word(source: Source, span: Span, what: Name | Lexical, encoding: Encoding) -> Word:
    line, column = source.position(span.start)
    before = source.text[span.start - column + 1 : span.start]
    length = encoding.units(source.slice(span))
    return Word(line - 1, encoding.units(before), length, what)
