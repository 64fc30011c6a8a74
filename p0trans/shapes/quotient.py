"""Exact division of polynomials: what a dim is a multiple of."""

from __future__ import annotations

from collections import Counter

from p0trans.shapes.dim import Dim, constant


def exact_quotient(dividend: Dim, divisor: Dim) -> Dim | None:
    """The dim that times `divisor`, which is not 0, is `dividend`; None when no polynomial is.

    Division by one polynomial in several variables (Cox, Little, O'Shea, "Ideals, Varieties, and
    Algorithms", 2.3): the leading term of what is left is divided by that of `divisor` until
    nothing is left. Raises DimLimitError.
    """
    quotient, rest = constant(0), dividend
    while rest.terms:
        term = _leading_quotient(rest, divisor)
        if term is None:
            return None
        quotient, rest = quotient + term, rest - term * divisor
    return quotient


def _leading_quotient(dividend: Dim, divisor: Dim) -> Dim | None:
    # Terms stand in graded lexicographic order.
    (atoms, coefficient), (others, divided_by) = dividend.terms[0], divisor.terms[0]
    if coefficient % divided_by or Counter(others) - Counter(atoms):
        return None
    left = (Counter(atoms) - Counter(others)).elements()
    return Dim.of({tuple(atom for atom in left): coefficient // divided_by})
