"""What stands before a cursor, told from tokens alone: a text that is being typed rarely parses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple

from p0trans.source import Source, Span
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.grammar import grammar, run
from p0trans.syntax.surroundings import ENDS_VALUE, NAMES
from p0trans.syntax.tokens import STRANGE, Token

_WORD_BEFORE = re.compile(r"[A-Za-z0-9_]*\Z")


class Place(Enum):
    """What a name at the cursor would be."""

    DECLARATION = auto()  # the first word of one
    NEW = auto()  # a name that is being given
    VALUE = auto()
    TYPE = auto()
    DTYPE = auto()
    DIM = auto()
    ATTRIBUTE = auto()
    FILE = auto()
    IMPORTED = auto()
    WRAPPED = auto()  # the definition of a module
    ITEM = auto()  # a parameter of the definition that a module wraps
    INITIALIZER = auto()
    CHILD = auto()  # the module of a `sub`
    CHILD_PARAMETER = auto()


class Cursor(NamedTuple):
    """Where a cursor stands in a piece.

    `word` is the part of a word before it. `expected` are the terminals that the grammar takes
    there; none are known behind an error. `before` are the tokens of the declaration so far.
    `head` and `attribute` say whose bracket it is in and which attribute's value it is at, or
    name the module of a `sub`. `shapes`, `parameters` and `locals` are what is in scope, by the
    place of its declaration.
    """

    place: Place
    word: Span
    expected: frozenset[str]
    before: Sequence[Token]
    head: str = ""
    attribute: str = ""
    shapes: Sequence[Token] = ()
    parameters: Sequence[Token] = ()
    locals: Sequence[Token] = ()


@dataclass(slots=True)
class _Frame:
    """An open bracket: what names in it are, whose it is, and how many locals there were."""

    place: Place
    head: str = ""
    depth: int = 0
    commas: int = 0


def cursor_at(source: Source, offset: int) -> Cursor | None:
    """Where `offset` of a piece is; None inside a comment or a number."""
    stripped = strip_comments(source)
    for comment in stripped.comments:
        ends = comment.span.end + (comment.kind != "block")
        if comment.span.start < offset < ends:
            return None
    match = _WORD_BEFORE.search(source.text, 0, offset)
    assert match is not None, "the pattern matches nothing too"
    word = Span(match.start(), offset)
    if match.group()[:1].isdigit():
        return None
    tokens = grammar().scanner.scan(stripped.text, 0, word.start)
    # What no token starts with is refused everywhere, so that the parser says what it would take.
    stop = run([*tokens, Token(STRANGE, "", word)]).stop
    assert stop is not None, "no program has a strange token"
    whole = stop.index == len(tokens)
    expected = stop.expected if whole else frozenset()
    begin = stop.declaration if whole else 0
    if begin is None or begin >= len(tokens):
        return Cursor(Place.DECLARATION, word, expected, ())
    before = tokens[begin:]
    match before[0].type:
        case "FROM":
            imports = any(token.type == "IMPORT" for token in before)
            place = Place.IMPORTED if imports else Place.FILE
            return Cursor(place, word, expected, before)
        case "MODULE":
            return _in_module(word, expected, before)
        case "LET":
            return _Definition(before).cursor(word, expected)
        case _:
            return Cursor(Place.DECLARATION, word, expected, before)


def _in_module(word: Span, expected: frozenset[str], before: Sequence[Token]) -> Cursor:
    kinds = [token.type for token in before]
    last = kinds[-1]
    place, head = Place.NEW, ""
    if "WITH" not in kinds:
        place = Place.WRAPPED if last == "EQUAL" else Place.NEW
    elif last in ("PARAM", "BUFFER", "CONST"):
        place = Place.ITEM
    elif last in ("EQUAL", "LPAR", "COMMA"):
        items = [i for i, k in enumerate(kinds) if k in ("PARAM", "BUFFER", "CONST", "SUB")]
        start = items[-1] if items else 0
        if kinds[start] != "SUB":
            place = Place.INITIALIZER if last == "EQUAL" else Place.NEW
        elif "LPAR" not in kinds[start:]:
            place = Place.CHILD
        else:
            head = before[start + kinds[start:].index("LPAR") - 1].text
            place = Place.ITEM if last == "EQUAL" else Place.CHILD_PARAMETER
    return Cursor(place, word, expected, before, head)


class _Definition:
    """A definition up to a cursor."""

    def __init__(self, before: Sequence[Token]) -> None:
        self.before = before
        self.shapes: list[Token] = []
        self.parameters: list[Token] = []
        self.locals: list[Token] = []
        self.given: list[list[Token]] = []
        self.frames: list[_Frame] = []
        self.in_body = False
        # What a name right here would be, outside of brackets.
        self.place = Place.NEW
        for index in range(1, len(before)):
            self._take(index)

    def cursor(self, word: Span, expected: frozenset[str]) -> Cursor:
        frame = self.frames[-1] if self.frames else None
        place = self.place if frame is None else frame.place
        attribute = ""
        if place is Place.ATTRIBUTE and self.before[-1].type == "EQUAL":
            attribute = self.before[-2].text
        if place is Place.DTYPE and frame is not None and frame.commas:
            place = Place.DIM
        return Cursor(
            place,
            word,
            expected,
            self.before,
            "" if frame is None else frame.head,
            attribute,
            self.shapes,
            self.parameters,
            self.locals,
        )

    def _take(self, index: int) -> None:
        token, before = self.before[index], self.before[index - 1]
        match token.type:
            case "LSQB" | "LPAR":
                self.frames.append(self._opened(index))
            case "RSQB" | "RPAR" if self.frames:
                frame = self.frames.pop()
                del self.locals[frame.depth :]
            case "COMMA" if self.frames:
                self.frames[-1].commas += 1
                if self.frames[-1].place is Place.TYPE and self.frames[-1].head == "parameter":
                    self.frames[-1].place = Place.NEW
            case "COLON":
                self._now(Place.TYPE)
            case "WHERE" | "ASSUME":
                self._now(Place.DIM)
            case "EQUAL" if not self.frames or self.frames[-1].place is not Place.ATTRIBUTE:
                self.in_body = True
                self._now(Place.VALUE)
            case "LET":
                self.given.append([])
                self._now(Place.NEW)
            case "IN":
                self.locals += self.given.pop() if self.given else []
                self._now(Place.VALUE)
            case kind if kind in NAMES:
                self._name(token, before)

    def _now(self, place: Place) -> None:
        if self.frames:
            self.frames[-1].place = place
        else:
            self.place = place

    def _opened(self, index: int) -> _Frame:
        token, before = self.before[index], self.before[index - 1]
        frame = self.frames[-1] if self.frames else None
        place = self.place if frame is None else frame.place
        depth = len(self.locals)
        if token.type == "LPAR":
            if not self.in_body and place is Place.NEW:
                return _Frame(Place.NEW, "parameter", depth)
            return _Frame(place, "", depth)
        if before.type == "TENSOR":
            return _Frame(Place.DTYPE, "", depth)
        if place in (Place.DTYPE, Place.DIM, Place.ATTRIBUTE):
            return _Frame(Place.DIM, "", depth)
        if not self.in_body:
            return _Frame(Place.NEW, "shapes", depth)
        # A name that begins an application is its head; behind a value it is an argument.
        if before.type in NAMES and self.before[index - 2].type not in ENDS_VALUE:
            return _Frame(Place.ATTRIBUTE, before.text, depth)
        return _Frame(Place.DIM, "", depth)

    def _name(self, token: Token, before: Token) -> None:
        frame = self.frames[-1] if self.frames else None
        place = self.place if frame is None else frame.place
        if place is not Place.NEW:
            return
        if self.given:
            self.given[-1].append(token)
        elif frame is not None and frame.head == "shapes":
            self.shapes.append(token)
        elif frame is not None and frame.head == "parameter" and before.type == "LPAR":
            self.parameters.append(token)
