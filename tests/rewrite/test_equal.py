"""What is computed twice is one value for a rule, and is computed once in the end."""

from __future__ import annotations

from collections import Counter

import p0trans
from p0trans.ir.program import Apply, Definition
from p0trans.rewrite import rewrite


def rewritten(text: str) -> Definition:
    checked = p0trans.check(text)
    assert checked.ok
    return rewrite(checked.program, "torch").program.units[-1].definitions[-1]


def operations(definition: Definition) -> Counter[str]:
    return Counter(s.node.operation for s in definition.steps if isinstance(s.node, Apply))


def test_computed_once() -> None:
    found = rewritten(
        "let f [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] =\n"
        "  let a = exp (x * x) in\n"
        "  let b = exp (x * x) in\n"
        "  a + sqrt b"
    )
    assert operations(found) == {"square": 1, "exp": 1, "sqrt": 1, "add": 1}
    assert [s.binding for s in found.steps if s.binding] == ["a"]


def test_name_of_the_second_is_kept() -> None:
    found = rewritten(
        "let f [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] =\n"
        "  let a = sqrt (exp x) in\n"
        "  let b = exp x in\n"
        "  a + b"
    )
    assert [s.binding for s in found.steps if s.binding] == ["b", "a"]


def test_idioms_that_share_their_steps_stay_apart() -> None:
    """Softmax and its logarithm have the same maximum and sum: written twice, each is one call."""
    shifted = "x - broadcast (reduce_keep[max, axis=1] x) [B, V]"
    total = f"reduce_keep[sum, axis=1] (exp ({shifted}))"
    found = rewritten(
        "let f [B, V] (x : Tensor[F32, [B, V]]) : (Tensor[F32, [B, V]], Tensor[F32, [B, V]]) =\n"
        f"  (exp ({shifted}) / broadcast ({total}) [B, V],\n"
        f"   {shifted} - broadcast (log ({total})) [B, V])"
    )
    assert operations(found) == {"softmax": 1, "log_softmax": 1}


def test_rules_see_that_two_users_are_one() -> None:
    """The mean square of both has two users, which are one when the square root is taken once."""
    found = rewritten(
        "let f [B, D] (x : Tensor[F32, [B, D]]) : (Tensor[F32, [B, D]], Tensor[F32, [B, D]]) =\n"
        "  let inner = reduce_keep[mean, axis=1] (x * x) + broadcast 1e-5 [B, 1] in\n"
        "  let a = x * broadcast (rsqrt inner) [B, D] in\n"
        "  let b = x * broadcast (rsqrt inner) [B, D] in\n"
        "  (a, exp b)"
    )
    assert operations(found) == {"rms_norm": 1, "exp": 1}


def test_both_places_are_said_of_one_idiom() -> None:
    one = "exp x / broadcast (reduce_keep[sum, axis=1] (exp x)) [B, V]"
    text = (
        "let f [B, V] (x : Tensor[F32, [B, V]]) : Tensor[F32, [B, V]] =\n"
        f"  let a = {one} in\n"
        f"  let b = {one} in\n"
        "  a * sqrt b"
    )
    (origin,) = {step.origin for step in rewritten(text).steps if step.origin is not None}
    assert {text.count("\n", 0, span.start) for span in origin.spans} == {1, 2}


def test_the_two_zeros_are_not_one() -> None:
    found = rewritten(
        "let f [N] (x : Tensor[F32, [N]]) : (Tensor[F32, [N]], Tensor[F32, [N]]) =\n"
        "  (x * broadcast 0.0 [N], x * broadcast (-0.0) [N])"
    )
    assert operations(found)["mul"] == 2


def test_a_near_miss_is_said_once_for_each_step() -> None:
    """Rules that stand in two phases too."""
    checked = p0trans.check(
        "let f [D] (x : Tensor[F32, [D]]) : Tensor[F32, [D]] =\n"
        "  x + broadcast (reduce[sum, axis=0] (broadcast 2.0 [D])) [D]\n"
        "let g [A, B] (x : Tensor[I8, [A, B]]) : Tensor[I8, [A]] =\n"
        "  reduce[sum, axis=1] x + reduce[sum, axis=0] (broadcast (const[I8] 1) [A, A])"
    )
    assert checked.ok
    missed = [e for e in rewrite(checked.program, "torch", explain=True).events if not e.fired]
    assert missed
    assert len(set(missed)) == len(missed)
