"""What a reshape does with a shape: which stretches of it become which.

It is all about sizes. `provenance` says of which axes they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

from p0trans.ops.table import Facts
from p0trans.shapes import facts as shapes
from p0trans.shapes.dim import Dim
from p0trans.types import Shape

# More axes than this are no program of a person, and would cost a square.
_MAX_REGROUPED = 24
# Of more axes than this not every order is tried.
_MOST_PERMUTED = 4


class Run(NamedTuple):
    """`found[start:end]` of a reshape becomes `target[target_start:target_end]`: the shortest
    stretch of equal product on both sides."""

    start: int
    end: int
    target_start: int
    target_end: int


def runs(facts: Facts, found: Shape, target: Shape) -> tuple[Run, ...] | None:
    """Two shapes of equal volume, cut wherever the products up to the cut are provably equal.

    None when too many axes are involved to be worth the search.
    """
    i, j, end_i, end_j = 0, 0, len(found), len(target)
    if end_i + end_j > _MAX_REGROUPED:
        return None
    first: list[Run] = []
    last: list[Run] = []
    # What is equal at the end is cut off first: with it no product has to be compared.
    while end_i and end_j and found[end_i - 1] is target[end_j - 1]:
        end_i, end_j = end_i - 1, end_j - 1
        last.append(Run(end_i, end_i + 1, end_j, end_j + 1))
    while (i, j) != (end_i, end_j):
        if i < end_i and j < end_j and found[i] is target[j]:
            a, b = i + 1, j + 1
        elif min(len(proper(found, i, end_i)), len(proper(target, j, end_j))) <= 1:
            a, b = end_i, end_j
        else:
            a, b = next(
                (a, b)
                for a, b in _prefixes(i, j, end_i, end_j)
                if (a, b) == (end_i, end_j) or _equal_volume(facts, found[i:a], target[j:b])
            )
        first.append(Run(i, a, j, b))
        i, j = a, b
    return (*first, *reversed(last))


def _prefixes(i: int, j: int, last_i: int, last_j: int) -> Iterator[tuple[int, int]]:
    """Where a run from (i, j) may end, the shortest first."""
    for total in range(i + j + 1, last_i + last_j + 1):
        for a in range(max(i, total - last_j), min(last_i, total - j) + 1):
            yield a, total - a


def _equal_volume(facts: Facts, left: Shape, right: Shape) -> bool:
    if not left or not right:
        return all(dim.as_integer() == 1 for dim in (*left, *right))
    return facts.equal_volume(left, right)


def proper(shape: Shape, start: int, end: int) -> list[int]:
    """The axes from `start` to `end` that are not the literal 1."""
    return [axis for axis in range(start, end) if shape[axis].as_integer() != 1]


def mixes(found: Shape, target: Shape, run: Run) -> bool:
    """Whether several axes become several others in a run."""
    return (
        len(proper(found, run.start, run.end)) > 1
        and len(proper(target, run.target_start, run.target_end)) > 1
    )


def clean(facts: Facts, found: Shape, target: Shape) -> bool:
    """Whether a reshape provably only merges whole axes that are neighbours, and splits axes."""
    cuts = runs(facts, found, target)
    return cuts is not None and not any(mixes(found, target, run) for run in cuts)


def rearranged(facts: Facts, found: Shape, target: Shape) -> bool:
    """Whether a reshape that is not clean would be so from, or to, another order of the axes.

    Then that other order was meant, and a transpose is missing. Of many axes not every order is
    tried.
    """
    if clean(facts, found, target):
        return False
    first, second = _without_ones(found), _without_ones(target)
    return (
        Counter(first) == Counter(second)
        or any(clean(facts, order, second) for order in _orders(first))
        or any(clean(facts, first, order) for order in _orders(second))
    )


def _without_ones(shape: Shape) -> Shape:
    return tuple(shape[axis] for axis in proper(shape, 0, len(shape)))


def _orders(shape: Shape) -> Iterator[Shape]:
    return permutations(shape) if len(shape) <= _MOST_PERMUTED else iter(())


def split_and_merged(facts: shapes.Facts, found: Shape, target: Shape) -> Shape | None:
    """The shape that `found` is split into and `target` is merged from, axis by axis, with the
    elements in their places: `[G, K, H, W]` between `[C, H, W]` and `[G, M]`, where C is G * K
    and M is K * H * W.

    None where there is provably none such, where a transpose was meant, and where it cannot be
    told.
    """
    if len(_without_ones(found)) > _MOST_PERMUTED or rearranged(facts, found, target):
        return None
    parts: list[Dim] = []
    left, right = list(reversed(found)), list(reversed(target))
    while left and right:
        one, other = left.pop(), right.pop()
        # The smaller of two that begin at the same place is a part, the rest is still to come.
        if facts.equal(one, other):
            parts.append(one)
        elif (rest := facts.quotient(one, other)) is not None:
            parts.append(other)
            left.append(rest)
        elif (rest := facts.quotient(other, one)) is not None:
            parts.append(one)
            right.append(rest)
        else:
            return None
    return tuple(parts)
