"""The words of a program: what the parser is fed."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from p0trans.source import Span

if TYPE_CHECKING:
    from lark.lexer import TerminalDef

END = "$END"
"""The kind of the token after the last one, as lark calls it."""

STRANGE = "STRANGE"
"""A character that no token starts with."""

MALFORMED = "MALFORMED"
"""A number that runs on into letters or dots, such as `2K` or `1_000`."""

UNREPRESENTABLE = "UNREPRESENTABLE"
"""A number that Python will not read, or a float that would silently become infinite."""

_ALWAYS_READABLE = 600
"""Python's limit on the digits of an integer cannot be set lower than 640."""


class Token(NamedTuple):
    """One word of a program. `type` is its name in the grammar; lark reads nothing else."""

    type: str
    text: str
    span: Span


class Scanner(NamedTuple):
    """Cuts a text into tokens. `fixed` names the terminals that are one text each."""

    pattern: re.Pattern[str]
    fixed: Mapping[str, str]

    def scan(
        self, text: str, start: int = 0, end: int = sys.maxsize, most: int | None = None
    ) -> list[Token]:
        """The tokens of `text`, which has no comments left, between two offsets; at `most` so many.

        Never fails: what is no token gets a kind that the grammar does not have.
        """
        fixed = self.fixed
        tokens: list[Token] = []
        append = tokens.append
        for match in islice(self.pattern.finditer(text, start, end), most):
            word = match.group()
            kind = match.lastgroup or STRANGE
            if kind == "NAME" or kind == "PUNCTUATION":
                kind = fixed.get(word, kind)
            elif (kind == "INT" and not _is_integer(word)) or (
                kind == "FLOAT" and not math.isfinite(float(word))
            ):
                kind = UNREPRESENTABLE
            append(Token(kind, word, Span(*match.span())))
        return tokens


def _is_integer(digits: str) -> bool:
    if len(digits) <= _ALWAYS_READABLE:
        return True
    try:
        int(digits)
    except ValueError:
        return False
    return True


def scanner(terminals: Iterable[TerminalDef]) -> Scanner:
    """The scanner for the terminals of a grammar: words, punctuation, NAME, INT and FLOAT."""
    fixed = {t.pattern.value: t.name for t in terminals if t.pattern.type == "str"}
    regex = {t.name: t.pattern.value for t in terminals if t.pattern.type == "re"}
    marks = sorted((text for text in fixed if not text.isidentifier()), key=lambda m: (-len(m), m))
    punctuation = "|".join(re.escape(mark) for mark in marks)
    ends = r"(?![A-Za-z0-9_.])"
    pattern = re.compile(
        rf"(?P<NAME>{regex['NAME']})|(?P<PUNCTUATION>{punctuation})"
        rf"|(?P<FLOAT>(?:{regex['FLOAT']}){ends})|(?P<INT>{regex['INT']}{ends})"
        rf"|(?P<{MALFORMED}>[0-9][A-Za-z0-9_.]*)|(?P<{STRANGE}>[^ \t\r\n])"
    )
    return Scanner(pattern, fixed)
