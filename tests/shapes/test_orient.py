from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p0trans.shapes.dim import Constraint, variable
from p0trans.shapes.orient import connected_to, orient
from tests.shapes.support import (
    NAMES,
    constraint,
    constraint_strategy,
    constraints,
    dim,
    grid,
)


def replacements(variables: str, facts: str) -> Mapping[str, str]:
    system = orient(tuple(variables.split()), constraints(facts))
    return {name: str(value) for name, value in system.replacements.items()}


@pytest.mark.parametrize(
    ("variables", "facts", "expected"),
    [
        ("B H BH", "BH == B*H", {"BH": "B*H"}),
        ("BH B H", "B*H == BH", {"BH": "B*H"}),
        ("D K", "D == 2*K", {"D": "2*K"}),
        ("S T", "S == T", {"T": "S"}),
        ("S T", "S - 1 == T", {"T": "S - 1"}),
        ("A B C", "A + B == C + 1", {"C": "A + B - 1"}),
        ("K D", "K == D / 2", {"K": "D / 2"}),
        ("S", "2*S == 6", {"S": "3"}),
        ("B S H BS BSH", "BSH == BS*H, BS == B*S", {"BS": "B*S", "BSH": "B*H*S"}),
        ("A B", "A == B + 1, B == A - 1", {"A": "B + 1"}),
        ("B H G R", "B*H == G*R", {}),
        ("S", "S == S*S", {"S": "1"}),
        ("D", "D % 2 == 0", {"D": "2*D mod 2"}),
        ("D", "D % 4 == 3", {"D": "4*D mod 4 - 1"}),
        ("D", "(3*D + 1) % 6 == 4", {"D": "2*D mod 2 - 1"}),
        ("D", "2*D % 4 == 1", {}),
        ("D", "D % 2 == 5", {}),
    ],
)
def test_definitions(variables: str, facts: str, expected: Mapping[str, str]) -> None:
    assert replacements(variables, facts) == expected


def test_divisibility_by_two_numbers() -> None:
    system = orient(("D",), constraints("D % 2 == 0, D % 3 == 0"))
    assert system.reduce_dim(dim("D / 6")) is variable("D mod 2 mod 3")


def test_a_replaced_variable_is_still_positive() -> None:
    system = orient(("S", "T"), constraints("T == S - 1"))
    assert system.bounds["S"].low == 2


def test_long_chains_of_equations_end() -> None:
    names = [f"x{index}" for index in range(300)]
    facts = [constraint(f"{right} == {left}*{left}") for left, right in itertools.pairwise(names)]
    system = orient(names, facts)
    assert all(value.size < 200 for value in system.replacements.values())


@given(st.lists(constraint_strategy(), max_size=3))
def test_the_solved_system_has_the_same_solutions(facts: Sequence[Constraint]) -> None:
    system = orient(NAMES, facts)
    for values in grid(NAMES, 4):
        if all(fact.evaluate(values) for fact in facts):
            unchanged = {n: v for n, v in values.items() if n not in system.replacements}
            new = {
                name for r in system.replacements.values() for name in r.variables() - set(NAMES)
            }
            if not new:
                assert all(relation.evaluate(unchanged) for relation in system.relations)
                for name, value in system.replacements.items():
                    assert value.evaluate(unchanged) == values[name]


def test_connected_to() -> None:
    sets = [frozenset("AB"), frozenset("CD"), frozenset("BE"), frozenset()]
    assert connected_to("E", sets) == (0, 2)
    assert connected_to("D", sets) == (1,)
    assert connected_to("Z", sets) == ()
