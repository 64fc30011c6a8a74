"""P1103 to P1105: over which axis, over how many elements, and over which of them."""

from __future__ import annotations

import pytest

from tests.checker.warnings.support import codes, finding, labels, with_fix

ATTENTION = """\
let attend [N, S, D] (s : Tensor[F32, [N, S, S]]) (v : Tensor[F32, [N, S, D]])
    : Tensor[F32, [N, S, D]] =
  let m = reduce_keep[max, axis={axis}] s in
  let e = exp (s - broadcast m [N, S, S]) in
  let p = e / broadcast (reduce_keep[sum, axis={axis}] e) [N, S, S] in
  {result}
"""
SOFTMAX = """\
let softmax [N, S] (x : Tensor[F32, [N, S, S]]) : Tensor[F32, [N, S, S]] =
  let e = exp (x - broadcast (reduce_keep[max, axis=2] x) [N, S, S]) in
  e / broadcast (reduce_keep[sum, axis=2] e) [N, S, S]
"""


def test_softmax_over_queries() -> None:
    text = ATTENTION.format(axis=1, result="matmul p v")
    found = finding(text, "P1103")
    assert labels(found) == [
        ("matmul p v", "sums over axis 2 of `p`"),
        ("reduce_keep[sum, axis=1] e", "sums over axis 1"),
    ]
    assert with_fix(text, found) == ATTENTION.format(axis=2, result="matmul p v")
    assert not found.fixes[0].machine


@pytest.mark.parametrize(
    ("axis", "result", "expected"),
    [
        (2, "matmul p v", []),
        (2, "matmul (p * broadcast 0.5 [N, S, S]) v", []),
        (1, "matmul (transpose[perm=[0, 2, 1]] p) v", []),
        (2, "matmul (transpose[perm=[0, 2, 1]] p) v", ["P1103"]),
        (1, "matmul (p * broadcast 0.5 [N, S, S]) v", ["P1103"]),
        (1, "transpose[perm=[0, 2, 1]] (matmul (transpose[perm=[0, 2, 1]] v) p)", []),
        (2, "transpose[perm=[0, 2, 1]] (matmul (transpose[perm=[0, 2, 1]] v) p)", ["P1103"]),
        (1, "matmul (p / broadcast (reduce_keep[sum, axis=2] p) [N, S, S]) v", []),
    ],
)
def test_the_axis_is_followed_to_the_matmul(axis: int, result: str, expected: list[str]) -> None:
    assert codes(ATTENTION.format(axis=axis, result=result)) == expected


@pytest.mark.parametrize(
    "quotient",
    [
        "exp s / broadcast (reduce_keep[sum, axis=1] (exp s)) [N, S, S]",
        "let e = exp s in e / broadcast (reshape (reduce[sum, axis=1] e) [N, 1, S]) [N, S, S]",
        "let e = exp s in e * broadcast (reciprocal (reduce_keep[sum, axis=1] e)) [N, S, S]",
        "let e = exp s in broadcast (reciprocal (reduce_keep[sum, axis=1] e)) [N, S, S] * e",
    ],
)
def test_softmax_in_other_words(quotient: str) -> None:
    text = (
        "let attend [N, S, D] (s : Tensor[F32, [N, S, S]]) (v : Tensor[F32, [N, S, D]])\n"
        f"    : Tensor[F32, [N, S, D]] =\n  let p = {quotient} in\n  matmul p v\n"
    )
    shared = "let e = exp s in" in quotient
    assert codes(text) == (["P1103"] if shared else [])


def test_a_softmax_from_a_definition() -> None:
    text = SOFTMAX + (
        "let attend [N, S, D] (s : Tensor[F32, [N, S, S]]) (v : Tensor[F32, [N, S, D]])\n"
        "    : Tensor[F32, [N, S, D]] = matmul ({p}) v\n"
    )
    assert codes(text.format(p="softmax[N, S] s")) == []
    assert codes(text.format(p="transpose[perm=[0, 2, 1]] (softmax[N, S] s)")) == ["P1103"]


def test_softmax_over_a_literal_one() -> None:
    text = (
        "let gate [B, S] (x : Tensor[F32, [B, S]]) : Tensor[F32, [B, 1]] =\n"
        "  let logit = reduce_keep[sum, axis=1] x in\n"
        "  let e = exp logit in\n"
        "  e / reduce_keep[sum, axis={axis}] e\n"
    )
    found = finding(text.format(axis=1), "P1104")
    assert "is 1 everywhere" in found.message
    assert labels(found)[1] == ("reduce_keep[sum, axis=1] x", "axis 1 was reduced here")


def test_mean_over_a_literal_one() -> None:
    text = (
        "let center [B] (x : Tensor[F32, [B, {size}]]) : Tensor[F32, [B, 1]] =\n"
        "  reduce_keep[mean, axis=1] x\n"
    )
    found = finding(text.format(size=1), "P1104")
    assert "a mean over axis 1 of Tensor[F32, [B, 1]]" in found.message
    assert codes(text.format(size="B")) == []


def masked(condition: str, setup: str = "", shape: str = "[N, S, S]", axis: int = 2) -> str:
    return (
        "let f [N, S, T] (s : Tensor[F32, " + shape + "]) (mask : Tensor[Bool, " + shape + "])\n"
        "    (_t : Tensor[F32, [T]]) : Tensor[F32, " + shape + "] =\n"
        f"  let _m = mask in\n  let rows = iota[I32, axis=1] {shape} in\n"
        f"  let cols = iota[I32, axis=2] {shape} in\n  {setup}\n"
        f"  let z = {condition} in\n"
        f"  let top = reduce_keep[max, axis={axis}] z in\n"
        f"  let e = exp (z - broadcast top {shape}) in\n"
        f"  e / broadcast (reduce_keep[sum, axis={axis}] e) {shape}\n"
    )


HIDDEN = "broadcast (-inf) [N, S, S]"
NUMBER = "broadcast {} [N, S, S]"


@pytest.mark.parametrize(
    "condition",
    [
        "cols <= rows",
        "rows >= cols",
        "not (cols > rows)",
        "cols >= rows",
        "cols <= rows && rows - cols < broadcast 4 [N, S, S]",
        "cols <= rows || mask",
        "cols == rows",
        "cols < broadcast 1 [N, S, S]",
        "floordiv cols (broadcast 8 [N, S, S]) == floordiv rows (broadcast 8 [N, S, S])",
        "mod (rows - cols) (broadcast 3 [N, S, S]) == broadcast 0 [N, S, S]",
        "broadcast true [N, S, S]",
    ],
)
def test_a_mask_that_leaves_an_element_in_every_row(condition: str) -> None:
    text = masked(f"select ({condition}) s ({HIDDEN})")
    assert "P1105" not in codes(text)


@pytest.mark.parametrize(
    "condition",
    [
        "cols < rows",
        "cols > rows",
        "mask",
        "cols <= rows && mask",
        "not (cols <= rows || mask)",
        "rows - cols == broadcast 1 [N, S, S]",
        "broadcast false [N, S, S]",
    ],
)
def test_a_mask_that_can_hide_a_row(condition: str) -> None:
    text = masked(f"select ({condition}) s ({HIDDEN})")
    assert codes(text).count("P1105") == 1


def test_the_mask_may_stand_in_the_other_branch_or_be_added() -> None:
    assert "P1105" not in codes(masked(f"select (cols > rows) ({HIDDEN}) s"))
    assert "P1105" in codes(masked(f"select (cols >= rows) ({HIDDEN}) s"))
    added = "s + select ({}) (broadcast 0.0 [N, S, S]) (broadcast (-inf) [N, S, S])"
    assert "P1105" not in codes(masked(added.format("cols <= rows")))
    assert "P1105" in codes(masked(added.format("mask")))


def test_a_finite_mask_gives_no_nan() -> None:
    assert "P1105" not in codes(masked("select mask s (broadcast (-1e9) [N, S, S])"))


def test_the_mask_is_followed_through_moves_and_calls() -> None:
    text = SOFTMAX + (
        "let f [B, H, S, N] (s : Tensor[F32, [B, H, S, S]]) : Tensor[F32, [N, S, S]]\n"
        "    assume N == B * H =\n"
        "  let place = iota[I64, axis=0] [S] in\n"
        "  let cols = broadcast place [S, S] in\n"
        "  let keep = {condition} in\n"
        "  let z = select (broadcast keep [B, H, S, S]) s (broadcast (-inf) [B, H, S, S]) in\n"
        "  softmax[N, S] (reshape z [N, S, S])\n"
    )
    assert codes(text.format(condition="cols <= transpose[perm=[1, 0]] cols")) == []
    found = finding(text.format(condition="cols < transpose[perm=[1, 0]] cols"), "P1105")
    assert labels(found)[1][0] == "softmax[N, S] (reshape z [N, S, S])"


def test_guarded_rows_are_no_softmax_of_this_form() -> None:
    text = (
        "let f [B, S] (x : Tensor[F32, [B, S]]) (on : Tensor[Bool, [B, S]])"
        " : Tensor[F32, [B, S]] =\n"
        "  let some = reduce_keep[any, axis=1] on in\n"
        "  let z = select on x (broadcast (-inf) [B, S]) in\n"
        "  let top = select some (reduce_keep[max, axis=1] z) (broadcast 0.0 [B, 1]) in\n"
        "  let e = exp (z - broadcast top [B, S]) in\n"
        "  let total = select some (reduce_keep[sum, axis=1] e) (broadcast 1.0 [B, 1]) in\n"
        "  e / broadcast total [B, S]\n"
    )
    assert codes(text) == []
