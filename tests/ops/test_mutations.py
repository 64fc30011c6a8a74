"""The test over the table catches every wrong spelling that `mutations` makes."""

from __future__ import annotations

import pytest

from p0trans.ops import OPERATIONS
from p0trans.ops.table import Operation
from tests.ops.mutations import Mutant, is_caught, mutants

each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


@each_operation
def test_every_mutant_is_caught(operation: Operation) -> None:
    made = mutants(operation)
    assert made
    assert [mutant.what for mutant in made if not is_caught(mutant)] == []


@each_operation
def test_the_operation_itself_is_not(operation: Operation) -> None:
    assert not is_caught(Mutant(operation, "nothing"))


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("sub", "operands 0 and 1 swapped"),
        ("reduce_keep", "no keepdim"),
        ("reduce", "axis +1"),
        ("reduce", "kind prod"),
        ("const", "another constant"),
        ("sqrt", "rsqrt in its place"),
        ("slice", "stop -1"),
        ("transpose", "perm reversed"),
        ("cast", "no dtype"),
    ],
)
def test_the_mistakes_that_are_made(name: str, what: str) -> None:
    assert what in [mutant.what for mutant in mutants(OPERATIONS[name])]


def test_what_means_the_same_is_no_mutant() -> None:
    made = [mutant.what for mutant in mutants(OPERATIONS["mul"])]
    assert "operands 0 and 1 swapped" not in made
