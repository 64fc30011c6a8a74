"""Where in a declaration a token stands, told from the tokens before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from p0trans.syntax.tokens import Token

NAMES = frozenset({"NAME", "PARAM", "BUFFER", "CONST", "SUB"})
"""The terminals that are names, those that only a module gives a meaning included."""

LITERALS = frozenset({"INT", "FLOAT", "INF", "TRUE", "FALSE"})

RELATIONS = frozenset({"EQ", "NE", "LT", "LE", "GT", "GE"})

CLOSER = {"LPAR": "RPAR", "LSQB": "RSQB"}

ENDS_VALUE = NAMES | LITERALS | {"RPAR", "RSQB"}
"""What a value can end with."""

STARTS_VALUE = NAMES | LITERALS | {"LPAR", "LET", "NOT"}
"""What a value can start with, but for the minus, which can also continue one."""

_HEADER_PARTS = {
    "LSQB": "in the shape parameters of",
    "LPAR": "in the parameters of",
    "COLON": "in the result type of",
    "WHERE": "in the `where` of",
    "ASSUME": "in the `assume` of",
}


class OpenLet(NamedTuple):
    """A `let … in` of a body before its `in`. `label` is empty when no name follows the `let`;
    `several` says that it takes a tuple apart."""

    let: Token
    label: str
    in_value: bool
    several: bool


class Surroundings(NamedTuple):
    """What is open at a token.

    `name` is that of the declaration, `kind` the type of its first token (empty between two
    declarations). `part` says in words what the token is in. `body` is the index of the first
    token of a definition's body, None before it. `openings` are the open brackets, the
    innermost last; `let` is the innermost open `let` within that.
    """

    name: str
    kind: str
    part: str
    body: int | None
    openings: tuple[Token, ...]
    let: OpenLet | None

    @property
    def opening(self) -> Token | None:
        return self.openings[-1] if self.openings else None


def surroundings(tokens: Sequence[Token], declaration: int | None, index: int) -> Surroundings:
    """The surroundings of token `index`, in the declaration that starts at `declaration`."""
    if declaration is None:
        return Surroundings("", "", "outside of a declaration", None, (), None)
    kind = tokens[declaration].type
    name = label_after(tokens, declaration)
    part, body = "", None
    open_tokens: list[int] = []
    values: set[int] = set()
    for position in range(declaration + 1, index):
        token = tokens[position]
        innermost = tokens[open_tokens[-1]].type if open_tokens else ""
        if body is None and not open_tokens and kind == "LET":
            if token.type == "EQUAL":
                body = position + 1
            elif token.type in _HEADER_PARTS and not (
                token.type in CLOSER and part not in ("", "LSQB", "LPAR")
            ):
                part = token.type
        if token.type in CLOSER or (token.type == "LET" and body is not None):
            open_tokens.append(position)
        elif innermost and (
            token.type == CLOSER.get(innermost) or (token.type == "IN" and innermost == "LET")
        ):
            open_tokens.pop()
        elif token.type == "EQUAL" and innermost == "LET":
            values.add(open_tokens[-1])
    openings = tuple(tokens[at] for at in open_tokens if tokens[at].type != "LET")
    if part in CLOSER and not openings:
        part = ""
    lets = [at for at in open_tokens if tokens[at].type == "LET"]
    around = (
        OpenLet(
            tokens[lets[-1]],
            label_after(tokens, lets[-1]),
            lets[-1] in values,
            lets[-1] + 1 < len(tokens) and tokens[lets[-1] + 1].type == "LPAR",
        )
        if lets
        else None
    )
    where = _words(kind, name, part, body is not None, around)
    let = around if lets and lets[-1] == open_tokens[-1] else None
    return Surroundings(name, kind, where, body, openings, let)


def label_after(tokens: Sequence[Token], index: int) -> str:
    """The name that follows token `index`, or nothing."""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    return following.text if following and following.type in NAMES else ""


def _unnamed(let: OpenLet) -> str:
    return "in a `let` of several names" if let.several else "in a `let`"


def _words(kind: str, name: str, part: str, in_body: bool, let: OpenLet | None) -> str:
    if kind == "FROM":
        return "in an import"
    if kind == "MODULE":
        return f"in the module `{name}`" if name else "in a module"
    owner = f"`{name}`" if name else "a definition"
    if let is not None:
        what = "the value of" if let.in_value else "the `let` of"
        return f"in {what} `{let.label}`" if let.label else _unnamed(let)
    if in_body:
        return f"in the body of {owner}"
    return f"{_HEADER_PARTS[part]} {owner}" if part else f"in the header of {owner}"
