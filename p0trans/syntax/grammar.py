"""The grammar as a machine: built once from phase0.lark, then fed a list of tokens."""

from __future__ import annotations

import bisect
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from p0trans.source import Span
from p0trans.syntax.tokens import END, Scanner, Token, scanner
from p0trans.syntax.tree import Declaration

if TYPE_CHECKING:
    from lark import Lark
    from lark import Token as LarkToken


class Grammar(NamedTuple):
    """`words` has the text of each terminal that is always the same: `LPAR` is `(`."""

    parser: Lark
    scanner: Scanner
    words: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stop:
    """Where a run had to stop.

    `index` is that of the token that does not fit (the number of tokens when it is their end),
    `expected` has the names of the terminals that would have, and `declaration` is the index
    of the first token of the declaration that was under way, None between two.
    """

    index: int
    expected: frozenset[str]
    declaration: int | None


class Run(NamedTuple):
    """The declarations that were complete, and why there are no more."""

    declarations: list[Declaration]
    stop: Stop | None


@cache
def grammar() -> Grammar:
    """The grammar, from lark's cache where there is one."""
    from lark import Lark, __version__

    from p0trans.syntax import build

    text = resources.files("p0trans.syntax").joinpath("phase0.lark").read_text("utf-8")
    tag = f"{__version__}-{sys.implementation.cache_tag}"
    parser = Lark(
        text,
        parser="lalr",
        lexer="basic",
        start="file",
        keep_all_tokens=True,
        transformer=build,
        cache=_cache_file(hashlib.sha256((text + tag).encode()).hexdigest()),
    )
    scan = scanner(parser.terminals)
    return Grammar(parser, scan, {name: word for word, name in scan.fixed.items()})


def _cache_file(digest: str) -> str | bool:
    """Where lark keeps the tables: False where there is no place for them.

    lark takes a file that is torn, stale or unreadable for none, builds the tables and writes
    them again; so processes that start together at worst all do that work.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "p0trans"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return str(folder / f"phase0-{digest[:16]}.pickle")


def run(tokens: Sequence[Token]) -> Run:
    """Parse `tokens` as a file, as far as they are one."""
    from lark import UnexpectedToken

    state = grammar().parser.parse_interactive().parser_state
    feed = state.feed_token
    index = -1
    try:
        # lark reads no more of a token than its type.
        for token in cast("Sequence[LarkToken]", tokens):
            index += 1
            feed(token)
        index = len(tokens)
        end = cast("LarkToken", Token(END, "", Span(0, 0)))
        return Run(feed(end, True), None)
    except UnexpectedToken:
        expected = _shiftable(state.parse_conf.states, state.state_stack)
        values = state.value_stack
        declaration = None
        if len(values) > 1:
            declaration = bisect.bisect_left(tokens, values[1].span, key=lambda t: t.span)
        return Run(values[0] if values else [], Stop(index, expected, declaration))


def _shiftable(states: Mapping[Any, Mapping[str, Any]], stack: Sequence[Any]) -> frozenset[str]:
    """The terminals that a parser with this stack of states would take next.

    Simulates the reductions that each would set off, on an overlay of the stack, which may
    be deep: lark's own `accepts` copies it once for each terminal.
    """
    from lark.parsers.lalr_analysis import Shift

    def takes(terminal: str) -> bool:
        depth, overlay = len(stack) - 1, [stack[-1]]
        while True:
            entry = states[overlay[-1]].get(terminal)
            if entry is None:
                return False
            action, target = entry
            if action is Shift:
                return True
            size = len(target.expansion)
            popped = min(size, len(overlay))
            del overlay[len(overlay) - popped :]
            depth -= size - popped
            top = overlay[-1] if overlay else stack[depth - 1]
            overlay.append(states[top][target.origin.name][1])

    return frozenset(t for t in states[stack[-1]] if t.isupper() and takes(t))
