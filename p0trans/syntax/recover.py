"""Going on after a syntax error: declaration by declaration, mending what can be mended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from p0trans.diagnostics.model import Diagnostic
from p0trans.source import Source, Span
from p0trans.syntax.finding import Problem
from p0trans.syntax.grammar import Run, Stop, grammar, run
from p0trans.syntax.layout import boundaries, missing_ins
from p0trans.syntax.problems import explain, explain_missing_in
from p0trans.syntax.surroundings import NAMES, surroundings
from p0trans.syntax.tokens import Token
from p0trans.syntax.tree import Declaration, Identifier
from p0trans.syntax.wording import DEFINES_ELSEWHERE

MOST_ERRORS = 100
"""How many syntax errors of one file are reported."""

_MOST_REPAIRS = 10
"""How often one declaration is mended before the rest of it is given up: each costs a run."""


class Recovered(NamedTuple):
    """What a stretch of tokens gave: what parsed, what was wrong, and the names that are lost."""

    declarations: tuple[Declaration, ...]
    diagnostics: tuple[Diagnostic, ...]
    broken: tuple[Identifier, ...]


def recover(source: Source, tokens: Sequence[Token], start: int, *, cut_short: bool) -> Recovered:
    """Parse the tokens from index `start` on, where the first error is, piece by piece.

    `cut_short` says that an open comment has swallowed the end of the text, so that an error
    there would say the same again.
    """
    cuts = [start, *boundaries(source, tokens, start + 1), len(tokens)]
    declarations: list[Declaration] = []
    diagnostics: list[Diagnostic] = []
    broken: list[Identifier] = []
    hidden = 0
    for begin, end in pairwise(cuts):
        piece = tuple(tokens[begin:end])
        if len(diagnostics) >= MOST_ERRORS:
            outcome = run(piece)
            declarations += outcome.declarations
            if outcome.stop is not None:
                hidden += 1
                broken += _names(piece, outcome.stop)
            continue
        recovered = _recover_piece(source, piece, cut_short and end == len(tokens))
        declarations += recovered.declarations
        broken += recovered.broken
        diagnostics += recovered.diagnostics
    hidden += len(diagnostics[MOST_ERRORS:])
    del diagnostics[MOST_ERRORS:]
    if hidden:
        more = f"{hidden} more syntax errors of this file are not shown"
        diagnostics[-1] = diagnostics[-1]._replace(notes=(*diagnostics[-1].notes, more))
    return Recovered(tuple(declarations), tuple(diagnostics), tuple(broken))


def _recover_piece(source: Source, tokens: tuple[Token, ...], cut_short: bool) -> Recovered:
    diagnostics: list[Diagnostic] = []
    outcome = run(tokens)
    for _ in range(_MOST_REPAIRS):
        stop = outcome.stop
        if stop is None or (cut_short and stop.index == len(tokens)):
            break
        around = surroundings(tokens, stop.declaration, stop.index)
        repaired = _insert_ins(source, tokens, stop, around.body)
        if repaired is not None:
            tokens, outcome, found = repaired
            diagnostics += found
            continue
        finding = explain(Problem(source, grammar(), tokens, stop, around))
        diagnostics.append(finding.diagnostic)
        if finding.repaired is None:
            break
        again = run(finding.repaired)
        if again.stop is not None and again.stop.index <= finding.reach:
            diagnostics[-1] = finding.diagnostic._replace(fixes=())
            break
        tokens, outcome = finding.repaired, again
    if outcome.stop is None:
        return Recovered(tuple(outcome.declarations), tuple(diagnostics), ())
    unproved = tuple(_unproved(diagnostic) for diagnostic in diagnostics)
    return Recovered(tuple(outcome.declarations), unproved, _names(tokens, outcome.stop))


def _unproved(diagnostic: Diagnostic) -> Diagnostic:
    """The same in a declaration that does not parse even so: its fixes are for a person to try.
    A missing `in` is told from the layout, and stays sure."""
    if diagnostic.code == "P0003":
        return diagnostic
    return diagnostic._replace(fixes=tuple(f._replace(machine=False) for f in diagnostic.fixes))


def _insert_ins(
    source: Source, tokens: tuple[Token, ...], stop: Stop, body: int | None
) -> tuple[tuple[Token, ...], Run, list[Diagnostic]] | None:
    """Insert what the layout says are missing `in`s; None where that explains nothing."""
    missing = missing_ins(source, tokens, body) if body is not None else []
    if not missing or missing[0].index > stop.index:
        return None
    repaired: list[Token] = []
    taken = 0
    for gap in missing:
        repaired += tokens[taken : gap.index]
        end = tokens[gap.index - 1].span.end
        repaired.append(Token("IN", "in", Span(end, end)))
        taken = gap.index
    repaired += tokens[taken:]
    again = run(repaired)
    reached = again.stop.index if again.stop is not None else len(repaired) + 1
    inserted = sum(1 for number, gap in enumerate(missing) if gap.index + number < reached)
    stops_at_in = reached < len(repaired) and repaired[reached].type == "IN"
    if stops_at_in or reached - inserted <= stop.index < len(tokens):
        return None
    found = [explain_missing_in(source, tokens, gap) for gap in missing[:inserted]]
    return tuple(repaired), again, found


def _names(tokens: Sequence[Token], stop: Stop) -> tuple[Identifier, ...]:
    """The names that the declaration under way at `stop` would have given."""
    start = stop.declaration if stop.declaration is not None else stop.index
    first = tokens[start] if start < len(tokens) else None
    if first is None or (stop.declaration is None and first.text not in DEFINES_ELSEWHERE):
        return ()
    words = tokens[start + 1 : start + 2]
    if first.type == "FROM":
        imports = [index for index in range(start, len(tokens)) if tokens[index].type == "IMPORT"]
        words = tokens[imports[0] + 1 :] if imports else ()
    return tuple(Identifier(word.span, word.text) for word in words if word.type in NAMES)
