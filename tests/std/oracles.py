"""For each definition of the library: PyTorch's own function, and sizes and inputs to try it at."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

Make = Callable[[list[int], Mapping[str, int]], Tensor]


@dataclass(frozen=True)
class Oracle:
    """`torch` takes the arguments of definition `name` of std.`file` and the sizes in `asks`.

    `fixed` are arguments that PyTorch gives no gradient, `said` those that are not just random.
    """

    file: str
    name: str
    torch: Callable[..., Any]
    sizes: tuple[Mapping[str, int], Mapping[str, int]]
    said: Mapping[str, Make] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}.{self.name}"


def number(value: float, dtype: torch.dtype = torch.float32) -> Make:
    return lambda shape, sizes: torch.tensor(value, dtype=dtype)


def positive(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    return torch.rand(shape) + 0.5


def below(variable: str) -> Make:
    """Ids less than a size."""
    return lambda shape, sizes: torch.randint(sizes[variable], tuple(shape))


def admitted(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    """A mask that admits the first key of each query, and some others."""
    mask = torch.rand(shape) < 0.5
    mask[..., 0] = True
    return mask


def bias(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    return torch.randn(shape).masked_fill(~admitted(shape, sizes), -torch.inf)


def ignoring(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    """Classes, of which every second is to be ignored."""
    classes = torch.randint(sizes["V"], tuple(shape))
    classes[1::2] = -100
    return classes


def probabilities(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    return torch.randn(shape).softmax(-1)


def weights(shape: list[int], sizes: Mapping[str, int]) -> Tensor:
    """Of the size that layers start with."""
    return torch.randn(shape) / math.sqrt(shape[-1])


def causal(length: int) -> Tensor:
    return torch.ones(length, length, dtype=torch.bool).tril()


def window_mask(length: int, window: int) -> Tensor:
    return causal(length) & ~causal(length).tril(-window)


def split(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:-1], heads, -1).transpose(1, 2)


def turned(x: Tensor, cos: Tensor, sin: Tensor, pairs: bool) -> Tensor:
    """The rotation as a product of complex numbers; `pairs` says that partners are neighbours."""
    lead = x.shape[:-1]
    parts = x.view(*lead, -1, 2) if pairs else x.view(*lead, 2, -1).mT
    product = torch.complex(parts[..., 0], parts[..., 1]) * torch.complex(cos, sin)
    return torch.stack((product.real, product.imag), -1 if pairs else -2).flatten(-2)


def tables(positions: Tensor, base: Tensor, half: int) -> tuple[Tensor, Tensor]:
    exponents = torch.arange(0, 2 * half, 2).float() / (2 * half)
    angles = torch.outer(positions.float(), 1.0 / base.item() ** exponents)
    return angles.cos(), angles.sin()


def packed(x: Tensor, weight: Tensor, bias: Tensor, heads: int) -> tuple[Tensor, ...]:
    return tuple(split(part, heads) for part in F.linear(x, weight, bias).chunk(3, dim=-1))


def self_attention(
    x: Tensor,
    in_proj_weight: Tensor,
    in_proj_bias: Tensor,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor,
    *,
    heads: int = 2,
    is_causal: bool = False,
) -> Tensor:
    q, k, v = packed(x, in_proj_weight, in_proj_bias, heads)
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)
    return F.linear(mixed.transpose(1, 2).flatten(-2), out_proj_weight, out_proj_bias)


def block(x: Tensor, *values: Tensor, pre_norm: bool, is_causal: bool = False) -> Tensor:
    *attention, w1, b1, w2, b2, norm1_weight, norm1_bias, norm2_weight, norm2_bias, eps = values

    def norm(h: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return F.layer_norm(h, weight.shape, weight, bias, float(eps))

    def mixed(h: Tensor) -> Tensor:
        return self_attention(h, *attention, is_causal=is_causal)

    def mlp(h: Tensor) -> Tensor:
        return F.linear(F.gelu(F.linear(h, w1, b1)), w2, b2)

    if pre_norm:
        h = x + mixed(norm(x, norm1_weight, norm1_bias))
        return h + mlp(norm(h, norm2_weight, norm2_bias))
    h = norm(x + mixed(x), norm1_weight, norm1_bias)
    return norm(h + mlp(h), norm2_weight, norm2_bias)


TOKENS = ({"B": 2, "S": 3, "D": 5}, {"B": 1, "S": 1, "D": 4})
ONE_FEATURE = ({"B": 2, "S": 3, "D": 5}, {"B": 1, "S": 4, "D": 1})
IMAGES = ({"N": 2, "C": 3, "H": 4, "W": 5}, {"N": 1, "C": 1, "H": 1, "W": 1})
GROUPS = (
    {"N": 2, "G": 2, "C": 6, "H": 4, "W": 5},
    {"N": 1, "G": 3, "C": 3, "H": 1, "W": 2},
)
WIDTHS = (
    {"B": 2, "S": 3, "D": 4, "D_in": 4, "D_out": 5, "D_ff": 6},
    {"B": 1, "S": 1, "D": 1, "D_in": 1, "D_out": 1, "D_ff": 1},
)
VOCABULARY = ({"B": 2, "S": 3, "V": 7, "D": 4}, {"B": 1, "S": 1, "V": 1, "D": 1})
ROWS = ({"N": 6, "V": 5, "D": 5}, {"N": 1, "V": 3, "D": 2})
PAIRS = ({"B": 2, "H": 3, "S": 7, "K": 4}, {"B": 1, "H": 1, "S": 1, "K": 1})
HEADS = (
    {"B": 2, "H": 3, "S": 4, "T": 5, "K": 6, "D": 18},
    {"B": 1, "H": 1, "S": 1, "T": 1, "K": 1, "D": 1},
)
GROUPED = (
    {"B": 2, "H": 6, "G": 2, "R": 3, "S": 4, "T": 5, "P": 4, "K": 3},
    {"B": 1, "H": 2, "G": 2, "R": 1, "S": 1, "T": 1, "P": 1, "K": 1},
)
BLOCKS = (
    {"B": 2, "S": 3, "D": 6, "H": 2, "K": 3, "D_ff": 7},
    {"B": 1, "S": 1, "D": 4, "H": 2, "K": 2, "D_ff": 1},
)
EPS = {"eps": number(1e-5)}
PROJECTIONS = dict.fromkeys(("in_proj_weight", "out_proj_weight"), weights)
BLOCK_STATE = EPS | PROJECTIONS | dict.fromkeys(("linear1_weight", "linear2_weight"), weights)


def activation(name: str, torchs: Callable[..., Any], **said: Make) -> Oracle:
    return Oracle("activation", name, torchs, TOKENS, said)


def attention(
    name: str, torchs: Callable[..., Any], asks: tuple[str, ...] = (), **said: Make
) -> Oracle:
    return Oracle("attention", name, torchs, HEADS, said, asks)


def grouped(name: str, torchs: Callable[..., Any], asks: tuple[str, ...] = ()) -> Oracle:
    return Oracle("attention", name, torchs, GROUPED, asks=asks)


SDPA = F.scaled_dot_product_attention

ORACLES = (
    Oracle(
        "norm",
        "rmsnorm",
        lambda x, weight, eps: F.rms_norm(x, weight.shape, weight, float(eps)),
        ONE_FEATURE,
        EPS,
    ),
    Oracle(
        "norm",
        "layer_norm",
        lambda x, weight, bias, eps: F.layer_norm(x, weight.shape, weight, bias, float(eps)),
        TOKENS,
        EPS,
    ),
    Oracle(
        "norm",
        "group_norm",
        lambda x, weight, bias, eps, G: F.group_norm(x, G, weight, bias, float(eps)),  # noqa: N803
        GROUPS,
        EPS,
        asks=("G",),
    ),
    Oracle(
        "norm",
        "batch_norm",
        lambda x, running_mean, running_var, weight, bias, eps: F.batch_norm(
            x, running_mean, running_var, weight, bias, eps=float(eps)
        ),
        IMAGES,
        EPS | {"running_var": positive},
        fixed=("running_mean", "running_var"),
    ),
    Oracle(
        "norm",
        "batch_norm_2d",
        lambda x, running_mean, running_var, num_batches_tracked, weight, bias, eps: F.batch_norm(
            x, running_mean, running_var, weight, bias, eps=float(eps)
        ),
        IMAGES,
        EPS | {"running_var": positive},
        fixed=("running_mean", "running_var"),
    ),
    activation("relu", F.relu),
    activation(
        "leaky_relu",
        lambda x, negative_slope: F.leaky_relu(x, float(negative_slope)),
        negative_slope=number(0.1),
    ),
    activation("elu", lambda x, alpha: F.elu(x, float(alpha)), alpha=number(1.5)),
    activation(
        "hardtanh",
        lambda x, min_val, max_val: F.hardtanh(x, float(min_val), float(max_val)),
        min_val=number(-0.5),
        max_val=number(0.25),
    ),
    activation("relu6", F.relu6),
    activation("hardsigmoid", F.hardsigmoid),
    activation("hardswish", F.hardswish),
    activation("silu", F.silu),
    activation("gelu", F.gelu),
    activation("gelu_tanh", lambda x: F.gelu(x, approximate="tanh")),
    activation("softplus", F.softplus),
    activation("logsigmoid", F.logsigmoid),
    activation("mish", F.mish),
    Oracle("softmax", "softmax", lambda x: F.softmax(x, -1), TOKENS),
    Oracle("softmax", "log_softmax", lambda x: F.log_softmax(x, -1), TOKENS),
    Oracle("softmax", "logsumexp", lambda x: torch.logsumexp(x, -1), TOKENS),
    Oracle("linear", "linear", lambda x, weight, bias: F.linear(x, weight, bias), WIDTHS),
    Oracle("linear", "linear_no_bias", lambda x, weight: F.linear(x, weight), WIDTHS),
    Oracle("embedding", "embedding", F.embedding, VOCABULARY, {"ids": below("V")}),
    Oracle(
        "rotary",
        "rotary_tables_at",
        lambda positions, base, K: tables(positions, base, K),  # noqa: N803
        PAIRS,
        {"positions": below("S"), "base": number(100.0)},
        asks=("K",),
    ),
    Oracle(
        "rotary",
        "rotary_tables",
        lambda base, S, K: tables(torch.arange(S), base, K),  # noqa: N803
        PAIRS,
        {"base": number(100.0)},
        asks=("S", "K"),
    ),
    Oracle("rotary", "apply_rotary", lambda x, cos, sin: turned(x, cos, sin, False), PAIRS),
    Oracle(
        "rotary", "apply_rotary_interleaved", lambda x, cos, sin: turned(x, cos, sin, True), PAIRS
    ),
    attention("split_heads", lambda x, H: split(x, H), ("H",)),  # noqa: N803
    attention("merge_heads", lambda x: x.transpose(1, 2).flatten(2)),
    grouped("repeat_kv", lambda x, R: x.repeat_interleave(R, 1), ("R",)),  # noqa: N803
    attention("attention_products", lambda q, k: q @ k.mT),
    attention("attention_scores", lambda q, k: q @ k.mT / k.shape[-1] ** 0.5),
    attention("attend", lambda scores, v: scores.softmax(-1) @ v),
    attention("attention", SDPA),
    attention("masked_attention", SDPA, attn_mask=admitted),
    attention(
        "biased_attention", lambda q, k, v, attn_bias: SDPA(q, k, v, attn_bias), attn_bias=bias
    ),
    attention("causal_attention", lambda q, k, v: SDPA(q, k, v, is_causal=True)),
    attention(
        "sliding_window_attention",
        lambda q, k, v, window: SDPA(q, k, v, window_mask(q.shape[2], int(window))),
        window=number(2, torch.int32),
    ),
    grouped("grouped_attention", lambda q, k, v: SDPA(q, k, v, enable_gqa=True)),
    grouped(
        "grouped_causal_attention",
        lambda q, k, v: SDPA(q, k, v, is_causal=True, enable_gqa=True),
    ),
    grouped(
        "cached_attention",
        lambda q, k, v, past_k, past_v: (
            SDPA(q, torch.cat((past_k, k), 2), torch.cat((past_v, v), 2), enable_gqa=True),
            torch.cat((past_k, k), 2),
            torch.cat((past_v, v), 2),
        ),
    ),
    Oracle(
        "attention",
        "packed_heads",
        lambda x, weight, bias: packed(x, weight, bias, 2),
        BLOCKS,
    ),
    Oracle("attention", "self_attention", self_attention, BLOCKS, PROJECTIONS),
    Oracle(
        "attention",
        "causal_self_attention",
        partial(self_attention, is_causal=True),
        BLOCKS,
        PROJECTIONS,
    ),
    Oracle(
        "feed_forward",
        "mlp",
        lambda x, fc1_weight, fc1_bias, fc2_weight, fc2_bias: F.linear(
            F.gelu(F.linear(x, fc1_weight, fc1_bias)), fc2_weight, fc2_bias
        ),
        WIDTHS,
    ),
    Oracle(
        "feed_forward",
        "swiglu",
        lambda x, gate_weight, up_weight, down_weight: F.linear(
            F.silu(F.linear(x, gate_weight)) * F.linear(x, up_weight), down_weight
        ),
        WIDTHS,
    ),
    Oracle(
        "feed_forward",
        "geglu",
        lambda x, gate_weight, up_weight, down_weight: F.linear(
            F.gelu(F.linear(x, gate_weight)) * F.linear(x, up_weight), down_weight
        ),
        WIDTHS,
    ),
    Oracle("loss", "cross_entropy", F.cross_entropy, ROWS, {"target": below("V")}),
    Oracle(
        "loss",
        "smoothed_cross_entropy",
        lambda logits, target, ignore_index, label_smoothing: F.cross_entropy(
            logits,
            target,
            ignore_index=int(ignore_index),
            label_smoothing=float(label_smoothing),
        ),
        ROWS,
        {
            "target": ignoring,
            "ignore_index": number(-100, torch.int64),
            "label_smoothing": number(0.1),
        },
    ),
    Oracle("loss", "mse_loss", F.mse_loss, ROWS),
    Oracle(
        "loss",
        "kl_div",
        lambda x, target: F.kl_div(x, target, reduction="batchmean"),
        ROWS,
        {"target": probabilities},
    ),
    Oracle("block", "pre_norm_block", partial(block, pre_norm=True), BLOCKS, BLOCK_STATE),
    Oracle(
        "block", "causal_block", partial(block, pre_norm=True, is_causal=True), BLOCKS, BLOCK_STATE
    ),
    Oracle("block", "post_norm_block", partial(block, pre_norm=False), BLOCKS, BLOCK_STATE),
)
