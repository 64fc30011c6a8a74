"""How a place where parsing stopped is put into words."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

from p0trans.syntax.surroundings import LITERALS, NAMES, RELATIONS
from p0trans.syntax.tokens import END, Token

LOOKALIKES: Mapping[str, str] = {
    "\u00a0": " ",
    "\u2007": " ",
    "\u202f": " ",
    "\u3000": " ",
    "\u200b": "",
    "\ufeff": "",
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u00b7": "*",
    "\u00d7": "*",
    "\u2217": "*",
    "\u22c5": "*",
    "\u00f7": "/",
    "\u2215": "/",
    "\u2260": "!=",
    "\u2264": "<=",
    "\u2265": ">=",
    "\u2227": "&&",
    "\u2228": "||",
    "\u00ac": "not ",
    "\u221e": "inf",
    "&": "&&",
    "|": "||",
    "!": "not ",
    "~": "not ",
}
"""Characters that cannot occur, with what their writer meant."""

_DEFINITION = "a definition reads `let name [shape parameters] (parameter : type) : type = body`"

HABITS: Mapping[str, str] = {
    "@": "a matrix product is `matmul a b`",
    "#": "a comment starts with `//`",
    ";": "steps are separated by `in`, not by semicolons",
    '"': "Phase 0 has no strings",
    "'": "Phase 0 has no strings",
    "{": "Phase 0 has no braces: a body is one expression, built from `let … in`",
    "}": "Phase 0 has no braces: a body is one expression, built from `let … in`",
    "^": "a power is `pow a b`",
    "?": "a choice is `select condition a b`",
    ".": "values have no attributes or methods: `x.T` is `transpose[perm=[1, 0]] x`",
    "->": "the type of the result follows a `:`",
    "**": "a power is `pow a b`",
    "def": _DEFINITION,
    "fn": _DEFINITION,
    "function": _DEFINITION,
    "class": "state is declared with `module Name = definition with …`",
    "import": "an import reads `from file import name`",
    "return": "the last expression of a body is its result",
    "rec": "there is no recursion: a definition may use only those above it",
    "if": "a choice is `select condition a b`",
    "lambda": "functions are definitions at the top level; there are no anonymous ones",
}
"""Habits from other languages, by the text that shows them."""

DEFINES_ELSEWHERE = frozenset({"def", "fn", "function"})
"""Words that start a definition in other languages; the name follows, as after `let`."""

_VALUE = NAMES | LITERALS | {"LPAR"}

_GROUPS: tuple[tuple[frozenset[str], frozenset[str], str], ...] = (
    (_VALUE | {"MINUS", "NOT"}, frozenset({"LET"}), "an expression"),
    (_VALUE, frozenset({"LSQB"}), "an argument"),
    (NAMES | {"INT", "LPAR", "MINUS"}, frozenset(), "a dim"),
    (NAMES, frozenset(), "a name"),
    (frozenset({"PARAM", "BUFFER", "CONST", "SUB"}), frozenset(), "the next item of the module"),
    (LITERALS, frozenset({"MINUS"}), "a number"),
    (RELATIONS, frozenset(), "a comparison"),
    (
        frozenset({"PLUS", "MINUS"}),
        frozenset({"STAR", "SLASH", "PERCENT", "AND", "OR"}),
        "an operator",
    ),
    (frozenset({"STAR", "SLASH"}), frozenset({"PERCENT", "AND", "OR"}), "an operator"),
    (frozenset({"AND", "OR"}), frozenset(), "an operator"),
    (frozenset({"TENSOR", "LPAR"}), frozenset(), "a type"),
    (frozenset({"LET", "MODULE", "FROM"}), frozenset({END}), "the next declaration"),
)
"""Terminals that go by one phrase: all of the first must be there, the second may be."""


def expectation(expected: frozenset[str], words: Mapping[str, str]) -> str:
    """What could have come, such as "expected `)`, an operator or an argument"."""
    rest = expected
    phrases: list[str] = []
    for needed, absorbed, phrase in _GROUPS:
        if needed <= rest:
            rest = rest - needed - absorbed
            phrases.append(phrase)
    quoted = sorted(f"`{words.get(terminal, terminal)}`" for terminal in rest - {END})
    parts = list(dict.fromkeys(quoted + phrases))
    if END in rest:
        parts.append("the end of the file")
    if not parts:
        return ""
    return "expected " + " or ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def found(token: Token) -> str:
    """What was found, quoted: a long word is cut, an invisible character gets its name."""
    text = token.text
    if token.type == END:
        return "end of the declaration"
    if text and not (text.isascii() and text.isprintable()):
        known = unicodedata.name(text, "a control character")
        shown = f"`{text}`, " if text.isprintable() else ""
        return f"{shown}U+{ord(text):04X} ({known.lower()})"
    return f"`{text}`" if len(text) <= 40 else f"`{text[:40]}…`"
