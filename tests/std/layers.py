"""For each module of the library: PyTorch's own layer, and an input to try both with."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from tests.std.oracles import causal, tables


@dataclass(frozen=True)
class Layer:
    """Module `name` of std.`file` beside what `torch` makes.

    `sizes` are the constructor's; `call` is how PyTorch's layer is called, where that is not just
    with the inputs.
    """

    file: str
    name: str
    torch: Callable[[], nn.Module]
    inputs: Callable[[], tuple[Tensor, ...]]
    sizes: Mapping[str, int] = field(default_factory=dict)
    call: Callable[..., Any] = lambda layer, *inputs: layer(*inputs)

    def __str__(self) -> str:
        return f"{self.file}.{self.name}"


class Gated(nn.Module):
    """The feed-forward layer of Llama in transformers, with its keys."""

    def __init__(self, width: int, hidden: int, act: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.act = act
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x: Tensor) -> Any:
        return self.down_proj(self.act(self.gate_proj(x)) * self.up_proj(x))


class Tables(nn.Module):
    """The tables of rotary positions with the base of the paper."""

    base = 10000.0

    def forward(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        return tables(positions, torch.tensor(self.base), 3)


def tokens() -> tuple[Tensor, ...]:
    return (torch.randn(2, 3, 4),)


def images() -> tuple[Tensor, ...]:
    return (torch.randn(2, 6, 3, 5),)


def classified() -> tuple[Tensor, ...]:
    return torch.randn(5, 7), torch.tensor([3, -100, 0, 6, -100])


def mlp() -> nn.Module:
    layers = OrderedDict(fc1=nn.Linear(4, 6), act=nn.GELU(), fc2=nn.Linear(6, 4))
    return nn.Sequential(layers)


def evaluated_batch_norm() -> nn.Module:
    layer = nn.BatchNorm2d(6)
    layer(torch.randn(8, 6, 3, 5))
    return layer.eval()


def encoder(norm_first: bool) -> nn.Module:
    return nn.TransformerEncoderLayer(4, 2, 6, 0.0, "gelu", batch_first=True, norm_first=norm_first)


def attention() -> nn.Module:
    return nn.MultiheadAttention(4, 2, batch_first=True)


def causally(layer: nn.Module, x: Tensor) -> Any:
    return layer(x, x, x, attn_mask=~causal(x.shape[1]), need_weights=False)[0]


def activation(name: str, torchs: Callable[[], nn.Module]) -> Layer:
    return Layer("activation", name, torchs, tokens)


D = {"D": 4}
WIDTHS = {"D_in": 4, "D_out": 5}
FEED_FORWARD = {"D": 4, "D_ff": 6}
HEADS = {"D": 4, "H": 2}
BLOCK = {"D": 4, "H": 2, "D_ff": 6}

LAYERS = (
    Layer("norm", "RMSNorm", lambda: nn.RMSNorm(4, eps=1e-6), tokens, D),
    Layer("norm", "LayerNorm", lambda: nn.LayerNorm(4), tokens, D),
    Layer("norm", "GroupNorm", lambda: nn.GroupNorm(3, 6), images, {"G": 3, "C": 6}),
    Layer("norm", "BatchNorm2d", evaluated_batch_norm, images, {"C": 6}),
    activation("ReLU", nn.ReLU),
    activation("LeakyReLU", nn.LeakyReLU),
    activation("ELU", nn.ELU),
    activation("Hardtanh", nn.Hardtanh),
    activation("ReLU6", nn.ReLU6),
    activation("Hardsigmoid", nn.Hardsigmoid),
    activation("Hardswish", nn.Hardswish),
    activation("SiLU", nn.SiLU),
    activation("GELU", nn.GELU),
    activation("GELUTanh", lambda: nn.GELU(approximate="tanh")),
    activation("Softplus", nn.Softplus),
    activation("LogSigmoid", nn.LogSigmoid),
    activation("Mish", nn.Mish),
    Layer("softmax", "Softmax", lambda: nn.Softmax(dim=-1), tokens),
    Layer("softmax", "LogSoftmax", lambda: nn.LogSoftmax(dim=-1), tokens),
    Layer("linear", "Linear", lambda: nn.Linear(4, 5), tokens, WIDTHS),
    Layer("linear", "LinearNoBias", lambda: nn.Linear(4, 5, bias=False), tokens, WIDTHS),
    Layer(
        "embedding",
        "Embedding",
        lambda: nn.Embedding(7, 4),
        lambda: (torch.tensor([[0, 6, 3], [3, 3, 1]]),),
        {"V": 7, "D": 4},
    ),
    Layer("rotary", "RotaryEmbedding", Tables, lambda: (torch.tensor([0, 5, 17]),), {"K": 3}),
    Layer(
        "attention",
        "SelfAttention",
        attention,
        tokens,
        HEADS,
        call=lambda layer, x: layer(x, x, x, need_weights=False)[0],
    ),
    Layer("attention", "CausalSelfAttention", attention, tokens, HEADS, call=causally),
    Layer("feed_forward", "MLP", mlp, tokens, FEED_FORWARD),
    Layer("feed_forward", "SwiGLU", lambda: Gated(4, 6, F.silu), tokens, FEED_FORWARD),
    Layer("feed_forward", "GeGLU", lambda: Gated(4, 6, F.gelu), tokens, FEED_FORWARD),
    Layer("loss", "CrossEntropyLoss", nn.CrossEntropyLoss, classified),
    Layer("loss", "MSELoss", nn.MSELoss, lambda: (torch.randn(5, 3), torch.randn(5, 3))),
    Layer(
        "loss",
        "KLDivLoss",
        lambda: nn.KLDivLoss(reduction="batchmean"),
        lambda: (torch.randn(5, 3), torch.randn(5, 3).softmax(-1)),
    ),
    Layer("block", "PreNormBlock", lambda: encoder(True), tokens, BLOCK),
    Layer(
        "block",
        "CausalBlock",
        lambda: encoder(True),
        tokens,
        BLOCK,
        call=lambda layer, x: layer(x, src_mask=~causal(x.shape[1])),
    ),
    Layer("block", "PostNormBlock", lambda: encoder(False), tokens, BLOCK),
)
