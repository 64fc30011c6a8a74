"""Who owns what in a module whose children have children."""

from __future__ import annotations

import p0trans

NESTED = """from std.norm import rmsnorm, RMSNorm

let inner [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  rmsnorm[B, S, D] x w eps

module Inner = inner with
  sub norm = RMSNorm(weight = w, eps = eps)

let outer [B, S, D] (x : Tensor[F32, [B, S, D]])
    (v : Tensor[F32, [D]]) (w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  inner[B, S, D] (inner[B, S, D] x v eps) w eps

module Outer = outer with
"""


def test_a_const_of_a_grandchild_may_be_handed_to_several_children() -> None:
    subs = "  sub one = Inner(w = v, eps = eps)\n  sub two = Inner(w = w, eps = eps)\n"
    outer = p0trans.load(NESTED + subs).Outer(4, eps=0.5)
    assert (outer.one.norm.eps, outer.two.norm.eps) == (0.5, 0.5)
    own = p0trans.load(f"{NESTED}  const eps = 0.25\n{subs}").Outer(4)
    assert (own.one.norm.eps, own.two.norm.eps) == (0.25, 0.25)


def test_a_param_of_a_grandchild_has_one_owner() -> None:
    text = NESTED + "  param w = ones\n  sub one = Inner(w = w, eps = eps)\n"
    assert [found.code for found in p0trans.check(text).diagnostics] == ["P0907"]
