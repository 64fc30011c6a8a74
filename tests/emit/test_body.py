"""The lines of a function body."""

from __future__ import annotations

import re

from p0trans.dtypes import DTYPES
from p0trans.shapes.dim import constant
from p0trans.types import TupleType
from tests.emit.build import Build, alone, dim, tensor
from tests.emit.run import body, built, center, emitted, repeat_kv, rmsnorm

F32 = DTYPES["F32"]


def test_a_line_for_each_let() -> None:
    assert body(rmsnorm()) == """\
B, S, D = x.shape
x_sq = x * x  # [B, S, D]
mean_sq = torch.mean(x_sq, dim=2, keepdim=True)  # [B, S, 1]
eps_bcast = eps.expand(B, S, 1)  # [B, S, 1]
denom_inner = mean_sq + eps_bcast  # [B, S, 1]
rstd = torch.rsqrt(denom_inner)  # [B, S, 1]
rstd_bcast = rstd.expand(B, S, D)  # [B, S, D]
normed = x * rstd_bcast  # [B, S, D]
weight_bcast = weight.expand(B, S, D)  # [B, S, D]
return normed * weight_bcast  # [B, S, D]"""


def test_unnamed_steps_are_folded_as_the_source_nests_them() -> None:
    b = Build("f", "B S")
    x = b.parameter("x", tensor("F32", "B S"))
    total = b.apply("add", x, b.apply("mul", x, x, owner="y"), owner="y")
    y = b.apply("mul", b.apply("exp", total, owner="y"), x, let="y")
    assert body(b.done(y)) == """\
y = torch.exp(x + x * x) * x  # [B, S]
return y"""


def test_two_results_are_packed_and_taken_apart() -> None:
    b = Build("again", "B S")
    x = b.parameter("x", tensor("F32", "B S"))
    pair = b.call(center(), "B S", x)
    c, v = b.project(pair, 0, let="c"), b.project(pair, 1, let="v")
    again = b.done(b.pack(v, c))
    text = emitted(alone(center(), again), checks="none")
    assert "    return centered, torch.mean(centered * centered, dim=1)  # [B, S], [B]" in text
    assert "    c, v = center(x)  # [B, S], [B]\n    return v, c\n" in text
    assert "def again(x: Tensor) -> tuple[Tensor, Tensor]:" in text


def test_an_unused_result_is_an_underscore() -> None:
    b = Build("again", "B S")
    x = b.parameter("x", tensor("F32", "B S"))
    pair = b.call(center(), "B S", x)
    b.project(pair, 0, let="c")
    again = b.done(b.project(pair, 1, let="v"))
    assert "    _, v = center(x)  # [B, S], [B]\n    return v\n" in emitted(
        alone(center(), again), checks="none"
    )


def test_a_tuple_with_a_name_is_taken_apart_by_index() -> None:
    b = Build("again", "B S")
    x = b.parameter("x", tensor("F32", "B S"))
    pair = b.call(center(), "B S", x, let="pair")
    first = b.project(pair, 0)
    again = b.done(b.apply("exp", first))
    text = emitted(alone(center(), again), checks="none")
    assert "    pair = center(x)  # [B, S], [B]\n    return torch.exp(pair[0])  # [B, S]\n" in text


def test_unused_lets_and_what_only_they_use_are_left_out() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    y = b.apply("exp", x, let="y")
    b.apply("exp", y, let="z")
    assert body(b.done(b.apply("neg", x))) == "return -x  # [B]"


def test_a_second_name_is_a_line() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    y = b.alias(x, let="y")
    assert body(b.done(b.apply("add", x, y))) == "y = x  # [B]\nreturn x + y  # [B]"


def test_a_shadowed_name_is_used_again_once_its_value_is_dead() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    first = b.apply("exp", x, let="x")
    second = b.apply("add", first, x, let="x")
    third = b.apply("exp", second, let="x")
    assert body(b.done(b.apply("add", third, second))) == """\
x_2 = torch.exp(x)  # [B]
x = x_2 + x  # [B]
x_3 = torch.exp(x)  # [B]
return x_3 + x  # [B]"""


def test_a_shadowed_name_stays_while_a_folded_expression_still_needs_it() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    folded = b.apply("exp", x, owner="y")
    inner = b.apply("neg", x, let="x")
    y = b.apply("add", folded, inner, let="y")
    assert body(b.done(y)) == """\
x_2 = -x  # [B]
y = torch.exp(x) + x_2  # [B]
return y"""


def test_the_dtype_is_shown_where_it_changes() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("BF16", "B"))
    wide = b.apply("cast", x, let="wide", dtype=F32)
    square = b.apply("mul", wide, wide, let="square")
    positive = b.apply("lt", x, x, let="positive")
    assert body(b.done(b.apply("select", positive, square, square))) == """\
wide = x.to(torch.float32)  # F32[B]
square = wide * wide  # [B]
positive = x < x  # Bool[B]
return torch.where(positive, square, square)  # F32[B]"""


def test_a_comment_that_makes_a_line_too_long_stands_above_it() -> None:
    b = Build("f", "Batch Sequence Features")
    x = b.parameter("activations", tensor("F32", "Batch Sequence Features"))
    for _ in range(2):
        x = b.apply("add", x, 0, owner="activations_scaled")
    x = b.apply("add", x, 0, let="activations_scaled")
    lines = body(b.done(x)).split("\n")
    assert lines[0] == "# [Batch, Sequence, Features]"
    assert lines[1].startswith("activations_scaled = activations + ")


def test_a_long_expression_is_given_lines_named_after_what_they_hold() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    value = x
    for _ in range(9):
        value = b.apply("exp", value, owner="y")
    y = b.apply("neg", value, let="y")
    for _ in range(9):
        y = b.apply("exp", y, owner="z")
    assert body(b.done(b.apply("neg", y, let="z"))) == """\
x_exp = torch.exp(torch.exp(torch.exp(torch.exp(torch.exp(x)))))  # [B]
y = -torch.exp(torch.exp(torch.exp(torch.exp(x_exp))))  # [B]
y_exp = torch.exp(torch.exp(torch.exp(torch.exp(torch.exp(y)))))  # [B]
z = -torch.exp(torch.exp(torch.exp(torch.exp(y_exp))))  # [B]
return z"""


def test_temporaries_do_not_take_the_names_of_lets() -> None:
    b = Build("f", "B")
    x = b.parameter("x", tensor("F32", "B"))
    value = b.apply("exp", x, let="x_exp")
    other = x
    for _ in range(9):
        other = b.apply("exp", other, owner="y")
    y = b.apply("add", other, value, let="y")
    assert "x_exp_2 = torch.exp(" in body(b.done(y))


def test_a_literal_is_made_on_the_device_of_the_first_tensor() -> None:
    b = Build("f", "B")
    b.parameter("x", tensor("F32", "B"))
    one = b.literal(1.0)
    assert body(b.done(b.broadcast(one, "B"))) == """\
B = x.shape[0]
return torch.tensor(1.0, dtype=torch.float32, device=x.device).expand(B)  # [B]"""


def test_without_any_tensor_the_caller_says_on_which_device() -> None:
    made = Build("one")
    one = made.done(made.literal(1.0))
    assert body(one) == "return torch.tensor(1.0, dtype=torch.float32, device=device)  # []"
    passing = Build("passing")
    between = passing.done(passing.call(one, ""))
    user = Build("user", "B")
    x = user.parameter("x", tensor("F32", "B"))
    wide = user.broadcast(user.call(between, ""), "B")
    text = emitted(alone(one, between, user.done(user.apply("add", x, wide))))
    assert text.count("(*, device: torch.device | None = None) -> Tensor:") == 2
    assert "    return one(device=device)" in text
    assert "passing(device=x.device)" in text


def test_the_result_may_be_a_parameter() -> None:
    b = Build("same", "B")
    assert body(b.done(b.parameter("x", tensor("F32", "B")))) == "return x"


def test_shape_variables_are_bound_only_where_they_are_used() -> None:
    b = Build("f", "B S D")
    x = b.parameter("x", tensor("F32", "B S D"))
    y = b.parameter("y", tensor("F32", "B 2*S"))
    summed = b.apply("reduce_keep", y, kind="sum", axis=1)
    wide = b.broadcast(summed, "B S")
    b.apply("neg", x, let="unused")
    assert body(b.done(wide)).startswith("B, S, _ = x.shape\nreturn ")


def test_a_variable_is_solved_from_a_multiple_of_it() -> None:
    b = Build("f", "B K")
    x = b.parameter("x", tensor("F32", "B 2*K"))
    half = b.apply("slice", x, axis=1, start=constant(0), stop=dim("K"), step=1)  # the first half
    assert body(b.done(half)) == "K = x.shape[1] // 2\nreturn x[:, :K]  # [B, K]"


def test_variables_that_follow_are_computed_and_the_others_are_keywords() -> None:
    text = emitted(alone(repeat_kv()), checks="none")
    assert "def repeat_kv(k: Tensor, *, R: int) -> Tensor:" in text
    assert body(repeat_kv()).startswith("B, G, S, D = k.shape\nH = G * R\none = ")


def test_a_call_passes_what_the_callee_cannot_infer() -> None:
    b = Build("f", "B G S D H", assume=())
    k = b.parameter("k", tensor("F32", "B G S D"))
    twice = b.call(repeat_kv(), "B G 2 S D 2*G", k)
    text = emitted(alone(repeat_kv(), b.done(twice)), checks="none")
    assert "    return repeat_kv(k, R=2)  # [B, 2*G, S, D]\n" in text


def test_what_one_let_holds_stays_together_where_it_fits() -> None:
    text = built("""
let kl [N, Z] (mu : Tensor[F32, [N, Z]]) (logvar : Tensor[F32, [N, Z]]) : Tensor[F32, [N]] =
  let ones  = broadcast 1.0 [N, Z] in
  let inner = ones + logvar - mu * mu - exp logvar in
  reduce[sum, axis=1] (inner * inner * inner)
""")
    assert "    inner = 1.0 + logvar - mu.square() - torch.exp(logvar)  # [N, Z]\n" in text


def test_what_does_not_fit_gets_its_line_where_the_source_has_it() -> None:
    lets = "\n".join(
        f"  let {name} = sin (cos (tanh {name}_0 * {name}_0)) * {name}_0 in" for name in "pqrst"
    )
    parameters = " ".join(f"({name}_0 : Tensor[F32, [N, Z]])" for name in "pqrst")
    text = built(
        f"let f [N, Z] {parameters} : Tensor[F32, [N, Z]] =\n{lets}\n  p * q * r * s * t\n"
    )
    names = re.findall(r"^ +([pqrst]) = ", text, flags=re.MULTILINE)
    assert len(names) > 1
    assert names == sorted(names)


_SCALED = """
let scaled [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  x * broadcast w [B, D]
module Scaled = scaled with
  param w = ones

let f [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  let c = x * tanh x in
  let y = c + x in
  let c = scaled[B, D] (c * y) w in
  c + y * c
module Net = f with
  sub lin = Scaled(w = w)
"""


def test_a_name_that_a_child_is_to_give_a_value_again_has_a_type() -> None:
    forward = built(_SCALED).split("class Net")[1]
    assert "        c: Tensor = x * torch.tanh(x)  # [B, D]\n" in forward
    assert "        c = self.lin(c * y)  # [B, D]\n" in forward
    assert "        return c + y * c  # [B, D]\n" in forward


def test_a_tuple_in_a_tuple_is_shown_as_one() -> None:
    b = Build("f", "B D")
    pair = TupleType((tensor("F32", "D"), tensor("I64", "B")))
    p = b.parameter("p", TupleType((tensor("F32", "B D"), pair)))
    x, r = b.project(p, 0, let="x"), b.project(p, 1, let="r")
    w, n = b.project(r, 0, let="w"), b.project(r, 1, let="n")
    text = body(b.done(b.pack(x, w, n)))
    assert "x, r = p  # F32[B, D], (F32[D], I64[B])\nw, n = r  # F32[D], I64[B]\n" in text
