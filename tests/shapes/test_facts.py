from __future__ import annotations

import itertools
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from p0trans.shapes.dim import Constraint, Dim, constant, product, variable
from p0trans.shapes.facts import Facts
from tests.shapes.support import (
    NAMES,
    constraint,
    constraint_strategy,
    constraints,
    dim,
    dim_strategy,
    dims,
    grid,
)


def facts(variables: str, known: str = "") -> Facts:
    return Facts(tuple(variables.split()), constraints(known))


@pytest.mark.parametrize(
    ("known", "goal"),
    [
        ("", "S >= 1"),
        ("", "0 <= K"),
        ("", "K < 2*K"),
        ("", "B*H >= H"),
        ("", "D - 2*(D / 2) == D % 2"),
        ("S >= 2", "S - 1 >= 1"),
        ("S >= 2", "S / 2 < S"),
        ("D % 2 == 0", "0 <= D / 2"),
        ("D % 2 == 0", "D / 2 < D"),
        ("D % 2 == 0", "D / 2 + D / 2 == D"),
        ("D % 2 == 0, D % 3 == 0", "D % 6 == 0"),
        ("W <= S, S <= T", "W <= T"),
        ("W + 1 <= S", "W != S"),
        ("D == H*K", "D >= K"),
        ("D == H*K", "H*K*B == D*B"),
        ("S != 1", "S >= 2"),
        ("A*X == A*Y", "X == Y"),
        ("BSH == BS*H, BS == B*S", "BSH == B*S*H"),
        ("B*H == G*R, S >= 2", "B*H*S > G*R"),
        ("A == 3, B == 4, C == A*B", "C == 12"),
    ],
)
def test_proved(known: str, goal: str) -> None:
    held = facts("A B C D G H K R S T W X Y BS BSH", known)
    assert held.holds(constraint(goal))
    assert held.counterexample(constraint(goal)) is None


@pytest.mark.parametrize(
    ("variables", "known", "goal", "numbers"),
    [
        ("B K", "", "3*K % 2 == 0", {"K": 1}),
        ("B S", "", "S - 1 >= 1", {"S": 1}),
        ("S W", "S >= 4", "W <= S", {"S": 4, "W": 5}),
        ("W S", "S >= 4", "W <= S", {"W": 5, "S": 4}),
        ("B H S BH", "", "BH == B*H", {"B": 1, "H": 1, "BH": 2}),
        ("B H K BH", "BH == B*H, K >= 3", "BH == B", {"B": 1, "H": 2, "BH": 2}),
        ("D", "D % 4 == 0", "D % 8 == 0", {"D": 4}),
        ("S", "S >= 123456", "S % 2 == 1", {"S": 123456}),
        ("A B", "7*A == 5*B, A > 1000", "A == B", {"A": 1005, "B": 1407}),
        ("", "", "2 == 3", {}),
    ],
)
def test_refuted(variables: str, known: str, goal: str, numbers: Mapping[str, int]) -> None:
    held = facts(variables, known)
    assert not held.holds(constraint(goal))
    found = held.counterexample(constraint(goal))
    assert found == numbers
    assert list(found) == list(numbers)


@pytest.mark.parametrize(
    ("known", "left", "right"),
    [
        ("", "B, H, S", "S, B, H"),
        ("", "B, 2*K", "2, B, K"),
        ("", "B + 1, B - 1", "B*B - 1"),
        ("BH == B*H", "B, H, S", "BH, S"),
        ("B*H == BH", "BH, S, S", "S, B, S, H"),
        ("D == H*K", "B, S, D", "B, S, H, K"),
        ("H == G*R", "B, G, R, S, D", "B, H, S, D"),
        ("D == 2*K", "B, D", "B, 2, K"),
        ("D % 2 == 0", "B, D", "B, 2, D / 2"),
        ("BSH == BS*H, BS == B*S", "B, S, H", "BSH"),
        ("B*H == G*R", "B, H, S", "G, S, R"),
        ("(A + 1)*X == (A + 1)*Y", "A + 1, X", "A + 1, Y"),
        ("BS == B*S, BS == 6", "B, S, H", "2, 3, H"),
    ],
)
def test_equal_volumes(known: str, left: str, right: str) -> None:
    held = facts("A B H S D G K R X Y BH BS BSH", known)
    assert held.equal_volume(dims(left), dims(right))
    assert held.volume_counterexample(dims(left), dims(right)) is None


@pytest.mark.parametrize(
    ("known", "left", "right", "numbers"),
    [
        ("", "B, H, S", "BH, S", {"B": 1, "H": 1, "BH": 2}),
        ("", "B, S", "B", {"S": 2}),
        ("BH == B*H", "B, H, S", "BH, BH", {"B": 1, "H": 1, "S": 2, "BH": 1}),
        ("D % 2 == 0", "D", "D / 2", {"D": 2}),
        ("", "", "2", {}),
    ],
)
def test_unequal_volumes(known: str, left: str, right: str, numbers: Mapping[str, int]) -> None:
    held = facts("B H S D BH", known)
    assert not held.equal_volume(dims(left), dims(right))
    assert held.volume_counterexample(dims(left), dims(right)) == numbers


def test_equal() -> None:
    held = facts("D K", "D == 2*K")
    assert held.equal(dim("D"), dim("2*K"))
    assert held.equal(dim("D / 2"), dim("K"))
    assert not held.equal(dim("D"), dim("K"))


def test_assuming_adds_to_a_copy() -> None:
    held = facts("S")
    assert held.assuming(constraint("S >= 2")).holds(constraint("S > 1"))
    assert not held.holds(constraint("S > 1"))


@pytest.mark.parametrize(
    "known",
    [
        "S >= 5, S < 5",
        "S % 2 == 0, S % 2 == 1",
        "S == T + 1, T == S + 1",
        "S == 0",
        "2*K == 2*M + 1",
        "S < T, T < U, U < S",
        "B*H == 2, B*H == 3",
        "B*H < B",
    ],
)
def test_unsatisfiable(known: str) -> None:
    assert not facts("S T U K M B H", known).satisfiable()


@pytest.mark.parametrize(
    "known", ["", "S >= 1000000", "B*H == G*R", "D % 7 == 3, D % 11 == 5", "B*B == 49"]
)
def test_satisfiable(known: str) -> None:
    assert facts("S B H G R D", known).satisfiable()


@pytest.mark.parametrize(
    ("known", "goal", "used"),
    [
        ("S >= 2, D == 2*K, T >= 2", "D / 2 == K", "D == 2*K"),
        ("BS == B*S, K >= 3, BSH == BS*H", "BSH == B*S*H", "BS == B*S, BSH == BS*H"),
        ("S >= 2, S >= 3", "S >= 2", "S >= 2"),
        ("S >= 3, T >= 2", "T >= 1", ""),
        ("S >= 3", "S >= 4", ""),
        ("S >= 3, S <= 2, T >= 2", "S == 1", "S >= 3, S <= 2"),
    ],
)
def test_used_facts(known: str, goal: str, used: str) -> None:
    held = facts("B S H D K T BS BSH", known)
    assert held.used_facts(constraint(goal)) == constraints(used)


LISTS_OF_FACTS = st.lists(constraint_strategy(), max_size=3)


@given(LISTS_OF_FACTS, constraint_strategy())
def test_answers_agree_with_small_numbers(known: Sequence[Constraint], goal: Constraint) -> None:
    held = Facts(NAMES, tuple(known))
    models = [v for v in grid(NAMES, 4) if all(fact.evaluate(v) for fact in known)]
    proved = held.holds(goal)
    assert not proved or all(goal.evaluate(values) for values in models)
    assert held.satisfiable() or not models
    broken = held.counterexample(goal)
    if broken is not None:
        assert not proved
        assert not goal.evaluate(broken)
        assert min(broken.values(), default=1) >= 1
        assert all(fact.evaluate(broken) for fact in known if fact.variables() <= broken.keys())
        assert list(broken) == [name for name in NAMES if name in broken]
    used = held.used_facts(goal)
    assert not proved or Facts(NAMES, used).holds(goal)
    assert set(used) <= set(known)


@given(
    LISTS_OF_FACTS,
    st.lists(dim_strategy(leaves=3), max_size=4),
    st.lists(dim_strategy(leaves=3), max_size=4),
)
def test_volumes_agree_with_small_numbers(
    known: Sequence[Constraint], left: Sequence[Dim], right: Sequence[Dim]
) -> None:
    held = Facts(NAMES, tuple(known))
    proved = held.equal_volume(left, right)
    difference = product(left) - product(right)
    for values in grid(NAMES, 4):
        if proved and all(fact.evaluate(values) for fact in known):
            assert difference.evaluate(values) == 0
    broken = held.volume_counterexample(left, right)
    if broken is not None:
        assert not proved
        only_left, only_right = Counter(left) - Counter(right), Counter(right) - Counter(left)
        rest = product(only_left.elements()) - product(only_right.elements())
        assert rest.evaluate(broken) != 0


@given(constraint_strategy(products=False), constraint_strategy(products=False))
def test_linear_questions_are_always_answered(known: Constraint, goal: Constraint) -> None:
    held = Facts(NAMES, (known,))
    assume(held.satisfiable())
    assert held.holds(goal) or held.counterexample(goal) is not None


def test_questions_too_large_to_answer_are_not_proved() -> None:
    wide = [variable(f"x{index}") + constant(1) for index in range(40)]
    other = [variable(f"y{index}") + constant(1) for index in range(40)]
    held = Facts(())
    assert held.equal_volume(wide, wide[::-1])
    assert not held.equal_volume(wide, other)
    assert held.volume_counterexample(wide, other) is None
    names = [f"x{index}" for index in range(200)]
    chain = tuple(
        constraint(f"{right} == {left}*{left}") for left, right in itertools.pairwise(names)
    )
    assert not Facts(tuple(names), chain).holds(constraint("x199 == x0"))


IMPORTS_NO_SOLVER = """
import sys
from tests.shapes.support import constraint, dims, dim
from p0trans.shapes.facts import Facts
def facts(*known): return Facts(("B", "H", "S", "D", "K"), tuple(map(constraint, known)))
held = facts("S >= 2", "BH == B*H", "D == 2*K")
assert held.holds(constraint("S - 1 >= 1"))
assert held.equal_volume(dims("B, H, S"), dims("BH, S"))
assert held.equal(dim("D / 2"), dim("K"))
assert facts("D % 2 == 0").holds(constraint("D / 2 < D"))
assert held.satisfiable()
assert not held.equal(dim("B"), dim("H"))
assert held.counterexample(constraint("B == H")) == {"B": 1, "H": 2, "BH": 2}
print(sorted({"islpy", "sympy", "numpy", "torch"} & set(sys.modules)))
"""


def test_plain_questions_import_no_solver() -> None:
    output = subprocess.run(
        [sys.executable, "-c", IMPORTS_NO_SOLVER], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"
