"""P1101: a reshape where a transpose was meant."""

from __future__ import annotations

import re

import pytest

from tests.checker.warnings.support import codes, finding, labels, with_fix

# Both stand in public attention code: heads merged, or brought to the front, without a transpose.
MERGED = """\
let merge_heads [B, H, S, K, HK] (x : Tensor[F32, [B, H, S, K]]) : Tensor[F32, [B, S, HK]]
    assume HK == H * K =
  reshape x [B, S, HK]
"""
FRONTED = """\
let heads_first [B, L, H, D] (x : Tensor[F32, [B, L, H, D]]) : Tensor[F32, [B, H, L, D]] =
  reshape (exp x) [B, H, L, D]
"""


def test_merging_what_is_not_neighbouring() -> None:
    found = finding(MERGED, "P1101")
    assert labels(found) == [
        ("reshape x [B, S, HK]", "from [B, H, S, K] to [B, S, HK]"),
        ("(x : Tensor[F32, [B, H, S, K]])", "H, S, K are axes 1, 2, 3 of `x`"),
    ]
    assert "[H, S, K]" in found.message
    assert "[S, HK]" in found.message


def test_the_fix_transposes_and_gives_a_clean_program() -> None:
    mended = with_fix(MERGED, finding(MERGED, "P1101"))
    assert "reshape (transpose[perm=[0, 2, 1, 3]] x) [B, S, HK]" in mended
    assert codes(mended) == []


def test_a_reshape_that_only_reorders_becomes_a_transpose() -> None:
    found = finding(FRONTED, "P1101")
    mended = with_fix(FRONTED, found)
    assert mended.rstrip().endswith("=\n  transpose[perm=[0, 2, 1, 3]] (exp x)")
    assert codes(mended) == []
    assert not found.fixes[0].machine


@pytest.mark.parametrize(
    ("found", "target"),
    [
        ("[B, H, S, K]", "[B, H, SK]"),
        ("[B, H, S, K]", "[B, 1, H, SK]"),
        ("[B, 1, H, SK]", "[B, H, S, 1, K]"),
        ("[B, H, SK]", "[B, H, S, K]"),
        ("[B, S, 2*K]", "[B, S, K, 2]"),
        ("[B, 6]", "[B, 2, 3]"),
        ("[S, S]", "[S, S]"),
    ],
)
def test_neighbours_are_merged_and_split_silently(found: str, target: str) -> None:
    text = (
        f"let f [B, H, S, K, SK] (x : Tensor[F32, {found}]) : Tensor[F32, {target}] "
        f"assume SK == S * K, H == H, B == B = let y = reshape x {target} in y\n"
    )
    assert not {"P1101", "P1107"} & set(codes(text))


def test_an_axis_that_was_merged_is_known_by_its_parts() -> None:
    text = (
        "let f [B, S, D, BS, SD] (x : Tensor[F32, [B, S, D]]) : Tensor[F32, [B, SD]]\n"
        "    assume BS == B * S, SD == S * D =\n"
        "  let rows = reshape x [BS, D] in\n"
        "  reshape rows [B, SD]\n"
    )
    assert codes(text) == []


def test_axes_are_followed_through_a_definition() -> None:
    text = (
        "let flat [B, S, BS, D] (x : Tensor[F32, [B, S, D]]) : Tensor[F32, [BS, D]]\n"
        "    assume BS == B * S = reshape x [BS, D]\n"
        "let f [N, T, K, NT, TK] (x : Tensor[F32, [N, T, K]]) : Tensor[F32, [N, TK]]\n"
        "    assume NT == N * T, TK == T * K =\n"
        "  reshape (flat[N, T, NT, K] x) [N, TK]\n"
    )
    assert codes(text) == []


def test_too_many_axes_are_let_be() -> None:
    dims = ", ".join(["B", "S"] * 20)
    back = ", ".join(["S", "B"] * 20)
    text = (
        f"let f [B, S] (x : Tensor[F32, [{dims}]]) : Tensor[F32, [{back}]] = reshape x [{back}]\n"
    )
    assert codes(text) == []


def reshaped(found: str, target: str, assumed: str) -> str:
    names = sorted(set(re.findall(r"[A-Z]+", f"{found} {target} {assumed}")))
    assume = f" assume {assumed}" if assumed else ""
    variables = f" [{', '.join(names)}]" if names else ""
    return (
        f"let f{variables} (x : Tensor[F32, {found}]) : Tensor[F32, {target}]{assume} =\n"
        f"  reshape x {target}\n"
    )


@pytest.mark.parametrize(
    ("found", "target", "assumed"),
    [
        ("[N, C, H, W]", "[N, G, M]", "C == G * K, M == K * H * W"),
        ("[N, C, T, H, W]", "[N, G, M]", "C == G * K, M == K * T * H * W"),
        ("[N, C, L]", "[N, 4, M]", "C == 4 * K, M == K * L"),
        ("[B, 2*S, D]", "[B, S, 2*D]", ""),
        ("[B, 2*S, 1, D]", "[B, 1, S, 2*D]", ""),
        ("[A, B]", "[C, D]", "A == C * K, D == K * B"),
        ("[64, 3]", "[32, 6]", ""),
        ("[2*S + 2, D]", "[S + 1, 2*D]", ""),
        ("[B, T, 2*F, C]", "[B, T, F, 2*C]", ""),
    ],
)
def test_part_of_an_axis_may_go_with_its_neighbours(found: str, target: str, assumed: str) -> None:
    """In both directions: what is split and merged is merged and split back."""
    for text in (reshaped(found, target, assumed), reshaped(target, found, assumed)):
        assert not {"P1101", "P1107"} & set(codes(text)), text


@pytest.mark.parametrize(
    ("found", "target", "assumed"),
    [
        ("[B, H, S, K]", "[B, S, D]", "D == H * K"),
        ("[B, L, H, D]", "[B, H, L, D]", ""),
        ("[N, C, H, W]", "[N, H, M]", "M == C * W"),
        ("[N, C, H, W]", "[N, W, M]", "M == C * H"),
        # 8 is a multiple of 4, and yet these are two axes that have changed places.
        ("[B, 8, 4, K]", "[B, 4, 8*K]", ""),
        ("[B, 8, 4]", "[B, 4, 8]", ""),
        ("[B, 2*S, S, K]", "[B, S, 2*S, K]", ""),
        # Nobody knows how these lie.
        ("[A, B]", "[C, D]", "A * B == C * D"),
        ("[6, 4]", "[8, 3]", ""),
        ("[N, 6, 4, 5]", "[N, 15, 8]", ""),
    ],
)
def test_axes_that_change_places_are_mixed(found: str, target: str, assumed: str) -> None:
    for text in (reshaped(found, target, assumed), reshaped(target, found, assumed)):
        assert "P1101" in codes(text), text
