"""P1107 and P1108: merging is ordered."""

from __future__ import annotations

from tests.checker.warnings.support import codes, finding, labels

SPLIT = """\
let regroup [G, KV, S, H] (k : Tensor[F32, [G, KV, S]]) : Tensor[F32, [{back}, S]]
    assume H == G * KV =
  let flat = reshape k [H, S] in
  reshape (exp flat) [{back}, S]
"""
# A product of H*B against one of B*H: the sizes are equal, the rows are not.
PRODUCTS = """\
let scores [B, H, S, D, BH]
    (q : Tensor[F32, [B, H, S, D]]) (k : Tensor[F32, [{axes}, D, S]]) : Tensor[F32, [BH, S, S]]
    assume BH == B * H =
  matmul (reshape q [BH, S, D]) (reshape k [BH, D, S])
"""
# Keys of grouped heads: `repeat` where `repeat_interleave` was meant.
GROUPED = """\
let scores [B, G, KV, S, D, H, BH]
    (q : Tensor[F32, [B, H, S, D]]) (k : Tensor[F32, [B, KV, D, S]]) : Tensor[F32, [BH, S, S]]
    assume H == G * KV, BH == B * H =
  let one   = reshape k [{one}] in
  let heads = reshape (broadcast one [{wide}]) [B, H, D, S] in
  matmul (reshape q [BH, S, D]) (reshape heads [BH, D, S])
"""
TILED = GROUPED.format(one="B, 1, KV, D, S", wide="B, G, KV, D, S")
INTERLEAVED = GROUPED.format(one="B, KV, 1, D, S", wide="B, KV, G, D, S")


def test_split_in_another_order() -> None:
    found = finding(SPLIT.format(back="KV, G"), "P1107")
    assert labels(found) == [
        ("reshape (exp flat) [KV, G, S]", "H is split into [KV, G] here"),
        ("(k : Tensor[F32, [G, KV, S]])", "G, KV are axes 0, 1 of `k`"),
    ]


def test_split_in_the_same_order() -> None:
    assert codes(SPLIT.format(back="G, KV")) == []


def test_parts_that_are_merged_anew_are_compared_too() -> None:
    text = (
        "let f [B, S, H, K, BSHK, HK, SK] (x : Tensor[F32, [B, S, H, K]])"
        " : Tensor[F32, [{back}]] assume BSHK == B * S * H * K, HK == H * K, SK == S * K =\n"
        "  reshape (exp (reshape x [BSHK])) [{back}]\n"
    )
    assert codes(text.format(back="B, H, SK")) == ["P1107"]
    assert codes(text.format(back="B, S, HK")) == []


def test_a_part_that_goes_with_a_neighbour_is_compared_too() -> None:
    text = (
        "let f [S, H, K, SH, TK] (x : Tensor[F32, [S, H, K]])"
        " : Tensor[F32, [{back}, TK]] assume SH == S * H, TK == {rest} * K =\n"
        "  reshape (exp (reshape x [SH, K])) [{back}, TK]\n"
    )
    assert codes(text.format(back="H", rest="S")) == ["P1107"]
    assert codes(text.format(back="S", rest="H")) == []


def test_operands_merged_in_different_orders() -> None:
    found = finding(PRODUCTS.format(axes="H, B"), "P1107")
    assert "[B, H] and [H, B]" in found.message
    assert [text for _, text in labels(found)] == [
        "[B, H] meets [H, B] here",
        "B, H are axes 0, 1 of `q`",
        "H, B are axes 0, 1 of `k`",
    ]


def test_operands_merged_in_the_same_order() -> None:
    assert codes(PRODUCTS.format(axes="B, H")) == []


def test_elementwise_operands_are_compared_too() -> None:
    text = (
        "let f [B, H, BH] (x : Tensor[F32, [B, H]]) (y : Tensor[F32, [H, B]])"
        " : Tensor[F32, [BH]] assume BH == B * H =\n"
        "  reshape x [BH] + reshape {y} [BH]\n"
    )
    assert codes(text.format(y="y")) == ["P1107"]
    assert codes(text.format(y="(transpose[perm=[1, 0]] y)")) == []


def test_order_is_followed_through_a_definition() -> None:
    text = (
        "let merge [A, B, AB] (x : Tensor[F32, [A, B]]) : Tensor[F32, [AB]] assume AB == A * B =\n"
        "  reshape x [AB]\n"
        "let f [G, KV, H] (x : Tensor[F32, [G, KV]]) : Tensor[F32, [{back}]] assume H == G * KV =\n"
        "  reshape (merge[G, KV, H] x) [{back}]\n"
    )
    assert codes(text.format(back="KV, G")) == ["P1107"]
    assert codes(text.format(back="G, KV")) == []


def test_heads_tiled() -> None:
    found = finding(TILED, "P1108")
    assert labels(found)[1:] == [
        ("(q : Tensor[F32, [B, H, S, D]])", "H is axis 1 of `q`"),
        ("broadcast one [B, G, KV, D, S]", "G is a repetition, which this adds"),
        ("(k : Tensor[F32, [B, KV, D, S]])", "KV is axis 1 of `k`"),
    ]
    assert any("[…, KV, G, …]" in note for note in found.notes)


def test_heads_interleaved() -> None:
    assert codes(INTERLEAVED) == []


def test_a_batch_that_is_repeated_in_front_is_no_tiling() -> None:
    text = (
        "let f [B, H, S, D, BH] (x : Tensor[F32, [BH, S, D]]) (w : Tensor[F32, [H, D, D]])"
        " : Tensor[F32, [BH, S, D]] assume BH == B * H =\n"
        "  matmul x (reshape (broadcast w [B, H, D, D]) [BH, D, D])\n"
    )
    assert codes(text) == []
