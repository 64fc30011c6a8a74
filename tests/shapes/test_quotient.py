"""Exact division of dims."""

from __future__ import annotations

import pytest

from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.shapes.facts import Facts
from p0trans.shapes.quotient import exact_quotient

A, B, C, D = map(variable, "ABCD")
ONE, TWO = constant(1), constant(2)


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [
        (A * B, A, B),
        (A * A * B, A * B, A),
        (A, A, ONE),
        (constant(6), TWO, constant(3)),
        (constant(6), constant(4), None),
        (A + A, TWO, A),
        (A + ONE, TWO, None),
        (A * B + A * C, B + C, A),
        (A * A - B * B, A + B, A - B),
        (A * A + B * B, A + B, None),
        (A * B, C, None),
        (A, A * B, None),
        ((A // 2) * B, B, A // 2),
        (A // 2, A, None),
        (TWO * A * B + TWO * B, A + ONE, TWO * B),
    ],
)
def test_exact_quotient(dividend: Dim, divisor: Dim, quotient: Dim | None) -> None:
    assert exact_quotient(dividend, divisor) is quotient


@pytest.mark.parametrize(
    ("dividend", "divisor", "quotient"),
    [(C, A, B), (D, A, TWO * B), (D, C, TWO), (C, D, None), (C, TWO, None), (A * D, C, TWO * A)],
)
def test_equations_are_used(dividend: Dim, divisor: Dim, quotient: Dim | None) -> None:
    facts = Facts(
        ("A", "B", "C", "D"), (Constraint(C, "==", A * B), Constraint(D, "==", C + A * B))
    )
    assert facts.quotient(dividend, divisor) is quotient
