"""Sizes to try a program at."""

from __future__ import annotations

import itertools

import pytest

from p0trans.shapes.sample import sample_sizes
from tests.shapes.support import constraints

CASES = [
    ("B S D", ""),
    ("B H S BH", "BH == B*H"),
    ("H G R", "H == G*R"),
    ("D K", "D == 2*K"),
    ("S", "S >= 2"),
    ("D", "D % 8 == 0"),
    ("S T U", "S < T, T < U"),
    ("S T", "T >= 100*S"),
    ("S T", "S + T == 17, S != T"),
    ("S", "S >= 2048, S <= 2050"),
    ("S W", "W <= S, S % 4 == 0, W >= 3"),
    ("A B", "A*B == 12"),
    ("N P", "P == (N + 3) / 4, N > 5"),
]
EACH = pytest.mark.parametrize(("names", "facts"), CASES)


@EACH
def test_every_assignment_is_valid(names: str, facts: str) -> None:
    found = sample_sizes(names.split(), constraints(facts), 6, seed=0)
    assert found
    for sizes in found:
        assert list(sizes) == names.split()
        assert min(sizes.values()) >= 1
        assert all(constraint.evaluate(sizes) for constraint in constraints(facts))


@EACH
def test_no_assignment_comes_twice(names: str, facts: str) -> None:
    found = sample_sizes(names.split(), constraints(facts), 6, seed=0)
    assert all(one != other for one, other in itertools.combinations(found, 2))


def test_the_first_differ_and_the_second_are_ones() -> None:
    first, second, *others = sample_sizes(["B", "S", "D", "H"], (), 5, seed=3)
    assert len(set(first.values())) == 4
    assert set(second.values()) == {1}
    assert len(others) == 3


def test_ones_where_they_can_be() -> None:
    facts = constraints("S >= 3, BS == B*S")
    _, second = sample_sizes(["B", "S", "D", "BS"], facts, 2, seed=0)
    assert second == {"B": 1, "S": 3, "D": 1, "BS": 3}


def test_a_narrow_range_is_used_up_and_no_more() -> None:
    found = sample_sizes(["S"], constraints("S >= 2048, S <= 2050"), 9, seed=0)
    assert sorted(sizes["S"] for sizes in found) == [2048, 2049, 2050]


def test_fixed_sizes_leave_one_assignment() -> None:
    found = sample_sizes(["B", "H", "BH"], constraints("BH == B*H, B == 2, H == 5"), 4, seed=0)
    assert found == ({"B": 2, "H": 5, "BH": 10},)


def test_without_variables_there_is_one_assignment() -> None:
    assert sample_sizes([], (), 4, seed=0) == ({},)


@pytest.mark.parametrize("facts", ["B == 2, B == 3", "B < 1", "B*B == 3, B <= 100"])
def test_a_contradiction_has_none(facts: str) -> None:
    assert sample_sizes(["B"], constraints(facts), 4, seed=0) == ()


def test_the_seed_decides() -> None:
    one, same, other = (sample_sizes(["B", "S"], (), 8, seed) for seed in (1, 1, 2))
    assert one == same
    assert one != other
