from __future__ import annotations

import copy
import functools
import pickle
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, product, variable
from tests.shapes.support import RELATIONS, VALUES, constraint, dim, dim_strategy

DIMS = dim_strategy()


@given(DIMS, DIMS, DIMS)
def test_ring_laws_hold_as_identities(a: Dim, b: Dim, c: Dim) -> None:
    assert a + b is b + a
    assert (a + b) + c is a + (b + c)
    assert a * b is b * a
    assert (a * b) * c is a * (b * c)
    assert a * (b + c) is a * b + a * c
    assert a - a is constant(0)
    assert a + constant(0) is a
    assert a * constant(1) is a
    assert a * constant(0) is constant(0)
    negated = -a
    assert -negated is a


@given(DIMS, DIMS, st.integers(1, 7), VALUES)
def test_evaluation_is_a_homomorphism(
    a: Dim, b: Dim, divisor: int, values: Mapping[str, int]
) -> None:
    x, y = a.evaluate(values), b.evaluate(values)
    assert (a + b).evaluate(values) == x + y
    assert (a - b).evaluate(values) == x - y
    assert (a * b).evaluate(values) == x * y
    assert (a // divisor).evaluate(values) == x // divisor
    assert (a % divisor).evaluate(values) == x % divisor


@given(DIMS, DIMS, VALUES)
def test_substitution_commutes_with_evaluation(a: Dim, b: Dim, values: Mapping[str, int]) -> None:
    replaced = a.substitute({"A": b})
    assert replaced.evaluate(values) == a.evaluate({**values, "A": b.evaluate(values)})


@given(DIMS)
def test_text_reads_back_as_the_same_dim(a: Dim) -> None:
    assert dim(str(a)) is a


@given(DIMS, VALUES)
def test_python_text_evaluates_to_the_same_number(a: Dim, values: dict[str, int]) -> None:
    assert eval(a.render(division="//"), {}, values) == a.evaluate(values)


@given(DIMS)
def test_pickle_and_copy_return_the_interned_dim(a: Dim) -> None:
    assert pickle.loads(pickle.dumps(a)) is a
    assert copy.deepcopy(a) is a


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("2*K / 2", "K"),
        ("(2*K + 1) % 2", "1"),
        ("(4*K + 3) / 2", "2*K + 1"),
        ("(K + H) * (K - H)", "K*K - H*H"),
        ("3*K % 3", "0"),
        ("(K - 1) % 2", "(K + 1) % 2"),
        ("K / 1", "K"),
    ],
)
def test_one_form_for_equal_dims(left: str, right: str) -> None:
    assert dim(left) is dim(right)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("S - 1", "S - 1"),
        ("-1 + S", "S - 1"),
        ("0 - S", "-S"),
        ("K*2", "2*K"),
        ("3 * (D / 2)", "3*(D / 2)"),
        ("(D + 1) / 2", "(D + 1) / 2"),
        ("0 - D / 2", "-(D / 2)"),
        ("0 - 3*(D / 2)", "-3*(D / 2)"),
        ("S - D / 2", "S - D / 2"),
        ("5 - 5", "0"),
    ],
)
def test_text(text: str, shown: str) -> None:
    assert str(dim(text)) == shown


def test_as_integer_and_as_variable() -> None:
    assert dim("7").as_integer() == 7
    assert dim("S - S").as_integer() == 0
    assert dim("S").as_integer() is None
    assert dim("S").as_variable() == "S"
    assert dim("2*S").as_variable() is None
    assert dim("S / 2").as_variable() is None
    assert dim("1").as_variable() is None


def test_linear_means_presburger() -> None:
    assert dim("2*K + S / 2 - 1").is_linear
    assert not dim("B*H").is_linear
    assert not dim("(B*H) / 2").is_linear
    assert not dim("B * (S / 2)").is_linear


def test_product_of_none_is_one() -> None:
    assert product(()) is constant(1)
    assert product((dim("B"), dim("S + 1"))) is dim("B*S + B")


@pytest.mark.parametrize("divisor", [0, -2])
def test_division_takes_a_positive_integer(divisor: int) -> None:
    with pytest.raises(ValueError, match="positive"):
        _ = dim("S") // divisor
    with pytest.raises(ValueError, match="positive"):
        _ = dim("S") % divisor


def test_evaluation_needs_every_variable() -> None:
    with pytest.raises(KeyError):
        dim("B + S").evaluate({"B": 1})


def repeated(step: Callable[[Dim, int], Dim], times: int) -> Dim:
    return functools.reduce(step, range(times), variable("S"))


@pytest.mark.parametrize(
    "step",
    [
        lambda total, _: (total + constant(1)) // 2,
        lambda total, _: total // 2 + total // 3,
        lambda total, _: total * total,
        lambda total, index: total * (variable(f"x{index}") + constant(1)),
        lambda total, _: total * constant(10**100),
    ],
)
def test_exploding_dims_are_refused(step: Callable[[Dim, int], Dim]) -> None:
    with pytest.raises(DimLimitError):
        repeated(step, 10_000)


def test_very_long_sums_are_refused() -> None:
    with pytest.raises(DimLimitError):
        Dim.of({(f"x{index}",): 1 for index in range(10_000)})


def test_a_tensor_of_many_axes_has_a_volume() -> None:
    volume = product(variable(f"x{index}") for index in range(64))
    assert volume.degree == 64


@given(DIMS, st.sampled_from(RELATIONS), DIMS, VALUES)
def test_constraint_evaluation(
    left: Dim, relation: str, right: Dim, values: Mapping[str, int]
) -> None:
    held = Constraint(left, relation, right)
    expected = eval(f"{left.evaluate(values)} {relation} {right.evaluate(values)}")
    assert held.evaluate(values) is expected


def test_constraint_text_and_substitution() -> None:
    held = constraint("D % 2 == 0")
    assert str(held) == "D % 2 == 0"
    assert str(held.substitute({"D": dim("3*K")})) == "K % 2 == 0"
