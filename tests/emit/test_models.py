"""What people do with models: nested children, shared and tied weights, factory arguments, other
dtypes, copies, and states that are saved and loaded."""

from __future__ import annotations

import copy
import importlib
import io
import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

import p0trans
from p0trans.dtypes import DTYPES
from p0trans.emit.options import Checks

# Three levels of children, a block that is called twice, and a table for both ends.
TEXT = """
from std.embedding import embedding, Embedding
from std.feed_forward import swiglu, SwiGLU
from std.linear import linear_no_bias
from std.norm import rmsnorm, RMSNorm

let block [B, S, D, D_ff]
    (x : Tensor[F32, [B, S, D]]) (norm_w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    (gate : Tensor[F32, [D_ff, D]]) (up : Tensor[F32, [D_ff, D]]) (down : Tensor[F32, [D, D_ff]])
    : Tensor[F32, [B, S, D]] =
  x + swiglu[B, S, D, D_ff] (rmsnorm[B, S, D] x norm_w eps) gate up down

module Block = block with
  sub norm = RMSNorm(weight = norm_w, eps = eps)
  sub mlp = SwiGLU(gate_weight = gate, up_weight = up, down_weight = down)

let language_model [B, S, V, D, D_ff]
    (ids : Tensor[I64, [B, S]]) (table : Tensor[F32, [V, D]])
    (norm_w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    (gate : Tensor[F32, [D_ff, D]]) (up : Tensor[F32, [D_ff, D]]) (down : Tensor[F32, [D, D_ff]])
    : Tensor[F32, [B, S, V]] =
  let x = embedding[B, S, V, D] ids table in
  let x = block[B, S, D, D_ff] x norm_w eps gate up down in
  let x = block[B, S, D, D_ff] x norm_w eps gate up down in
  linear_no_bias[B, S, D, V] x table

module LanguageModel = language_model with
  sub embed = Embedding(weight = table)
  sub block = Block(norm_w = norm_w, eps = eps, gate = gate, up = up, down = down)
"""
SIZES = {"V": 11, "D": 4, "D_ff": 6}
KEYS = [
    "embed.weight",
    "block.norm.weight",
    "block.mlp.gate_proj.weight",
    "block.mlp.up_proj.weight",
    "block.mlp.down_proj.weight",
]
IDS = torch.tensor([[3, 0, 10], [3, 3, 7]])
CHECKS = pytest.mark.parametrize("checks", get_args(Checks))
FLOATS = pytest.mark.parametrize("dtype", ["F16", "BF16", "F64"])


@cache
def emitted(checks: Checks = "full") -> Any:
    return p0trans.load(TEXT, checks=checks)


def model(checks: Checks = "full", **options: Any) -> Any:
    torch.manual_seed(0)
    return emitted(checks).LanguageModel(**SIZES, **options)


def by_hand(state: dict[str, Tensor]) -> Tensor:
    """What `language_model` says, in torch's own functions."""
    table, norm, gate, up, down = (state[key] for key in KEYS)
    x = F.embedding(IDS, table)
    for _ in range(2):
        normed = F.rms_norm(x, norm.shape, norm, eps=1e-6)
        x = x + F.linear(F.silu(F.linear(normed, gate)) * F.linear(normed, up), down)
    return F.linear(x, table)


def assert_close(found: Tensor, wanted: Tensor, dtype: str = "F32") -> None:
    bounds = DTYPES[dtype]
    torch.testing.assert_close(found, wanted, rtol=bounds.rtol, atol=bounds.atol)


def test_children_nest_three_deep() -> None:
    ours = model()
    assert list(ours.state_dict()) == KEYS
    assert_close(ours(IDS), by_hand(dict(ours.named_parameters())))
    assert [type(one).__name__ for one in (ours.block, ours.block.mlp, ours.block.mlp.up_proj)] == [
        "Block",
        "SwiGLU",
        "Linear",
    ]
    assert type(ours.block.mlp.up_proj) is nn.Linear


def test_weights_with_several_uses_collect_the_gradients_of_all() -> None:
    ours = model()
    weights = dict(ours.named_parameters())
    found = torch.autograd.grad(ours(IDS).square().mean(), list(weights.values()))
    wanted = torch.autograd.grad(by_hand(weights).square().mean(), list(weights.values()))
    for one, other in zip(found, wanted, strict=True):
        assert_close(one, other)


def test_models_can_share_parameters_and_children() -> None:
    ours, other = model(), model()
    nn.init.normal_(ours.embed.weight)
    other.embed.weight = ours.embed.weight
    other.block.mlp = ours.block.mlp
    both = nn.ModuleList([ours, other])
    assert len(list(both.parameters())) == len(KEYS) + 1
    assert_close(other(IDS), by_hand(dict(other.named_parameters())))
    copied: Any = copy.deepcopy(both)
    first, second = copied
    assert first.embed.weight is not ours.embed.weight
    assert first.embed.weight is second.embed.weight
    assert first.block.mlp is second.block.mlp


def test_a_state_can_be_assigned_without_memory_of_its_own() -> None:
    ours, other = model(), model(device="meta")
    other.load_state_dict(ours.state_dict(keep_vars=True), assign=True)
    assert all(one is two for one, two in zip(ours.parameters(), other.parameters(), strict=True))
    assert torch.equal(other(IDS), ours(IDS))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_factory_arguments_reach_every_parameter(dtype: torch.dtype) -> None:
    ours = model(device="meta", dtype=dtype)
    assert {(one.device.type, one.dtype) for one in ours.parameters()} == {("meta", dtype)}


def _reset(module: nn.Module) -> None:
    reset: Callable[[], None] = getattr(module, "reset_parameters", lambda: None)
    reset()


def test_a_model_made_without_memory_is_filled_later() -> None:
    ours = model(device="meta")
    assert ours(IDS.to("meta")).shape == (2, 3, 11)
    ours.to_empty(device="cpu")
    torch.manual_seed(0)
    ours.apply(_reset)
    wanted = model()
    assert all(map(torch.equal, ours.parameters(), wanted.parameters()))


@CHECKS
@FLOATS
def test_a_model_moves_to_another_dtype(dtype: str, checks: Checks) -> None:
    torchs = getattr(torch, DTYPES[dtype].torch)
    ours = model(checks).to(torchs)
    found = ours(IDS)
    assert found.dtype == torchs
    assert_close(found, by_hand(ours.state_dict()), dtype)


@CHECKS
@FLOATS
def test_a_model_is_made_in_another_dtype(dtype: str, checks: Checks) -> None:
    torchs = getattr(torch, DTYPES[dtype].torch)
    ours = model(checks, dtype=torchs)
    assert_close(ours(IDS), by_hand(ours.state_dict()), dtype)


@CHECKS
def test_a_model_runs_under_autocast(checks: Checks) -> None:
    ours = model(checks)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found, wanted = ours(IDS), by_hand(ours.state_dict())
    assert found.dtype == torch.bfloat16
    assert_close(found, wanted, "BF16")


def test_integer_buffers_keep_their_dtype() -> None:
    norm = p0trans.load(Path(p0trans.__file__).parent / "std/norm.p0").BatchNorm2d(C=3)
    dtypes = {name: value.dtype for name, value in norm.to(torch.bfloat16).state_dict().items()}
    assert dtypes.pop("num_batches_tracked") == torch.int64
    assert set(dtypes.values()) == {torch.bfloat16}


def test_a_state_is_saved_and_loaded(tmp_path: Path) -> None:
    ours, other = model(), emitted().LanguageModel(**SIZES)
    assert not torch.equal(other(IDS), ours(IDS))
    torch.save(ours.state_dict(), tmp_path / "state.pt")
    other.load_state_dict(torch.load(tmp_path / "state.pt", weights_only=True))
    assert torch.equal(other(IDS), ours(IDS))


def test_a_copy_is_equal_and_independent() -> None:
    ours = model()
    before = ours(IDS)
    twin = copy.deepcopy(ours)
    assert torch.equal(twin(IDS), before)
    nn.init.zeros_(twin.embed.weight)
    assert torch.equal(ours(IDS), before)


def test_pickle_and_torch_save_of_a_whole_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = tmp_path / "built_for_this_test.py"
    built.write_text(p0trans.translate(TEXT))
    monkeypatch.syspath_prepend(tmp_path)
    for module in (emitted(), importlib.import_module(built.stem)):
        ours = module.LanguageModel(**SIZES, eps=1e-3)
        stream = io.BytesIO()
        torch.save(ours, stream)
        stream.seek(0)
        for twin in (
            pickle.loads(pickle.dumps(ours)),
            torch.load(stream, weights_only=False),
        ):
            assert type(twin) is module.LanguageModel
            assert twin.block.norm.eps == 1e-3
            assert torch.equal(twin(IDS), ours(IDS))
