"""Child modules that torch.nn has are emitted as such, and no others."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.emit.run import built, loaded

USES = """
from layers import scale, Scale

let twice [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  let y = scale[B, S, D] x w eps in
  y + y

module Twice = twice with
  sub scale = Scale(weight = w, eps = eps)
"""
RMS = """
let scale [B, S, D]
    (x : Tensor[F32, [B, S, D]]) (weight : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  let rstd = rsqrt (reduce_keep[mean, axis=2] (x * x) + broadcast eps [B, S, 1]) in
  x * broadcast rstd [B, S, D] * broadcast weight [B, S, D]

module Scale = scale with
  param weight = ones
  const eps = 1e-6
"""
STD = """
from std.embedding import embedding, Embedding
from std.linear import linear, linear_no_bias, Linear, LinearNoBias
from std.norm import layer_norm, LayerNorm

let head [B, S, V, D]
    (ids : Tensor[I64, [B, S]]) (table : Tensor[F32, [V, D]])
    (norm_w : Tensor[F32, [D]]) (norm_b : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    (up_w : Tensor[F32, [2 * D, D]]) (up_b : Tensor[F32, [2 * D]]) (down : Tensor[F32, [D, 2 * D]])
    : Tensor[F32, [B, S, D]] =
  let x  = embedding[B, S, V, D] ids table in
  let x  = layer_norm[B, S, D] x norm_w norm_b eps in
  let up = linear[B, S, D, 2 * D] x up_w up_b in
  linear_no_bias[B, S, 2 * D, D] up down

module Head = head with
  sub embed = Embedding(weight = table)
  sub norm = LayerNorm(weight = norm_w, bias = norm_b, eps = eps)
  sub up = Linear(weight = up_w, bias = up_b)
  sub down = LinearNoBias(weight = down)
"""


def with_layers(layers: str, folder: Path, uses: str = USES, **options: Any) -> str:
    """What is emitted for `uses`, which imports `layers`."""
    (folder / "layers.p0").write_text(layers)
    return built(uses, folder, **options)


def test_layers_of_the_library_are_those_of_torch() -> None:
    text = built(STD)
    assert text.count("(nn.Module):") == 1
    head = loaded(text)["Head"](V=7, D=4, eps=0.25)
    children = {name: (type(child), str(child)) for name, child in head.named_children()}
    assert children == {
        "embed": (nn.Embedding, "Embedding(7, 4)"),
        "norm": (nn.LayerNorm, "LayerNorm((4,), eps=0.25, elementwise_affine=True)"),
        "up": (nn.Linear, "Linear(in_features=4, out_features=8, bias=True)"),
        "down": (nn.Linear, "Linear(in_features=8, out_features=4, bias=False)"),
    }


def test_they_compute_what_classes_of_their_own_do() -> None:
    ours = loaded(built(STD))["Head"](V=7, D=4)
    plain = loaded(built(STD, style="explicit"))["Head"](V=7, D=4)
    assert type(plain.up) is not nn.Linear
    assert list(ours.state_dict()) == list(plain.state_dict())
    plain.load_state_dict(ours.state_dict())
    ids = torch.randint(7, (2, 3))
    torch.testing.assert_close(ours(ids), plain(ids))


def test_they_begin_as_the_source_says() -> None:
    torch.manual_seed(0)
    head = loaded(built(STD))["Head"](V=50, D=256)
    assert not head.up.bias.any()
    # He's: uniform within sqrt(6 / fan_in); that of nn.Linear is within 1 / sqrt(fan_in).
    bound = math.sqrt(6 / 256)
    assert 0.9 * bound < head.up.weight.abs().max() <= bound
    assert abs(head.embed.weight.std() - 1) < 0.05


def test_device_and_dtype_reach_them() -> None:
    head = loaded(built(STD))["Head"](V=7, D=4, device="meta", dtype=torch.bfloat16)
    assert {(p.device.type, p.dtype) for p in head.parameters()} == {("meta", torch.bfloat16)}


@pytest.mark.parametrize(
    ("was", "now", "line"),
    [
        ("", "", "nn.RMSNorm(D, eps=eps, device=device, dtype=dtype)"),
        ("param weight = ones", "param weight = normal(0.5)", "nn.RMSNorm(D, eps=eps"),
        ("F32", "BF16", "nn.RMSNorm(D, eps=eps, device=device, dtype=dtype or torch.bfloat16)"),
        ("(weight :", "(gain :", "Scale(D, eps=eps, device=device, dtype=dtype)"),
        ("param weight", "buffer weight", "Scale(D, eps=eps, device=device, dtype=dtype)"),
        ("x * broadcast rstd", "x + broadcast rstd", "Scale(D, eps=eps"),
        ("[mean, axis=2]", "[sum, axis=2]", "Scale(D, eps=eps"),
    ],
)
def test_only_what_is_the_same(was: str, now: str, line: str, tmp_path: Path) -> None:
    layers, uses = RMS.replace(was, now), USES
    if now == "BF16":
        uses = uses.replace(was, now)
    if now == "(gain :":
        layers = layers.replace("weight", "gain")
        uses = uses.replace("weight =", "gain =")
    text = with_layers(layers, tmp_path, uses)
    assert f"self.scale = {line}".replace(" ", "") in "".join(text.split())
    assert ("nn.init.normal_(self.scale.weight, std=0.5)" in text) == ("normal" in now)
    own = "class Scale(" in text
    assert own == line.startswith("Scale")
    dtype = torch.bfloat16 if now == "BF16" else torch.float32
    assert loaded(text)["Twice"](D=4)(torch.ones(1, 2, 4, dtype=dtype)).dtype is dtype


def test_a_class_that_was_asked_for_stays() -> None:
    text = built(RMS + USES.replace("from layers import scale, Scale\n", ""))
    assert "class Scale(nn.Module):" in text
    assert "self.scale = Scale(D" in text


def test_the_explicit_style_keeps_every_class(tmp_path: Path) -> None:
    assert "class Scale(nn.Module):" in with_layers(RMS, tmp_path, style="explicit")


def test_where_a_target_keeps_the_steps_the_class_stays() -> None:
    text = built(STD, target="xla")
    assert "nn.Linear(" in text
    assert "class LayerNorm(nn.Module):" in text
    assert "self.norm = LayerNorm(D" in text


def test_sizes_come_from_the_state(tmp_path: Path) -> None:
    layers = (
        RMS.replace("[B, S, D]\n", "[B, S, D, K]\n", 1)
        .replace("(x : Tensor[F32, [B, S, D]])", "(x : Tensor[F32, [B, S, 2 * K]])")
        .replace(": Tensor[F32, [B, S, D]] =", ": Tensor[F32, [B, S, 2 * K]] where D == 2 * K =")
        .replace("broadcast rstd [B, S, D]", "broadcast rstd [B, S, 2 * K]")
        .replace("broadcast weight [B, S, D]", "broadcast weight [B, S, 2 * K]")
    )
    uses = (
        USES.replace("twice [B, S, D]", "twice [B, S, D, K]")
        .replace("(x : Tensor[F32, [B, S, D]])", "(x : Tensor[F32, [B, S, 2 * K]])")
        .replace(": Tensor[F32, [B, S, D]] =", ": Tensor[F32, [B, S, 2 * K]] where D == 2 * K =")
        .replace("scale[B, S, D]", "scale[B, S, D, K]")
    )
    text = with_layers(layers, tmp_path, uses)
    assert "nn.RMSNorm(D, eps=eps" in text
    assert loaded(text)["Twice"](D=4)(torch.ones(1, 2, 4)).shape == (1, 2, 4)


def test_a_number_that_the_parent_computes_with_is_its_own(tmp_path: Path) -> None:
    text = with_layers(RMS, tmp_path, USES.replace("  y + y\n", "  y + broadcast eps [B, S, D]\n"))
    # torch declares `nn.RMSNorm.eps` as a float or None.
    assert "self.scale.eps" not in text
    twice = loaded(text)["Twice"](D=4, eps=0.5)
    expected = nn.functional.rms_norm(torch.ones(1, 2, 4), (4,), eps=0.5) + 0.5
    torch.testing.assert_close(twice(torch.ones(1, 2, 4)), expected)


MIXED = """
from std.linear import linear_no_bias, LinearNoBias
from std.feed_forward import swiglu, SwiGLU

let mixed [B, S, D, H] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D, D]])
    (gate : Tensor[F32, [H, D]]) (up : Tensor[F32, [H, D]]) (down : Tensor[F32, [D, H]])
    (low : Tensor[BF16, [D]]) : Tensor[F32, [B, S, D]] =
  let y = swiglu[B, S, D, H] (linear_no_bias[B, S, D, D] x w) gate up down in
  y + broadcast (cast[F32] low) [B, S, D]

module Mixed = mixed with
  param low = ones
  sub first = LinearNoBias(weight = w)
  sub second = SwiGLU(gate_weight = gate, up_weight = up, down_weight = down)
"""


@pytest.mark.parametrize("style", ["idiomatic", "explicit"])
def test_children_of_mixed_floats_have_their_declared_dtype(style: str) -> None:
    torch.set_default_dtype(torch.float64)
    try:
        mixed = loaded(built(MIXED, style=style))["Mixed"](D=4, H=6)
    finally:
        torch.set_default_dtype(torch.float32)
    dtypes = {name: p.dtype for name, p in mixed.named_parameters()}
    assert dtypes.pop("low") is torch.bfloat16
    assert set(dtypes.values()) == {torch.float32}
    assert mixed(torch.ones(1, 2, 4)).dtype is torch.float32


def test_no_dtype_where_no_state_has_one() -> None:
    text = built("""
let shifted [N] (x : Tensor[F32, [N]]) (pos : Tensor[I64, [N]]) : Tensor[F32, [N]] =
  take[axis=0] x pos

module Shifted = shifted with
  buffer pos = zeros
""")
    assert "device: torch.device" in text
    assert "dtype: torch.dtype | None" not in text
