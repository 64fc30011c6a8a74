"""Constraints in one normal form: a polynomial that is zero, nonnegative or nonzero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import gcd
from typing import NamedTuple

from p0trans.shapes.dim import Constraint, Dim, Monomial, constant


class Relation(NamedTuple):
    """`polynomial == 0`, `polynomial >= 0` or `polynomial != 0`, for shape variables >= 1."""

    operator: str
    polynomial: Dim

    def evaluate(self, values: Mapping[str, int]) -> bool:
        return _compare(self.operator, self.polynomial.evaluate(values))

    def truth(self) -> bool | None:
        """Whether it holds, when no variable is left in it."""
        number = self.polynomial.as_integer()
        return None if number is None else _compare(self.operator, number)

    def negations(self) -> tuple[Relation, ...]:
        """The relations of which at least one holds exactly when this one does not."""
        below = Relation(">=", -self.polynomial - constant(1))
        above = Relation(">=", self.polynomial - constant(1))
        if self.operator == "==":
            return below, above
        if self.operator == "!=":
            return (Relation("==", self.polynomial),)
        return (below,)


def _compare(operator: str, number: int) -> bool:
    if operator == "==":
        return number == 0
    return number >= 0 if operator == ">=" else number != 0


def relation_of(constraint: Constraint) -> Relation:
    """The normal form of `constraint`; DimLimitError when its polynomial is too large."""
    left, operator, right = constraint
    match operator:
        case "==" | "!=":
            return normalized(operator, left - right)
        case ">=":
            return normalized(">=", left - right)
        case ">":
            return normalized(">=", left - right - constant(1))
        case "<=":
            return normalized(">=", right - left)
        case "<":
            return normalized(">=", right - left - constant(1))
    raise ValueError(f"{operator!r} is not a relation between dims")


def normalized(operator: str, polynomial: Dim) -> Relation:
    """The relation with the factors taken out that all terms share.

    A shared variable goes because it is >= 1. A shared number goes from all terms but the
    constant, which is then rounded: `2*K - 3 >= 0` is `K - 2 >= 0`, `2*K - 3 == 0` is false.
    """
    if polynomial.as_integer() is not None:
        return Relation(operator, polynomial)
    shared = shared_variables(polynomial)
    if shared:
        polynomial = divide_monomials(polynomial, shared)
    if polynomial.as_integer() is not None:
        return Relation(operator, polynomial)
    divisor = gcd(*(coefficient for monomial, coefficient in polynomial.terms if monomial))
    if divisor == 1:
        return Relation(operator, polynomial)
    if operator != ">=" and any(c % divisor for _, c in polynomial.terms):
        return Relation(operator, constant(1))
    return Relation(operator, Dim.of({m: c // divisor for m, c in polynomial.terms}))


def shared_variables(polynomial: Dim) -> Counter[str]:
    """The variables, with their powers, that divide every term; divisions may be 0 and stay."""
    shared: Counter[str] | None = None
    for monomial, _ in polynomial.terms:
        factors = Counter(atom for atom in monomial if isinstance(atom, str))
        shared = factors if shared is None else shared & factors
        if not shared:
            break
    return shared or Counter()


def divide_monomials(polynomial: Dim, shared: Counter[str]) -> Dim:
    """`polynomial` with the factors `shared`, which every term has, taken out."""
    return Dim.of({_without(m, shared): c for m, c in polynomial.terms})


def _without(monomial: Monomial, factors: Counter[str]) -> Monomial:
    remaining = Counter(factors)
    kept = []
    for atom in monomial:
        if isinstance(atom, str) and remaining[atom] > 0:
            remaining[atom] -= 1
        else:
            kept.append(atom)
    return tuple(kept)
