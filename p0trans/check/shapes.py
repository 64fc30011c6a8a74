"""How one shape could be made into another: the questions of the debug checklist, as functions."""

from __future__ import annotations

from p0trans.ops.table import Facts
from p0trans.types import Shape, TensorType, TupleType, Type

_LARGEST_PERMUTED_RANK = 12


def same_shape(facts: Facts, left: Shape, right: Shape) -> bool:
    return len(left) == len(right) and all(
        facts.equal(a, b) for a, b in zip(left, right, strict=True)
    )


def same_type(facts: Facts, left: Type, right: Type) -> bool:
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        return left.dtype is right.dtype and same_shape(facts, left.shape, right.shape)
    if isinstance(left, TupleType) and isinstance(right, TupleType):
        return len(left.items) == len(right.items) and all(
            same_type(facts, a, b) for a, b in zip(left.items, right.items, strict=True)
        )
    return False


def permutation(facts: Facts, found: Shape, expected: Shape) -> tuple[int, ...] | None:
    """`perm` such that transposing `found` by it gives `expected`, moving as little as possible."""
    rank = len(found)
    if rank != len(expected) or not 2 <= rank <= _LARGEST_PERMUTED_RANK:
        return None
    free = list(range(rank))
    perm: list[int] = []
    for axis, dim in enumerate(expected):
        # An axis that can stay where it is stays, unless an earlier one has taken it.
        ordered = sorted(free, key=lambda candidate: (candidate != axis, candidate))
        source = next((c for c in ordered if facts.equal(found[c], dim)), None)
        if source is None:
            return None
        free.remove(source)
        perm.append(source)
    return tuple(perm) if perm != sorted(perm) else None


def regroups_cleanly(facts: Facts, found: Shape, expected: Shape) -> bool:
    """Whether a reshape from `found` only splits and merges neighbours.

    Both shapes are cut wherever the products up to the cut are equal; between two cuts one
    side must be a single dim (or none), so that no two axes are mixed.
    """
    i = j = 0
    for next_i, next_j in _cuts(facts, found, expected):
        if min(_proper(found[i:next_i]), _proper(expected[j:next_j])) > 1:
            return False
        i, j = next_i, next_j
    return (i, j) == (len(found), len(expected))


def _cuts(facts: Facts, found: Shape, expected: Shape) -> list[tuple[int, int]]:
    """Where equal products end, each beyond the one before on at least one side."""
    cuts: list[tuple[int, int]] = []
    i = j = 0
    while (i, j) != (len(found), len(expected)):
        candidates = (
            (a, b)
            for total in range(i + j + 1, len(found) + len(expected) + 1)
            for a in range(max(i, total - len(expected)), min(len(found), total - j) + 1)
            for b in (total - a,)
            if facts.equal_volume(found[i:a], expected[j:b])
        )
        cut = next(candidates, None)
        if cut is None:
            break
        cuts.append(cut)
        i, j = cut
    return cuts


def _proper(dims: Shape) -> int:
    """How many of `dims` are not the literal 1."""
    return sum(dim.as_integer() != 1 for dim in dims)


def broadcasts(facts: Facts, found: Shape, target: Shape) -> bool:
    """Whether `broadcast` takes `found` to `target`."""
    if len(found) > len(target):
        return False
    return all(
        dim.as_integer() == 1 or facts.equal(dim, target[len(target) - len(found) + axis])
        for axis, dim in enumerate(found)
    )


def placement(facts: Facts, found: Shape, target: Shape) -> tuple[int, ...] | None:
    """The axes of `target` that the dims of `found` name in order, when there is but one choice."""
    axes: list[int] = []
    for dim in found:
        matches = [axis for axis, other in enumerate(target) if facts.equal(dim, other)]
        if len(matches) != 1 or (axes and matches[0] <= axes[-1]):
            return None
        axes += matches
    return tuple(axes) if axes else None
