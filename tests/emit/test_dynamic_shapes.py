"""The method `dynamic_shapes` of emitted modules: text here, exports in tests/tools."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch

from tests.emit.accepted import PATHS, accepted
from tests.emit.build import alone, module
from tests.emit.run import emitted, rmsnorm


def _method(source: Any) -> str:
    """The statements of the method in the last module of a program."""
    text = accepted(source).emitted(dynamic_shapes=True)
    method = text[text.rindex("    def dynamic_shapes") :].split('them."""\n')[1]
    return textwrap.dedent(method.split("\n\n")[0]).rstrip()


def _program(signature: str, inputs: str, where: str) -> str:
    return f"let f_ {signature} {inputs} : Tensor[F32, []] where {where} =\n  0.0\n"


def test_only_on_request() -> None:
    plain = emitted(alone(rmsnorm(), modules=[module("Norm", rmsnorm())]))
    assert "dynamic_shapes" not in plain
    assert "typing" not in plain


def test_one_dim_for_each_shape_variable() -> None:
    assert _method(PATHS["casebook_a_rmsnorm"]) == """\
B = torch.export.Dim("B", min=1)
S = torch.export.Dim("S", min=1)
D = torch.export.Dim("D", min=1)
return {
    "x": {0: B, 1: S, 2: D},
    "weight": {0: D},
    "eps": {},
}"""


def test_a_multiple_is_derived() -> None:
    assert '"cos": {0: S, 1: 2 * K},' in _method(PATHS["rope_half_split"])


def test_an_equation_derives_one_size_from_another() -> None:
    assert _method(PATHS["even_width_where"]) == """\
B = torch.export.Dim("B", min=1)
K = torch.export.Dim("K", min=1)
return {
    "x": {0: B, 1: 2 * K},
}"""


@pytest.mark.parametrize(
    ("where", "limits"),
    [
        ("S >= 2", "min=2"),
        ("S > 2, S <= 1000", "min=3, max=1000"),
        ("2 * S < 15", "min=1, max=7"),
        ("S < T, T <= 64", "min=1, max=63"),
        ("S == 3 * T, T >= 5", None),
    ],
)
def test_limits_follow_from_where(where: str, limits: str | None) -> None:
    inputs = "(x : Tensor[F32, [S]]) (y : Tensor[F32, [T]])"
    method = _method(_program("[S, T]", inputs, where))
    if limits is None:
        assert 'T = torch.export.Dim("T", min=5)' in method
        assert '"x": {0: 3 * T}' in method
    else:
        assert f'S = torch.export.Dim("S", {limits})' in method


def test_what_the_constructor_fixes_is_no_dim() -> None:
    source = """let embed [B, S, L] (x : Tensor[F32, [B, S]]) (table : Tensor[F32, [L]])
    : Tensor[F32, [B, S]] where S <= L =
  x + broadcast (slice[axis=0, start=0, stop=S] table) [B, S]

module Embed = embed with
  param table = zeros
"""
    assert _method(source) == """\
B = torch.export.Dim("B", min=1)
S = torch.export.Dim("S", min=1, max=self.L)
return {
    "x": {0: B, 1: S},
}"""


_FOLDED = """let f [B, R, M, E, F, BE] (x : Tensor[F32, [B, R]]) (y : Tensor[F32, [2 * E + 1]])
    (z : Tensor[F32, [F]]) (u : Tensor[F32, [3 * BE]]) (w : Tensor[F32, [E]])
    : Tensor[F32, [B, R]] assume E == R * M, F == M * R, BE == B * F =
  let ones = reshape (w * reshape z [E] * slice[axis=0, start=0, stop=E] y) [R, M] in
  let sums = reduce_keep[sum, axis=1] (reshape u [B, 3 * E]) in
  x * broadcast (reduce[sum, axis=1] ones) [B, R] + broadcast sums [B, R]

module Folded = f with
  param w = ones
"""


def test_sizes_that_the_constructor_fixes_by_an_equation_do_not_vary() -> None:
    assert _method(_FOLDED) == """\
B = torch.export.Dim("B", min=1)
return {
    "x": {0: B, 1: torch.export.Dim.DYNAMIC},
    "y": {},
    "z": {},
    "u": {0: 3 * B * self.E},
}"""


def test_a_sum_that_the_constructor_fixes_does_not_vary() -> None:
    source = """let g [B, R, S, E] (x : Tensor[F32, [B, R + S]]) (y : Tensor[F32, [R]])
    (w : Tensor[F32, [E]]) : Tensor[F32, [B, E]] assume E == R + S =
  x * broadcast (w * concat[axis=0] y (slice[axis=0, start=R, stop=E] w)) [B, E]

module Sum = g with
  param w = ones
"""
    assert _method(source) == """\
B = torch.export.Dim("B", min=1)
return {
    "x": {0: B},
    "y": {0: torch.export.Dim.DYNAMIC},
}"""


def test_what_is_tied_to_the_constructor_is_exported() -> None:
    folded = accepted(_FOLDED).namespace(dynamic_shapes=True)["Folded"](E=12)

    def inputs(b: int, r: int) -> tuple[torch.Tensor, ...]:
        return torch.ones(b, r), torch.randn(25), torch.randn(12), torch.randn(36 * b)

    exported: Any = torch.export.export(
        folded, inputs(2, 3), dynamic_shapes=folded.dynamic_shapes()
    )
    arguments = inputs(5, 4)
    torch.testing.assert_close(exported.module()(*arguments), folded(*arguments))


def test_a_sum_of_two_variables_is_left_free() -> None:
    inputs = "(x : Tensor[F32, [S + T]]) (y : Tensor[F32, [T]])"
    assert '"x": {0: torch.export.Dim.DYNAMIC},' in _method(_program("[S, T]", inputs, "S >= 1"))


def test_a_tuple_of_inputs() -> None:
    inputs = "(x : (Tensor[F32, [S]], (Tensor[F32, [3, T]], Tensor[F32, []])))"
    assert '"x": ({0: S}, ({1: T}, {})),' in _method(_program("[S, T]", inputs, "S >= 1"))


def test_the_method_runs() -> None:
    names = accepted(PATHS["rope_half_split"]).namespace(dynamic_shapes=True)
    shapes = names["Rope"]().dynamic_shapes()
    assert list(shapes) == ["x", "cos", "sin"]
    assert isinstance(shapes["x"][0], torch.export.Dim)


def test_the_sizes_are_given_under_the_names_that_forward_has() -> None:
    source = """let f [B, D]
    (dtype : Tensor[F32, [B, D]]) (y : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]])
    : Tensor[F32, [B, D]] =
  (dtype + y) * broadcast w [B, D]

module Net = f with
  param w = ones
"""
    net = accepted(source).namespace(dynamic_shapes=True)["Net"](D=3)
    inputs = (torch.ones(2, 3), torch.ones(2, 3))
    exported: Any = torch.export.export(net, inputs, dynamic_shapes=net.dynamic_shapes())
    assert torch.equal(exported.module()(torch.ones(5, 3), torch.ones(5, 3)), 2 * torch.ones(5, 3))
    assert list(net.dynamic_shapes()) == ["dtype", "y"]
