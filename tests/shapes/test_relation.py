from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from p0trans.shapes.dim import Constraint, constant
from p0trans.shapes.relation import Relation, relation_of
from tests.shapes.support import VALUES, constraint, constraint_strategy, dim


@given(constraint_strategy(), VALUES)
def test_normal_form_means_the_same(held: Constraint, values: Mapping[str, int]) -> None:
    relation = relation_of(held)
    assert relation.evaluate(values) is held.evaluate(values)
    assert any(negation.evaluate(values) for negation in relation.negations()) is not (
        held.evaluate(values)
    )


@pytest.mark.parametrize(
    ("text", "operator", "polynomial"),
    [
        ("S > 1", ">=", "S - 2"),
        ("2*K >= 3", ">=", "K - 2"),
        ("4*K == 2*M + 6", "==", "2*K - M - 3"),
        ("B*H == B*G", "==", "H - G"),
        ("B*B*H < 2*B*B", ">=", "1 - H"),
        ("B*S == B*H + S", "==", "B*S - B*H - S"),
    ],
)
def test_what_all_terms_share_is_taken_out(text: str, operator: str, polynomial: str) -> None:
    assert relation_of(constraint(text)) == Relation(operator, dim(polynomial))


def test_a_division_is_not_taken_out_since_it_may_be_zero() -> None:
    relation = relation_of(constraint("B * (S / 2) == C * (S / 2)"))
    assert relation.evaluate({"B": 1, "C": 2, "S": 1})


def test_truth() -> None:
    assert relation_of(constraint("2*K == 2*M + 1")).truth() is False
    assert relation_of(constraint("2*K != 2*M + 1")).truth() is True
    assert relation_of(constraint("S < S + 1")).truth() is True
    assert relation_of(constraint("S >= 2")).truth() is None


def test_unknown_relation() -> None:
    with pytest.raises(ValueError, match="=~"):
        relation_of(Constraint(constant(1), "=~", constant(1)))
