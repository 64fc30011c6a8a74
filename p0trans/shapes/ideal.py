"""Equality of polynomials modulo polynomial equations: a Gröbner basis under a budget.

Buchberger's algorithm (B. Buchberger, 1965; Cox, Little, O'Shea, "Ideals, Varieties, and
Algorithms", chapter 2) over the rationals, in graded lexicographic order, with integer
coefficients. The full algorithm can take doubly exponential time, so the work is counted and
"not proved" is the answer when the budget is spent. Shape variables are not zero, so each
polynomial is divided by the variables that all its terms share.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from math import gcd
from operator import le
from typing import TypeAlias

from p0trans.shapes.dim import Atom, Dim, DimLimitError, constant
from p0trans.shapes.relation import Relation, normalized

_Exponents: TypeAlias = tuple[int, ...]
_Polynomial: TypeAlias = dict[_Exponents, int]

_MAX_EQUATIONS = 12
_MAX_SYMBOLS = 24
_MAX_DEGREE = 16
_BUDGET = 30_000


class _BudgetSpentError(Exception):
    pass


class _Budget:
    """Counts the terms that are worked on."""

    def __init__(self, amount: int) -> None:
        self.left = amount

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise _BudgetSpentError


def vanishes(polynomial: Dim, equations: Sequence[Relation]) -> bool:
    """Whether `polynomial` is provably zero where all `equations` (of operator `==`) hold.

    True when it lies in the ideal that they generate (saturated as far as the shared variables
    of single polynomials go); False also when that would take too long to find out.
    """
    if len(equations) > _MAX_EQUATIONS:
        return False
    try:
        dims = [_without_modulo(p) for p in (*(e.polynomial for e in equations), polynomial)]
    except DimLimitError:
        return False
    symbols = list(dict.fromkeys(atom for dim in dims for m, _ in dim.terms for atom in m))
    if len(symbols) > _MAX_SYMBOLS or any(dim.degree > _MAX_DEGREE for dim in dims):
        return False
    # Divisions come last: they are what definitions such as D = 2*(D/2) reduce to.
    symbols.sort(key=lambda atom: not isinstance(atom, str))
    positive = tuple(isinstance(atom, str) for atom in symbols)
    *generators, goal = (_polynomial(dim, symbols) for dim in dims)
    try:
        return _in_ideal(goal, generators, positive, _Budget(_BUDGET))
    except _BudgetSpentError:
        return False


def _without_modulo(dim: Dim) -> Dim:
    """`dim` with `n % d` written as `n - d*(n / d)`, so that one atom stands for both."""
    total = constant(0)
    for monomial, coefficient in dim.terms:
        term = constant(coefficient)
        for atom in monomial:
            if isinstance(atom, str) or atom.operator == "/":
                term = term * Dim.of({(atom,): 1})
            else:
                quotient = atom.numerator // atom.divisor
                term = term * (atom.numerator - quotient * constant(atom.divisor))
        total = total + term
    return normalized("==", total).polynomial


def _polynomial(dim: Dim, symbols: Sequence[Atom]) -> _Polynomial:
    return {
        tuple(monomial.count(symbol) for symbol in symbols): coefficient
        for monomial, coefficient in dim.terms
    }


def _in_ideal(
    goal: _Polynomial, generators: Iterable[_Polynomial], positive: Sequence[bool], budget: _Budget
) -> bool:
    basis = [generator for generator in generators if generator]
    goal = _remainder(goal, basis, budget)
    pairs = deque((i, j) for j in range(len(basis)) for i in range(j))
    while goal and pairs:
        i, j = pairs.popleft()
        found = _remainder(_s_polynomial(basis[i], basis[j], budget), basis, budget)
        if found:
            pairs.extend((k, len(basis)) for k in range(len(basis)))
            basis.append(_without_shared_variables(found, positive))
            goal = _remainder(goal, basis, budget)
    return not goal


def _remainder(
    polynomial: _Polynomial, basis: Sequence[_Polynomial], budget: _Budget
) -> _Polynomial:
    """What is left once no leading term of `basis` divides the leading term; {} for zero."""
    while polynomial:
        leading = _leading(polynomial)
        budget.spend(len(basis))
        divisor = next((p for p in basis if _divides(_leading(p), leading)), None)
        if divisor is None:
            break
        polynomial = _s_polynomial(polynomial, divisor, budget)
    return polynomial


def _s_polynomial(left: _Polynomial, right: _Polynomial, budget: _Budget) -> _Polynomial:
    """The combination of multiples of both in which their leading terms cancel."""
    lead_left, lead_right = _leading(left), _leading(right)
    shared = gcd(left[lead_left], right[lead_right])
    meet = tuple(map(max, lead_left, lead_right))
    total: _Polynomial = {}
    for polynomial, lead, factor in (
        (left, lead_left, right[lead_right] // shared),
        (right, lead_right, -left[lead_left] // shared),
    ):
        budget.spend(len(polynomial))
        for exponents, coefficient in polynomial.items():
            moved = tuple(e - f + m for e, f, m in zip(exponents, lead, meet, strict=True))
            total[moved] = total.get(moved, 0) + factor * coefficient
    total = {exponents: coefficient for exponents, coefficient in total.items() if coefficient}
    content = gcd(*total.values())
    return {exponents: coefficient // content for exponents, coefficient in total.items()}


def _without_shared_variables(polynomial: _Polynomial, positive: Sequence[bool]) -> _Polynomial:
    least = [
        low if nonzero else 0
        for low, nonzero in zip(map(min, zip(*polynomial, strict=True)), positive, strict=True)
    ]
    return {
        tuple(e - low for e, low in zip(exponents, least, strict=True)): coefficient
        for exponents, coefficient in polynomial.items()
    }


def _leading(polynomial: _Polynomial) -> _Exponents:
    return max(polynomial, key=lambda exponents: (sum(exponents), exponents))


def _divides(left: _Exponents, right: _Exponents) -> bool:
    return all(map(le, left, right))
