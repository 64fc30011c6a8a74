"""Why an answer was yes."""

from __future__ import annotations

from p0trans.shapes.dim import Constraint, constant, variable
from p0trans.shapes.facts import Facts
from p0trans.tools.premises import Premise, Recorder, grouped, positive

A, B, C = map(variable, "ABC")
ONE = constant(1)


def recorder(*where: Constraint, assume: tuple[Constraint, ...] = ()) -> Recorder:
    return Recorder(Facts(("A", "B", "C"), (*where, *assume)), where)


def test_a_question_answered_no_is_not_a_premise() -> None:
    facts = recorder()
    assert not facts.equal(A, B)
    assert not facts.holds(Constraint(A, ">=", constant(2)))
    assert not facts.equal_volume((A, B), (C,))
    assert facts.premises == []


def test_where_and_assume_are_told_apart() -> None:
    demanded, assumed = Constraint(A, "==", B), Constraint(C, "==", A * B)
    facts = recorder(demanded, assume=(assumed,))
    assert facts.equal(A, B)
    assert facts.equal_volume((A, B), (C,))
    assert facts.equal_volume((A, A), (C,))
    assert facts.premises == [
        Premise("A == B", "by `where A == B`"),
        Premise("A*B == C", "by `assume C == A*B`"),
        Premise("A*A == C", "by `where A == B` and `assume C == A*B`"),
    ]


def test_volumes_of_equal_factors_and_of_equal_polynomials() -> None:
    facts = recorder()
    assert facts.equal_volume((A, ONE, B), (B, A, ONE))
    assert facts.equal_volume((A + B, constant(2)), (constant(2) * A + constant(2) * B,))
    assert facts.equal_volume((), ())
    assert facts.premises == [
        Premise("A*B == B*A", "the same factors on both sides"),
        Premise("(A + B)*2 == 2*A + 2*B", "by multiplying out"),
        Premise("1 == 1", "the same factors on both sides"),
    ]


def test_only_compound_dims_need_a_proof_that_they_are_positive() -> None:
    facts = recorder(Constraint(A, ">", B))
    positive(facts, (A, ONE, A - B, A + B))
    assert [str(premise.statement) for premise in facts.premises] == ["A - B >= 1", "A + B >= 1"]
    assert facts.premises[0].reason == "by `where A > B`"
    assert facts.premises[1].reason == "since every shape variable is at least 1"


def test_neighbours_with_one_reason_share_a_line() -> None:
    same, other = "the same on both sides", "by arithmetic"
    premises = [Premise("A == A", same), Premise("A == A", same), Premise("B == B", same)]
    assert grouped([*premises, Premise("0 <= 3", other)]) == [
        Premise("A == A, B == B", same),
        Premise("0 <= 3", other),
    ]
