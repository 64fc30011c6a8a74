"""Linear integer arithmetic with floor and modulo, decided by isl (through islpy).

A product of variables is a new unknown here, of which only a lower bound and how it compares
with its own factors are known: sound, and incomplete. isl's work is counted by isl; a question
that takes too much of it counts as not answered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from p0trans.shapes.bounds import Bounds, monomial_interval
from p0trans.shapes.dim import Dim, Monomial
from p0trans.shapes.relation import Relation

if TYPE_CHECKING:
    import islpy

_MAX_OPERATIONS = 10_000
_MAX_LEXMIN_OPERATIONS = 1_000
_MAX_SYMBOLS = 40
_MAX_RELATIONS = 80
_MAX_SIZE = 1_000


def is_impossible(relations: Sequence[Relation], bounds: Bounds) -> bool:
    """Whether no integers satisfy all `relations`; False also when isl gave up."""
    problem = _Problem(bounds)
    text = problem.text(relations)
    if text is None:
        return False
    import islpy

    try:
        return bool(islpy.Set.read_from_str(_context(_MAX_OPERATIONS), text).is_empty())
    except islpy.Error:
        return False


def entails(relations: Sequence[Relation], bounds: Bounds, goal: Relation) -> bool:
    """Whether `goal` provably holds wherever all `relations` do."""
    return all(is_impossible((*relations, negation), bounds) for negation in goal.negations())


def small_model(relations: Sequence[Relation], bounds: Bounds) -> Mapping[str, int] | None:
    """Values of the variables outside products that satisfy all `relations`: those of least
    sum if isl finds them, else any. With products the relations may fail for them.

    None when there are none or isl gave up.
    """
    problem = _Problem(bounds)
    text = problem.text(relations, with_sum=True)
    if text is None:
        return None
    for minimize in (True, False):
        coordinates = _point(text, minimize)
        if coordinates is not None:
            # The first coordinate is the sum.
            return {
                monomial[0]: value
                for monomial, value in zip(problem.symbols, coordinates[1:], strict=True)
                if len(monomial) == 1 and isinstance(monomial[0], str)
            }
    return None


def _point(text: str, minimize: bool) -> list[int] | None:
    import islpy

    context = _context(_MAX_LEXMIN_OPERATIONS if minimize else _MAX_OPERATIONS)
    try:
        points = islpy.Set.read_from_str(context, text)
        point = (points.lexmin() if minimize else points).sample_point()
        if point.is_void():
            return None
        # Reading the result counts as work too.
        context.set_max_operations(0)
        return [
            point.get_coordinate_val(islpy.dim_type.set, index).to_python()
            for index in range(points.dim(islpy.dim_type.set))
        ]
    except islpy.Error:
        return None


def _context(operations: int) -> islpy.Context:
    import islpy

    context = islpy.Context()
    context.set_max_operations(operations)
    return context


class _Problem:
    """The isl text of a set of relations; `symbols` names its unknowns in order."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.symbols: dict[Monomial, str] = {}

    def text(self, relations: Sequence[Relation], with_sum: bool = False) -> str | None:
        """`{ [x0, x1] : … }`, or None when there is too much of it.

        With `with_sum` the sum of all unknowns comes first, for a lexicographic minimum.
        """
        if (
            len(relations) > _MAX_RELATIONS
            or sum(relation.polynomial.size for relation in relations) > _MAX_SIZE
        ):
            return None
        conditions = [
            f"{self._dim(polynomial)} {'=' if operator == '==' else operator} 0"
            for operator, polynomial in relations
        ]
        if len(self.symbols) > _MAX_SYMBOLS:
            return None
        conditions.extend(self._limits())
        names = list(self.symbols.values())
        if with_sum:
            conditions.append(f"total = {' + '.join(names) or '0'}")
            names.insert(0, "total")
        return f"{{ [{', '.join(names)}] : {' and '.join(conditions)} }}"

    def _dim(self, dim: Dim) -> str:
        parts = []
        for monomial, coefficient in dim.terms:
            if not monomial:
                parts.append(str(coefficient))
            elif len(monomial) == 1 and not isinstance(monomial[0], str):
                operator, numerator, divisor = monomial[0]
                inner = self._dim(numerator)
                division = (
                    f"floor(({inner})/{divisor})"
                    if operator == "/"
                    else f"(({inner}) mod {divisor})"
                )
                parts.append(f"{coefficient}*{division}")
            else:
                name = self.symbols.setdefault(monomial, f"x{len(self.symbols)}")
                parts.append(f"{coefficient}*{name}")
        return " + ".join(parts) or "0"

    def _limits(self) -> Iterable[str]:
        """Bounds of each unknown; a product is at least as large as a part of it."""
        for monomial, name in self.symbols.items():
            low, high = monomial_interval(monomial, self.bounds)
            yield f"{name} >= {low}"
            if high is not None:
                yield f"{name} <= {high}"
        for product, name in self.symbols.items():
            if len(product) < 2:
                continue
            for part, part_name in self.symbols.items():
                rest = Counter(product) - Counter(part)
                if part == product or len(product) != len(part) + rest.total():
                    continue
                factor = monomial_interval(tuple(rest.elements()), self.bounds).low
                yield f"{name} >= {factor}*{part_name}"
