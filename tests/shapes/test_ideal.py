from __future__ import annotations

import random

import pytest

from p0trans.shapes.dim import product, variable
from p0trans.shapes.ideal import vanishes
from p0trans.shapes.relation import Relation, relation_of
from tests.shapes.support import constraints, dim


def vanishes_under(polynomial: str, facts: str) -> bool:
    return vanishes(dim(polynomial), [relation_of(fact) for fact in constraints(facts)])


@pytest.mark.parametrize(
    ("polynomial", "facts"),
    [
        ("B*H*S - G*R*S", "B*H == G*R"),
        ("A*A*D - C*C*B", "A*B == C*D, A*D == C*B, A == C"),
        ("2*X - 2*Y", "2*X == 2*Y"),
        ("B*D - 2*B*(D / 2)", "D % 2 == 0"),
        ("X*X - X*Z", "X*Y == Z*Y"),
        # x*y = 1*z and y*z = x*x need an S-polynomial: x*x*x = y*z*x = z*z.
        ("X*X*X - Z*Z", "X*Y == Z, Y*Z == X*X"),
        ("X - Z", "X*A == Y*A, Y*C == Z*C"),
    ],
)
def test_members(polynomial: str, facts: str) -> None:
    assert vanishes_under(polynomial, facts)


@pytest.mark.parametrize(
    ("polynomial", "facts"),
    [
        ("B*H*S - G*R", "B*H == G*R"),
        ("B - G", "B*H == G*R"),
        ("D - 2*(D / 2)", "D % 3 == 0"),
        ("X - Y", "X*X == Y*Y"),
        ("X", ""),
        # The shared factor S / 2 may be 0, so that X and Y may differ.
        ("X - Y", "X*(S / 2) == Y*(S / 2)"),
    ],
)
def test_not_shown(polynomial: str, facts: str) -> None:
    assert not vanishes_under(polynomial, facts)


def test_many_equations_of_high_degree_end() -> None:
    draw = random.Random(7)
    names = [variable(f"x{index}") for index in range(12)]
    equations = [
        Relation("==", product(draw.sample(names, 5)) - product(draw.sample(names, 4)))
        for _ in range(10)
    ]
    assert not vanishes(product(names[:7]) - product(names[5:]), equations)
