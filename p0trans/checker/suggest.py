"""Names that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_CANDIDATES = 2_000


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` most likely misspells, or None when none is close."""
    # difflib costs some 10 us a candidate, so what cannot be close is left out first.
    slack = 1 if len(name) <= 4 else 2
    plausible = [
        candidate
        for candidate in dict.fromkeys(candidates)
        if candidate != name and abs(len(candidate) - len(name)) <= slack
    ][:_MOST_CANDIDATES]
    if not plausible:
        return None
    import difflib

    folded = [c for c in plausible if c.casefold() == name.casefold()]
    found = folded or difflib.get_close_matches(name, plausible, n=1, cutoff=0.7)
    return found[0] if found else None


def did_you_mean(near: str | None) -> str:
    return f"; did you mean `{near}`?" if near else ""
