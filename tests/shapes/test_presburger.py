from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p0trans.shapes.dim import Constraint
from p0trans.shapes.presburger import entails, is_impossible, small_model
from p0trans.shapes.relation import Relation, relation_of
from tests.shapes.support import NAMES, constraint, constraint_strategy, constraints, grid


def relations(text: str) -> list[Relation]:
    return [relation_of(fact) for fact in constraints(text)]


@pytest.mark.parametrize(
    ("facts", "goal"),
    [
        ("", "D - 2*(D / 2) == D % 2"),
        ("", "(D / 2) / 3 == D / 6"),
        ("S <= T, T <= U", "S <= U"),
        ("D % 2 == 0", "D / 2 + D / 2 == D"),
        ("2*A == 3*B", "A % 3 == 0"),
        ("A != B, A <= B", "A < B"),
        ("", "B*H >= B"),
        ("B*H <= 3", "H <= 3"),
        ("B*H + 1 <= X", "B*H <= X"),
    ],
)
def test_entailed(facts: str, goal: str) -> None:
    assert entails(relations(facts), {}, relation_of(constraint(goal)))


@pytest.mark.parametrize(
    ("facts", "goal"),
    [
        ("", "D / 2 + D / 2 == D"),
        ("S <= T", "S < T"),
        ("", "B*H == H*K"),
        ("B*H >= 3", "H >= 3"),
    ],
)
def test_not_entailed(facts: str, goal: str) -> None:
    assert not entails(relations(facts), {}, relation_of(constraint(goal)))


@given(st.lists(constraint_strategy(), max_size=3))
def test_what_has_small_solutions_is_not_impossible(facts: Sequence[Constraint]) -> None:
    if is_impossible([relation_of(fact) for fact in facts], {}):
        assert not any(all(f.evaluate(values) for f in facts) for values in grid(NAMES, 4))


@given(st.lists(constraint_strategy(products=False), min_size=1, max_size=3))
def test_models_of_linear_relations_satisfy_them(facts: Sequence[Constraint]) -> None:
    model = small_model([relation_of(fact) for fact in facts], {})
    if model is not None:
        values = dict.fromkeys(NAMES, 1) | dict(model)
        assert all(fact.evaluate(values) for fact in facts)


def test_the_model_has_the_least_sum() -> None:
    assert small_model(relations("3*A == 5*B, A > 20"), {}) == {"A": 25, "B": 15}
    assert small_model(relations("A >= 3, A < 3"), {}) is None


def test_hard_questions_end_unanswered() -> None:
    hard = "75991531066940993*C + 11*C / 35 + B - A == 235419015732688660884"
    assert not is_impossible(relations(hard), {})
    assert not is_impossible(relations("A >= 2") * 1_000, {})
