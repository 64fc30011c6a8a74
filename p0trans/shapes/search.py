"""Small numbers that satisfy some relations, found by trying them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, count, islice

from p0trans.shapes.bounds import SHAPE_VARIABLE, Bounds
from p0trans.shapes.relation import Relation

_MAX_TRIES = 5_000


def find_values(
    names: Sequence[str],
    bounds: Bounds,
    relations: Sequence[Relation],
    wanted: Callable[[Mapping[str, int]], bool],
    budget: int,
) -> dict[str, int] | None:
    """The first values of `names`, by ascending sum, that satisfy `relations` and are `wanted`.

    `budget` bounds the work, counted in terms of `relations` that are evaluated at most.
    """
    cost = len(names) + 2 + sum(relation.polynomial.size for relation in relations)
    for values in islice(_assignments(names, bounds), min(budget // cost + 1, _MAX_TRIES)):
        if all(relation.evaluate(values) for relation in relations) and wanted(values):
            return values
    return None


def _assignments(names: Sequence[str], bounds: Bounds) -> Iterator[dict[str, int]]:
    """Every assignment, from the lower bounds up; among equal sums the last name grows first."""
    lows = {name: bounds.get(name, SHAPE_VARIABLE).low or 1 for name in names}
    yield lows
    if not names:
        return
    for excess in count(1):
        # The ways to write `excess` as an ordered sum, as places of bars between the summands.
        places = excess + len(names) - 1
        for bars in combinations(range(places), len(names) - 1):
            ends = zip((-1, *bars), (*bars, places), strict=True)
            yield {
                name: lows[name] + end - start - 1
                for name, (start, end) in zip(names, ends, strict=True)
            }
