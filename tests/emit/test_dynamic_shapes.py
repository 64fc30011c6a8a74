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
