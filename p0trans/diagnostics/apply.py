"""Applying machine-applicable fixes to a source."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from p0trans.diagnostics.model import Diagnostic, Fix
from p0trans.source import Source

MAX_ROUNDS = 100
"""How often `fix_until_stable` checks again; each round mends at least one finding."""


def apply_fixes(source: Source, diagnostics: Sequence[Diagnostic]) -> tuple[str, int]:
    """The text of `source` with fixes applied, and how many were.

    Of each diagnostic the first machine-applicable fix counts, and only when all its edits
    are in `source`. Fixes are taken in source order, each whole or not at all; one that meets
    an edit already taken is left for the next round. Two fixes may share an identical edit,
    which is made once.
    """
    taken: list[tuple[int, int, str]] = []
    applied = 0
    for edits in sorted(_candidates(source, diagnostics)):
        fresh = [edit for edit in edits if not _contains(taken, edit)]
        if any(_meets(taken, edit) for edit in fresh):
            continue
        applied += 1
        for edit in fresh:
            insort(taken, edit)
    return _edited(source.text, taken), applied


def fix_until_stable(
    source: Source, check: Callable[[Source], Sequence[Diagnostic]]
) -> tuple[Source, int]:
    """`source` with fixes applied round by round on what `check` finds, and how many were.

    Ends when no fix is left, when a text comes back that was there before, or after
    MAX_ROUNDS rounds.
    """
    seen = {source.text}
    total = 0
    for _ in range(MAX_ROUNDS):
        text, applied = apply_fixes(source, check(source))
        if text in seen:
            break
        seen.add(text)
        total += applied
        source = replace(source, text=text)
    return source, total


def _edits(source: Source, fix: Fix) -> Iterator[tuple[int, int, str]]:
    for edit in fix.edits:
        if edit.place.source is source:
            yield (*edit.place.span, edit.text)


def _candidates(
    source: Source, diagnostics: Sequence[Diagnostic]
) -> Iterator[list[tuple[int, int, str]]]:
    for diagnostic in diagnostics:
        fix = next((fix for fix in diagnostic.fixes if fix.machine), None)
        if fix is None:
            continue
        edits = sorted(set(_edits(source, fix)))
        here = all(edit.place.source is source for edit in fix.edits)
        apart = all(not _meet(one, other) for one, other in pairwise(edits))
        if edits and here and apart:
            yield edits


def _meet(one: tuple[int, int, str], other: tuple[int, int, str]) -> bool:
    """Whether two edits, `one` not after `other`, cannot both be made in an agreed order."""
    return other[0] < one[1] or one[:2] == other[:2]


def _contains(taken: list[tuple[int, int, str]], edit: tuple[int, int, str]) -> bool:
    index = bisect_left(taken, edit)
    return index < len(taken) and taken[index] == edit


def _meets(taken: list[tuple[int, int, str]], edit: tuple[int, int, str]) -> bool:
    index = bisect_left(taken, edit)
    before = index > 0 and _meet(taken[index - 1], edit)
    after = index < len(taken) and _meet(edit, taken[index])
    return before or after


def _edited(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    pieces: list[str] = []
    position = 0
    for start, end, replacement in edits:
        pieces += (text[position:start], replacement)
        position = end
    return "".join((*pieces, text[position:]))
