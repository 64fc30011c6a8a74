"""What changed between two texts, by lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from p0trans.source import Source


class Changes(NamedTuple):
    """Lines count from 1. `new` are those that were not there before; `gone` are the old ones that
    are not there any more, by the line that they stood before (the last plus 1 for the end)."""

    new: frozenset[int]
    gone: Mapping[int, Sequence[int]]

    @property
    def any(self) -> bool:
        return bool(self.new or self.gone)


UNCHANGED = Changes(frozenset(), {})


def changes(before: Source | None, after: Source) -> Changes:
    """What changed from `before`, None for nothing at all, to `after`."""
    old, new = (() if before is None else _lines(before)), _lines(after)
    added: set[int] = set()
    gone: dict[int, Sequence[int]] = {}
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for kind, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        if kind != "equal":
            added.update(range(new_start + 1, new_end + 1))
            if old_end > old_start:
                gone[new_start + 1] = range(old_start + 1, old_end + 1)
    return Changes(frozenset(added), gone)


def _lines(source: Source) -> tuple[str, ...]:
    return tuple(source.line(number) for number in range(1, len(source.line_starts) + 1))
