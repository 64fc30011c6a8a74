"""A text cut into pieces that parse on their own, so that an edit leaves most of them alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from p0trans.source import Source
from p0trans.syntax.comments import Stripped, strip_comments
from p0trans.syntax.grammar import grammar, run
from p0trans.syntax.layout import DECLARATIONS, is_boundary
from p0trans.syntax.parse import Parsed
from p0trans.syntax.tokens import Token

_LOOKAHEAD = 3
"""How many tokens `is_boundary` looks at, from the one that it is asked about."""


class _Cut(NamedTuple):
    """The offset where a piece begins; `sure` where its first word can only be a declaration's."""

    offset: int
    sure: bool


def parse_pieces(source: Source, parse_text: Callable[[str], Parsed]) -> tuple[Parsed, ...]:
    """The text of `source` in pieces, each as `parse_text` parses it.

    Every piece begins at a line start, and their texts, put together, are the source's. They
    have the declarations and errors that parsing the text as one would give, with offsets into
    the piece; only the limit on the number of errors is a piece's.
    """
    stripped = strip_comments(source)
    cuts = _cuts(source, stripped)
    pieces: list[Parsed] = []
    position = 0
    whole = True
    while position < len(cuts) - 1:
        end = position + 1
        parsed = parse_text(source.text[cuts[position].offset : cuts[end].offset])
        # From the first error on, recovery cuts at boundaries, whatever continues there.
        if whole and (parsed.diagnostics or not cuts[end].sure):
            end = _reach(stripped.text, cuts, position)
            if end > position + 1:
                parsed = parse_text(source.text[cuts[position].offset : cuts[end].offset])
            whole = cuts[end].sure and not parsed.diagnostics
        pieces.append(parsed)
        position = end
    return tuple(pieces)


def _cuts(source: Source, stripped: Stripped) -> list[_Cut]:
    """Where pieces begin, and the end of the text.

    Comments go with the declaration behind them, unless they begin on the last line of the one
    before.
    """
    text, starts = stripped.text, source.line_starts
    scan = grammar().scanner.scan
    comments = iter(stripped.comments)
    comment = next(comments, None)
    cuts = [_Cut(0, True)]
    for line, start in enumerate(starts):
        if text[start : start + 1] in " \t\r\n":  # or empty
            continue
        before = _last_token(text, starts, line)
        following = scan(text, start, most=_LOOKAHEAD)
        if before is None or not is_boundary((before, *following), 1):
            continue
        position = before.span.end
        while comment is not None and comment.span.start < start:
            same_line = source.position(comment.span.start)[0] == source.position(position)[0]
            if comment.span.start > position and same_line:
                position = comment.span.end
            comment = next(comments, None)
        offset = starts[source.position(position)[0]]
        cuts.append(_Cut(offset, following[0].type in DECLARATIONS))
    return [*cuts, _Cut(len(text), True)]


def _last_token(text: str, starts: Sequence[int], line: int) -> Token | None:
    """The last token before a line (from 0)."""
    for number in range(line - 1, -1, -1):
        tokens = grammar().scanner.scan(text, starts[number], starts[number + 1])
        if tokens:
            return tokens[-1]
    return None


def _reach(text: str, cuts: Sequence[_Cut], position: int) -> int:
    """Where the declaration that begins with piece `position` ends, as the index of a cut.

    White space means nothing: what looks like a new declaration may continue the one before.
    """
    last = len(cuts) - 1
    size = 2
    while True:
        end = min(position + size, last)
        tokens = grammar().scanner.scan(text, cuts[position].offset, cuts[end].offset)
        outcome = run(tokens)
        undecided = outcome.stop is None or outcome.stop.index == len(tokens)
        if end == last or not undecided or len(outcome.declarations) > 1:
            break
        size *= 2
    if not outcome.declarations:
        return position + 1
    reached = outcome.declarations[0].span.end
    return next(index for index in range(position + 1, last + 1) if cuts[index].offset >= reached)
