"""Phase 0 for Pygments, which documentation tools and terminals colour code with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

_DEFINITION: Final = "DEFINITION"
"""The `let` of a definition, as far as the layout tells it from that of a binding."""

_NAMED: Final = {_DEFINITION: Name.Function, "LET": Name.Variable, "MODULE": Name.Class}
"""What a name behind a word is."""

_WORDS: Final = {
    _DEFINITION: Keyword.Declaration,
    "LET": Keyword.Declaration,
    "MODULE": Keyword.Declaration,
    "FROM": Keyword.Namespace,
    "IMPORT": Keyword.Namespace,
    "TENSOR": Keyword.Type,
    "TRUE": Keyword.Constant,
    "FALSE": Keyword.Constant,
    "INF": Keyword.Constant,
    "NOT": Operator.Word,
}
"""The words of the grammar that are more than a keyword, by their terminals."""

_PUNCTUATION: Final = frozenset({"LPAR", "RPAR", "LSQB", "RSQB", "COMMA", "DOT", "COLON"})
_NUMBERS: Final = {"INT": Number.Integer, "FLOAT": Number.Float}
_COMMENTS: Final = {"line": Comment.Single, "block": Comment.Multiline, "doc": String.Doc}


class Phase0Lexer(Lexer):
    """Colours what the parser's own scanner finds; what that takes for no token is an error."""

    name = "Phase 0"
    aliases = ("phase0", "p0")
    filenames = ("*.p0",)

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """The pieces of `text` in order, each with its offset and what it is."""
        position = 0
        for start, kind, piece in sorted(_pieces(text), key=lambda entry: entry[0]):
            if position < start:
                yield position, Whitespace, text[position:start]
            yield start, kind, piece
            position = start + len(piece)
        if position < len(text):
            yield position, Whitespace, text[position:]


def _pieces(text: str) -> Iterator[tuple[int, _TokenType, str]]:
    # Pygments asks for the lexer's name and file patterns long before it lexes anything.
    from p0trans.source import Source
    from p0trans.syntax.comments import strip_comments
    from p0trans.syntax.grammar import grammar
    from p0trans.syntax.surroundings import NAMES

    source = Source("", text)
    line_starts = frozenset(source.line_starts)
    stripped = strip_comments(source)
    for comment in stripped.comments:
        yield comment.span.start, _COMMENTS[comment.kind], comment.text
    scanner = grammar().scanner
    before = ""
    for token in scanner.scan(stripped.text):
        if token.type == "LET" and token.span.start in line_starts:
            # Only the layout tells a definition from a binding before all of it is read.
            token = token._replace(type=_DEFINITION)
        if token.type == "NAME":
            kind = _name(token.text, before)
        elif token.type in _NUMBERS:
            kind = _NUMBERS[token.type]
        elif token.text not in scanner.fixed:
            kind = Error
        elif token.type in _PUNCTUATION:
            kind = Punctuation
        elif token.text.isidentifier():
            # Inside a module these begin an item; anywhere else they are names.
            named = token.type in NAMES and before in _NAMED
            kind = _NAMED[before] if named else _WORDS.get(token.type, Keyword)
        else:
            kind = Operator
        yield token.span.start, kind, token.text
        before = token.type


def _name(word: str, before: str) -> _TokenType:
    from p0trans.dtypes import DTYPES
    from p0trans.ops import CALLABLE

    if before in _NAMED:
        return _NAMED[before]
    if word in DTYPES:
        return Keyword.Type
    return Name.Builtin if word in CALLABLE else Name
