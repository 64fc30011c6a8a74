from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from p0trans.shapes.bounds import (
    Interval,
    bounds_from,
    follows_from_bounds,
    interval,
    is_nonnegative,
    substitute_within_limits,
)
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, variable
from p0trans.shapes.relation import relation_of
from tests.shapes.support import (
    VALUES,
    constraint_strategy,
    constraints,
    dim,
    dim_strategy,
    grid,
)

BOUNDS = {"A": Interval(3, 6), "B": Interval(2, None)}


@given(dim_strategy(), VALUES)
def test_every_value_is_in_the_interval(polynomial: Dim, values: Mapping[str, int]) -> None:
    inside = {**values, "A": 3 + values["A"] % 4, "B": values["B"] + 1}
    low, high = interval(polynomial, BOUNDS)
    value = polynomial.evaluate(inside)
    assert low is None or low <= value
    assert high is None or value <= high


@given(constraint_strategy())
def test_what_follows_from_bounds_holds(held: Constraint) -> None:
    if follows_from_bounds(relation_of(held), {}):
        assert all(held.evaluate(values) for values in grid(("A", "B", "C"), 5))


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("A + B", 5, None),
        ("A - B", None, 4),
        ("2*A - 1", 5, 11),
        ("A*B", 6, None),
        ("A / 2", 1, 3),
        ("B % 4", 0, 3),
        ("(A + 5) % 12", 8, 11),
        ("(A - B) * A", None, 30),
        ("(A / 4) * B", 0, None),
    ],
)
def test_interval(text: str, low: int | None, high: int | None) -> None:
    assert interval(dim(text), BOUNDS) == Interval(low, high)


def test_bounds_come_from_relations_in_one_variable() -> None:
    relations = map(relation_of, constraints("2*S >= 7, S <= 128, T < 9, S <= T, U == 3, B*H > 2"))
    assert bounds_from(relations) == {"S": Interval(4, 128), "T": Interval(1, 8)}


@pytest.mark.parametrize("text", ["B*H - B", "B*H*K - H", "(B + 1)*(H + 1) - 4", "A*A - 9"])
def test_products_grow(text: str) -> None:
    assert is_nonnegative(dim(text), BOUNDS if "A" in text else {})


@pytest.mark.parametrize("text", ["B*H - B - 1", "A*B - 4*B", "B - H", "B*(S / 2) - B"])
def test_not_shown_by_bounds(text: str) -> None:
    assert not is_nonnegative(dim(text), {})


def test_a_substitution_that_explodes_is_refused() -> None:
    power = dim("*".join("S" * 20))
    wide = sum((variable(f"x{index}") for index in range(30)), constant(0))
    with pytest.raises(DimLimitError):
        substitute_within_limits(power, {"S": wide})
    with pytest.raises(DimLimitError):
        substitute_within_limits(power, {"S": power})
    assert substitute_within_limits(power, {"T": wide}) is power
