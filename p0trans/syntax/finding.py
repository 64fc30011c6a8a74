"""A place where parsing stopped, and what is found to be wrong there."""

from __future__ import annotations

from typing import NamedTuple

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label
from p0trans.source import Place, Source, Span
from p0trans.syntax.grammar import Grammar, Stop
from p0trans.syntax.surroundings import Surroundings
from p0trans.syntax.tokens import END, Token


class Problem(NamedTuple):
    """A place where a run stopped: at token `stop.index` of `tokens`, with `around` about it."""

    source: Source
    grammar: Grammar
    tokens: tuple[Token, ...]
    stop: Stop
    around: Surroundings

    def at(self, offset: int) -> Token:
        """The token `offset` places on; the end is a token of no width after the last one."""
        index = self.stop.index + offset
        if 0 <= index < len(self.tokens):
            return self.tokens[index]
        end = self.tokens[-1].span.end if index > 0 and self.tokens else 0
        return Token(END, "", Span(end, end))

    @property
    def token(self) -> Token:
        return self.at(0)

    @property
    def before(self) -> Token:
        return self.at(-1)

    def place(self, token: Token) -> Place:
        return Place(self.source, token.span)


class Finding(NamedTuple):
    """`repaired` are the tokens with the finding's fix applied. The fix has proved itself when
    they parse beyond the first `reach` of them."""

    diagnostic: Diagnostic
    repaired: tuple[Token, ...] | None = None
    reach: int = 0


def _replace(
    problem: Problem, start: int, stop: int, text: str
) -> tuple[Span, tuple[Token, ...], int]:
    """Put `text` in place of the tokens from `start` to `stop`, counted from the one at hand:
    the span it replaces, all tokens after that, and how many of them reach past it."""
    first, last = problem.stop.index + start, problem.stop.index + stop
    if first < last:
        span = Span(problem.tokens[first].span.start, problem.tokens[last - 1].span.end)
    else:
        end = problem.at(start - 1).span.end
        span = Span(end, end)
    new = tuple(
        token._replace(span=Span(span.start, span.end))
        for token in problem.grammar.scanner.scan(text)
    )
    return span, (*problem.tokens[:first], *new, *problem.tokens[last:]), first + len(new)


def adjacent(first: Token, second: Token) -> bool:
    return first.span.end == second.span.start


def mended(
    problem: Problem,
    code: str,
    title: str,
    tokens: tuple[int, int],
    text: str,
    *,
    at: int = 0,
    label: str = "",
    secondary: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    **facts: object,
) -> Finding:
    """A finding at token `at` whose fix puts `text` in place of the tokens from `tokens[0]` up
    to `tokens[1]`; all are counted from the token at hand."""
    span, repaired, reach = _replace(problem, *tokens, text)
    fix = Fix(title, (Edit(Place(problem.source, span), text),))
    diagnostic = diagnose(
        code,
        problem.place(problem.at(at)),
        label=label,
        secondary=secondary,
        notes=notes,
        fixes=(fix,),
        **facts,
    )
    return Finding(diagnostic, repaired, reach)
