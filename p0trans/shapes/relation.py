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
            return _strict(left - right)
        case "<=":
            return normalized(">=", right - left)
        case "<":
            return _strict(right - left)
    raise ValueError(f"{operator!r} is not a relation between dims")


def _strict(polynomial: Dim) -> Relation:
    """`polynomial > 0`: what its terms share has to go before the 1 does."""
    shared = _shared_variables(polynomial)
    return normalized(">=", _divide_monomials(polynomial, shared) - constant(1))


def normalized(operator: str, polynomial: Dim) -> Relation:
    """The relation with the factors taken out that all terms share.

    A shared variable goes because it is >= 1. A shared number goes from all terms but the
    constant, which is then rounded: `2*K - 3 >= 0` is `K - 2 >= 0`, `2*K - 3 == 0` is false.
    """
    if polynomial.as_integer() is not None:
        return Relation(operator, polynomial)
    polynomial = _divide_monomials(polynomial, _shared_variables(polynomial))
    if polynomial.as_integer() is not None:
        return Relation(operator, polynomial)
    divisor = gcd(*(coefficient for monomial, coefficient in polynomial.terms if monomial))
    if divisor == 1:
        return Relation(operator, polynomial)
    if operator != ">=" and any(c % divisor for _, c in polynomial.terms):
        return Relation(operator, constant(1))
    return Relation(operator, Dim.of({m: c // divisor for m, c in polynomial.terms}))


def _shared_variables(polynomial: Dim) -> Counter[str]:
    """The variables, with their powers, that divide every term; divisions may be 0 and stay."""
    shared: Counter[str] | None = None
    for monomial, _ in polynomial.terms:
        factors = Counter(atom for atom in monomial if isinstance(atom, str))
        shared = factors if shared is None else shared & factors
        if not shared:
            break
    return shared or Counter()


def _divide_monomials(polynomial: Dim, shared: Counter[str]) -> Dim:
    """`polynomial` with the factors `shared`, which every term has, taken out."""
    if not shared:
        return polynomial
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
