"""A sequence computed token by token with a key/value cache equals the whole run."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import p0trans
from tests.std.library import STYLE, assert_close, called

HEADS = pytest.mark.parametrize(("groups", "repeats"), [(2, 3), (2, 1), (1, 4)])
LENGTH = 6


def projected(groups: int, repeats: int) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values of two sequences, 5 features a head."""
    torch.manual_seed(6)
    kv = torch.randn(2, 2, groups, LENGTH, 5)
    return torch.randn(2, groups * repeats, LENGTH, 5), kv[0], kv[1]


@HEADS
@pytest.mark.parametrize("prompt", [1, 3, LENGTH - 1])
def test_token_by_token_equals_the_whole_run(groups: int, repeats: int, prompt: int) -> None:
    q, k, v = projected(groups, repeats)
    whole, step = (
        called("attention", n)() for n in ("grouped_causal_attention", "cached_attention")
    )
    past_k, past_v = k[:, :, :prompt], v[:, :, :prompt]
    found = [whole(q[:, :, :prompt], past_k, past_v)]
    for at in range(prompt, LENGTH):
        new = slice(at, at + 1)
        out, past_k, past_v = step(q[:, :, new], k[:, :, new], v[:, :, new], past_k, past_v)
        found.append(out)
    assert_close([torch.cat(found, 2), past_k, past_v], [whole(q, k, v), k, v])


def test_rotated_at_its_place_a_token_equals_its_row_of_the_whole_run() -> None:
    """Tables for one position are that row of the tables of all, so that keys can be cached."""
    text = (
        "from std.rotary import apply_rotary, rotary_tables, rotary_tables_at\n"
        "let whole [B, H, S, K] (x : Tensor[F32, [B, H, S, 2 * K]]) (base : Tensor[F32, []])\n"
        "    : Tensor[F32, [B, H, S, 2 * K]] =\n"
        "  let (cos, sin) = rotary_tables[S, K] base in\n"
        "  apply_rotary[B, H, S, K] x cos sin\n"
        "let step [B, H, P, K] (x : Tensor[F32, [B, H, 1, 2 * K]]) (base : Tensor[F32, []])\n"
        "    : Tensor[F32, [B, H, 1, 2 * K]] =\n"
        "  let place = slice[axis=0, start=P, stop=P + 1] (iota[I64, axis=0] [P + 1]) in\n"
        "  let (cos, sin) = rotary_tables_at[1, K] place base in\n"
        "  apply_rotary[B, H, 1, K] x cos sin\n"
    )
    module = p0trans.load(text, style=STYLE)
    x, base = torch.randn(2, 3, LENGTH, 8), torch.tensor(100.0)
    rows = [module.Step(P=at)(x[:, :, at : at + 1], base) for at in range(1, LENGTH)]
    assert_close([torch.cat(rows, 2)], [module.Whole()(x, base)[:, :, 1:]])
