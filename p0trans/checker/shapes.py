"""How one shape could be made into another: the questions of the debug checklist, as functions."""

from __future__ import annotations

from p0trans.ops.table import Facts
from p0trans.shapes.dim import Dim
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


def broadcasts(facts: Facts, found: Shape, target: Shape) -> bool:
    """Whether `broadcast` takes `found` to `target`."""
    if len(found) > len(target):
        return False
    return all(
        dim.as_integer() == 1 or facts.equal(dim, target[len(target) - len(found) + axis])
        for axis, dim in enumerate(found)
    )


def joint(facts: Facts, left: Shape, right: Shape) -> Shape | None:
    """The shape that both would be stretched to when both have to be, or None."""
    rank = max(len(left), len(right))
    dims: list[Dim] = []
    for axis in range(1, rank + 1):
        pair = [shape[-axis] for shape in (left, right) if axis <= len(shape)]
        wide = [dim for dim in pair if dim.as_integer() != 1] or pair
        if not all(facts.equal(wide[0], dim) for dim in wide):
            return None
        dims.insert(0, wide[0])
    shape = tuple(dims)
    return None if any(same_shape(facts, one, shape) for one in (left, right)) else shape


def placement(facts: Facts, found: Shape, target: Shape) -> tuple[int, ...] | None:
    """The axes of `target` that the dims of `found` name in order, when there is but one choice."""
    axes: list[int] = []
    for dim in found:
        matches = [axis for axis, other in enumerate(target) if facts.equal(dim, other)]
        if len(matches) != 1 or (axes and matches[0] <= axes[-1]):
            return None
        axes += matches
    return tuple(axes) if axes else None
