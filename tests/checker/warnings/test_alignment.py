"""P1102: a broadcast that could have meant another axis."""

from __future__ import annotations

import pytest

from tests.checker.warnings.support import codes, finding, labels, with_fix

SQUARE_NORM = """\
let normalize [B] (x : Tensor[F32, [B, B]]) : Tensor[F32, [B, B]] =
  let total = reduce[sum, axis={axis}] x in
  x / broadcast total [B, B]
"""


def stretched(source: str, target: str) -> str:
    return (
        f"let f [B, K, M, S] (n : Tensor[F32, {source}]) (x : Tensor[F32, {target}])"
        f" : Tensor[F32, {target}]\n    where B >= 1, K >= 1, M >= 1, S >= 1 =\n"
        f"  x * broadcast n {target}\n"
    )


@pytest.mark.parametrize(
    ("source", "target", "bound", "other"),
    [
        ("[K]", "[K, M, K]", 2, 0),
        ("[B]", "[B, B]", 1, 0),
        ("[S]", "[B, S, S]", 2, 1),
        ("[B, S]", "[B, S, B, S]", 2, 0),
    ],
)
def test_two_places(source: str, target: str, bound: int, other: int) -> None:
    found = finding(stretched(source, target), "P1102")
    assert f"becomes axis {bound} of {target}" in found.message
    assert f"axis {other} is" in found.message


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("[K]", "[B, M, K]"),
        ("[]", "[B, B]"),
        ("[S, S]", "[B, S, S]"),
        ("[B, 1, S]", "[B, S, S]"),
        ("[1, B]", "[B, B]"),
        ("[B, 1]", "[B, B]"),
        ("[K, K]", "[B, K, K]"),
        ("[B, M, K]", "[B, M, K]"),
    ],
)
def test_one_place(source: str, target: str) -> None:
    assert "P1102" not in codes(stretched(source, target))


def test_a_norm_without_the_kept_axis_on_a_square_batch() -> None:
    text = SQUARE_NORM.format(axis=1)
    found = finding(text, "P1102")
    assert "the values come from axis 0 of `x`" in found.message
    assert labels(found)[1] == ("(x : Tensor[F32, [B, B]])", "B is axis 0 of `x`")
    mended = with_fix(text, found)
    assert "broadcast (reshape total [B, 1]) [B, B]" in mended
    assert codes(mended) == []
    assert not any(fix.machine for fix in found.fixes)


def test_an_axis_that_goes_back_to_where_it_came_from() -> None:
    assert codes(SQUARE_NORM.format(axis=0)) == []


def test_counting_along_an_axis_is_a_choice() -> None:
    text = (
        "let causal [S] (s : Tensor[F32, [S, S]]) : Tensor[F32, [S, S]] =\n"
        "  let place = iota[I32, axis=0] [S] in\n"
        "  let cols = broadcast place [S, S] in\n"
        "  let rows = broadcast (reshape place [S, 1]) [S, S] in\n"
        "  select (cols <= rows) s (broadcast 0.0 [S, S])\n"
    )
    assert codes(text) == []


def test_the_same_number_everywhere_has_no_axis() -> None:
    text = (
        "let f [B] (c : Tensor[F32, []]) : Tensor[F32, [B, B]] =\n"
        "  broadcast (broadcast c [B]) [B, B]\n"
    )
    assert codes(text) == []


def test_pinned_in_writing() -> None:
    text = stretched("[K]", "[K, M, K]")
    found = finding(text, "P1102")
    for index in range(2):
        assert codes(with_fix(text, found, index)) == []
