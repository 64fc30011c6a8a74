"""Sizes that follow from others, and those at which a definition does not run."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from p0trans.driver import check_sources
from p0trans.source import Source
from p0trans.tools.constraints import constraints
from p0trans.tools.ledger import LedgerError
from p0trans.tools.ledger_sizes import complete_sizes

PROGRAM = """
let pairs [B, D, K] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] where D == 2*K, B >= 2 = x

let flat [B, H, N] (x : Tensor[F32, [B, H]]) : Tensor[F32, [N]] assume N == B * H =
  reshape x [N]

let odd [A, B, J, K] (x : Tensor[F32, [A]]) : Tensor[F32, [A]]
    where A == 2*K, A == 2*J + B, J <= 8 = x

let caller [P, Q, R] (x : Tensor[F32, [P, Q]]) : Tensor[F32, [R]] = flat[P, Q, R] x
"""


def test_what_a_call_makes_true_of_itself_is_no_fact() -> None:
    text = """
let flat [B, H, N] (x : Tensor[F32, [B, H]]) : Tensor[F32, [B, H]] assume N == B * H =
  reshape (reshape x [N]) [B, H]

let user [B, H, D] (x : Tensor[F32, [B, H]]) : Tensor[F32, [B, H]] assume D == H * 2 =
  flat[B, H, B * H] x
"""
    program = check_sources([Source("main.p0", text)]).program
    _, user = program.units[-1].definitions
    assert list(map(str, constraints(program)[user.reference])) == ["D == 2*H"]


def sizes(name: str, given: Mapping[str, int]) -> Mapping[str, int]:
    program = check_sources([Source("main.p0", PROGRAM)]).program
    definition = next(d for d in program.units[-1].definitions if d.name == name)
    return complete_sizes(definition, constraints(program)[definition.reference], given)


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("pairs", {"B": 2, "D": 6}, {"B": 2, "D": 6, "K": 3}),
        ("pairs", {"B": 2, "K": 3, "X": 1}, {"B": 2, "D": 6, "K": 3}),
        ("flat", {"B": 2, "H": 3}, {"B": 2, "H": 3, "N": 6}),
        ("flat", {"B": 2, "N": 6}, {"B": 2, "H": 3, "N": 6}),
        ("caller", {"P": 2, "Q": 3}, {"P": 2, "Q": 3, "R": 6}),
    ],
)
def test_sizes_that_follow(name: str, given: dict[str, int], found: dict[str, int]) -> None:
    assert list(sizes(name, given).items()) == list(found.items())


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("pairs", {"D": 4}, "`pairs` also needs the size of B$"),
        ("pairs", {"B": 1, "D": 4}, "needs B >= 2, which is false for B = 1"),
        ("pairs", {"B": 2, "D": 4, "K": 3}, "needs D == 2[*]K, which is false for D = 4, K = 3"),
        ("pairs", {"B": 2, "D": 5}, "needs D == 2[*]K, and no K makes 5 == 2[*]K true"),
        ("flat", {"B": 4, "N": 6}, "needs N == B[*]H, and no H makes 6 == 4[*]H true"),
        ("flat", {"N": 1, "B": 2}, "needs N == B[*]H, and no H makes 1 == 2[*]H true"),
        ("odd", {"B": 1, "J": 3}, "which nothing satisfies for B = 1, J = 3"),
        ("odd", {"B": 1}, "A == 2[*]K and A == B . 2[*]J.* nothing satisfies for B = 1"),
        ("odd", {"A": 4, "B": 6}, "needs A == B . 2[*]J"),
        ("caller", {"P": 2, "Q": 3, "R": 7}, "needs R == P[*]Q, which is false for"),
    ],
)
def test_sizes_that_do_not_run(name: str, given: dict[str, int], words: str) -> None:
    with pytest.raises(LedgerError, match=words):
        sizes(name, given)
