"""What `build --explain-rewrites` says: of what is emitted, the asked for file first."""

from __future__ import annotations

from p0trans import driver
from p0trans.source import Source
from p0trans.tools.rewrites import render

NORMED = """from std.activation import silu
from std.norm import rmsnorm, RMSNorm

let normed [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  silu[B, S, D] (rmsnorm[B, S, D] x w eps)

module Normed = normed with
  sub norm = RMSNorm(weight = w, eps = eps)
"""
GATED = """let gated [B, D] (x : Tensor[F32, [B, D]]) (y : Tensor[F32, [B, D]])
    : Tensor[F32, [B, D]] =
  let near = x * sigmoid y in
  near * sigmoid near
"""


def said(text: str) -> list[str]:
    source = Source("main.p0", text)
    return render(driver.build_sources([source], driver.Options(explain=True))).splitlines()


def test_only_what_is_emitted_is_spoken_of() -> None:
    lines = said(NORMED)
    rules = {(place.rpartition(":")[0], rule) for place, rule, *_ in map(str.split, lines)}
    assert {("std/activation.p0", "silu"), ("std/norm.p0", "rms_norm_weight")} < rules
    assert {file for file, _ in rules} == {"std/activation.p0", "std/norm.p0"}
    assert not {"relu6", "layer_norm", "group_norm", "elu"} & {rule for _, rule in rules}


def test_the_file_that_was_asked_for_comes_first() -> None:
    lines = said(f"{NORMED}\n{GATED}")
    files = [line.split(":")[0] for line in lines]
    assert files.index("std/activation.p0") > files.index("main.p0") == 0
    assert files == sorted(files, key=lambda file: file != "main.p0")


def test_a_line_is_said_once() -> None:
    text = """let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  exp (x * broadcast 2.0 [B]) * broadcast 3.0 [B]
"""
    assert said(text) == [
        "main.p0:2  python_number  f(x, broadcast c) = f(x, c) where c is a Python number"
    ]


def test_what_became_an_idiom_in_a_class_is_no_near_miss_as_a_function() -> None:
    """RMSNorm's class has a number for eps, its definition a tensor."""
    assert "not rewritten:" not in said(NORMED)


def test_a_function_is_a_near_miss_where_it_is_emitted() -> None:
    lines = said(NORMED.split("module")[0])
    assert any(line.startswith("std/norm.p0") for line in lines[lines.index("not rewritten:") :])


def test_nothing() -> None:
    assert said("let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = exp x\n") == [
        "nothing was rewritten"
    ]
