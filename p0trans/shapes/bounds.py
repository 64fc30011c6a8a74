"""What follows from bounds on single variables, by interval arithmetic: no solver, no search."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from p0trans.shapes.dim import Atom, Dim, DimLimitError, Monomial, constant, variable
from p0trans.shapes.relation import Relation

# A substitution that could give more terms or factors than this is not made.
_MAX_TERMS = 200
_MAX_DEGREE = 40


class Interval(NamedTuple):
    """The integers from `low` to `high`; None is no bound on that side."""

    low: int | None
    high: int | None


Bounds: TypeAlias = Mapping[str, Interval]
SHAPE_VARIABLE = Interval(1, None)


def bounds_from(relations: Iterable[Relation]) -> dict[str, Interval]:
    """The bounds that relations in one variable (`2*S - 7 >= 0`) put on it."""
    bounds: dict[str, Interval] = {}
    for operator, polynomial in relations:
        if operator != ">=" or not polynomial.terms:
            continue
        (monomial, coefficient), *rest = polynomial.terms
        if len(monomial) != 1 or any(other for other, _ in rest):
            continue
        name = monomial[0]
        if not isinstance(name, str):
            continue
        offset = rest[0][1] if rest else 0
        low, high = bounds.get(name, SHAPE_VARIABLE)
        if coefficient > 0:
            limit = -(offset // coefficient)
            bounds[name] = Interval(max(low or 1, limit), high)
        else:
            limit = offset // -coefficient
            bounds[name] = Interval(low, limit if high is None else min(high, limit))
    return bounds


def interval(dim: Dim, bounds: Bounds) -> Interval:
    """An interval that holds every value of `dim`; it need not be the smallest one."""
    low: int | None = 0
    high: int | None = 0
    for monomial, coefficient in dim.terms:
        least, most = monomial_interval(monomial, bounds)
        if coefficient < 0:
            least, most = most, least
        low = None if low is None or least is None else low + coefficient * least
        high = None if high is None or most is None else high + coefficient * most
    return Interval(low, high)


def monomial_interval(monomial: Monomial, bounds: Bounds) -> Interval:
    """An interval that holds every value of the product of the atoms in `monomial`.

    No atom is negative: the canonical form of a division has no negative coefficient inside.
    """
    low = 1
    high: int | None = 1
    for atom in monomial:
        least, most = _atom_interval(atom, bounds)
        low *= least or 0
        high = None if high is None or most is None else high * most
    return Interval(low, high)


def _atom_interval(atom: Atom, bounds: Bounds) -> Interval:
    if isinstance(atom, str):
        return bounds.get(atom, SHAPE_VARIABLE)
    low, high = interval(atom.numerator, bounds)
    least = (low or 0) // atom.divisor
    most = None if high is None else high // atom.divisor
    if atom.operator == "/":
        return Interval(least, most)
    if least == most:
        return Interval((low or 0) % atom.divisor, (high or 0) % atom.divisor)
    return Interval(0, atom.divisor - 1)


def follows_from_bounds(relation: Relation, bounds: Bounds) -> bool:
    """Whether the bounds alone prove `relation`; False says nothing."""
    operator, polynomial = relation
    if operator == ">=":
        return is_nonnegative(polynomial, bounds)
    if operator == "==":
        return interval(polynomial, bounds) == (0, 0)
    one = constant(1)
    return is_nonnegative(polynomial - one, bounds) or is_nonnegative(-polynomial - one, bounds)


def is_nonnegative(polynomial: Dim, bounds: Bounds) -> bool:
    """Whether the bounds prove `polynomial >= 0`.

    Intervals lose that the variables of `B*H - B` are the same ones. So each variable is also
    written as its lower bound plus t >= 0: without a negative coefficient in the t's, as in
    (1 + b) * (1 + h) - (1 + b) = h + b*h, the polynomial cannot be negative.
    """
    low = interval(polynomial, bounds).low
    if low is not None and low >= 0:
        return True
    if polynomial.degree < 2 or polynomial.has_division:
        return False
    shifts = {
        name: variable(name) + constant(bounds.get(name, SHAPE_VARIABLE).low or 1)
        for name in polynomial.variables()
    }
    try:
        shifted = substitute_within_limits(polynomial, shifts)
    except DimLimitError:
        return False
    return all(coefficient >= 0 for _, coefficient in shifted.terms)


def substitute_within_limits(dim: Dim, replacements: Mapping[str, Dim]) -> Dim:
    """`dim.substitute(replacements)`, or DimLimitError before it takes long."""
    terms, degree = _estimate(dim, replacements)
    if terms > _MAX_TERMS or degree > _MAX_DEGREE:
        raise DimLimitError("a substitution into a dim would give too many terms")
    return dim.substitute(replacements)


def _estimate(dim: Dim, replacements: Mapping[str, Dim]) -> tuple[int, int]:
    """Upper bounds on the terms and the degree of `dim.substitute(replacements)`."""
    if replacements.keys().isdisjoint(dim.variables()):
        return 0, 0
    total, highest = 0, 0
    for monomial, _ in dim.terms:
        terms, degree = 1, 0
        for atom in monomial:
            if isinstance(atom, str):
                replacement = replacements.get(atom)
                atom_terms = 1 if replacement is None else len(replacement.terms)
                atom_degree = 1 if replacement is None else replacement.degree
            else:
                atom_terms, atom_degree = _estimate(atom.numerator, replacements)
                atom_terms, atom_degree = atom_terms + 1, max(atom_degree, 1)
            terms, degree = terms * max(atom_terms, 1), degree + atom_degree
        total, highest = total + terms, max(highest, degree)
    return total, highest
