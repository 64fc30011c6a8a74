"""Numbers for shape variables that satisfy their constraints, to try a program at.

What has to hold is solved by substitution first, so that only variables that are free are drawn;
then whole assignments are drawn at random near the smallest one, and those that break a
constraint are thrown away. The numbers depend on the arguments alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from p0trans.shapes import presburger
from p0trans.shapes.bounds import SHAPE_VARIABLE, Bounds
from p0trans.shapes.dim import Constraint
from p0trans.shapes.orient import System, orient
from p0trans.shapes.search import find_values

_SEARCH_BUDGET = 300_000
_TRIES = 300
_SPREAD = 6
"""How far above its smallest number a variable is drawn."""


def sample_sizes(
    variables: Sequence[str], constraints: Sequence[Constraint], count: int, seed: int
) -> tuple[Mapping[str, int], ...]:
    """Up to `count` different assignments of numbers >= 1 that satisfy all `constraints`.

    The first has numbers that differ from each other and from 1 as far as they can, so that axes
    cannot be mistaken for one another; the second is 1 wherever it can be; the others are random.
    None are found when the constraints contradict each other, or are too hard to satisfy.
    """
    space = _Space(tuple(variables), tuple(constraints), orient(variables, constraints))
    smallest = space.smallest()
    if smallest is None:
        return ()
    complete = space.completed(smallest)
    assert complete is not None
    generator = Random(seed)
    drawn = [sizes for _ in range(_TRIES) if (sizes := space.drawn(smallest, generator))]
    different = max((*drawn, complete), key=_difference)
    found: list[Mapping[str, int]] = []
    for sizes in (different, complete, *drawn):
        if sizes not in found and len(found) < count:
            found.append(sizes)
    return tuple(found)


def _difference(sizes: Mapping[str, int]) -> tuple[int, int]:
    """How many different numbers there are, and how many that are not 1."""
    return len(set(sizes.values())), sum(size != 1 for size in sizes.values())


class _Space(NamedTuple):
    """The assignments of `variables` that satisfy `constraints`; `system` has these solved."""

    variables: tuple[str, ...]
    constraints: tuple[Constraint, ...]
    system: System

    @property
    def bounds(self) -> Bounds:
        return self.system.bounds

    def free(self) -> tuple[str, ...]:
        """The variables that substitution leaves, in the order in which the others need them."""
        names: dict[str, None] = {}
        for name in self.variables:
            replacement = self.system.replacements.get(name)
            names |= dict.fromkeys(
                [name] if replacement is None else sorted(replacement.variables())
            )
        for relation in self.system.relations:
            names |= dict.fromkeys(sorted(relation.polynomial.variables()))
        return tuple(names)

    def smallest(self) -> Mapping[str, int] | None:
        """The free variables of a valid assignment of small sum."""
        names, relations = self.free(), self.system.relations
        found = find_values(
            names,
            self.bounds,
            relations,
            lambda values: self.completed(values) is not None,
            _SEARCH_BUDGET,
        )
        if found is not None:
            return found
        model = presburger.small_model(relations, self.bounds)
        if model is None:
            return None
        values = {name: model.get(name, _low(self.bounds, name)) for name in names}
        return None if self.completed(values) is None else values

    def completed(self, values: Mapping[str, int]) -> dict[str, int] | None:
        """The assignment that gives the free variables `values`; None when it is not valid."""
        replacements = self.system.replacements
        sizes = {
            name: replacements[name].evaluate(values) if name in replacements else values[name]
            for name in self.variables
        }
        valid = min(sizes.values(), default=1) >= 1 and all(
            constraint.evaluate(sizes) for constraint in self.constraints
        )
        return sizes if valid else None

    def drawn(self, smallest: Mapping[str, int], generator: Random) -> dict[str, int] | None:
        """One random assignment; None when it breaks a constraint."""
        values: dict[str, int] = {}
        for name, least in smallest.items():
            low = generator.choice((_low(self.bounds, name), least))
            high = self.bounds.get(name, SHAPE_VARIABLE).high
            top = low + _SPREAD if high is None else max(low, min(high, low + _SPREAD))
            values[name] = generator.randint(low, top)
        return self.completed(values)


def _low(bounds: Bounds, name: str) -> int:
    return bounds.get(name, SHAPE_VARIABLE).low or 1
