"""The code of transformers for Llama as modules that take the inputs of the programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

_MODELING = "transformers.models.llama.modeling_llama"


class Peer(NamedTuple):
    """A module, and what turns the inputs of the program into its own, before it is measured."""

    module: nn.Module
    adapt: Callable[[tuple[Tensor, ...]], tuple[Tensor, ...]] = tuple


def rmsnorm(sizes: Mapping[str, int]) -> Peer:
    return Peer(_modeling().LlamaRMSNorm(sizes["D"], eps=1e-6))


def swiglu(sizes: Mapping[str, int]) -> Peer:
    return Peer(_modeling().LlamaMLP(_config(hidden_size=sizes["D"], **_hidden(sizes))))


def attention(sizes: Mapping[str, int], scaling: float, *, causal: bool) -> Peer:
    return Peer(_Attention(_attention_function("sdpa"), sizes, scaling, causal, None))


def eager_attention(sizes: Mapping[str, int], scaling: float, *, causal: bool) -> Peer:
    """Attention step by step, which a model has with `attn_implementation="eager"`."""
    mask = _causal_mask(sizes["S"]) if causal else None
    return Peer(_Attention(_attention_function("eager"), sizes, scaling, causal, mask))


def block(sizes: Mapping[str, int]) -> Peer:
    return Peer(_Block(_block_config(sizes, "sdpa"), None), _whole_tables)


def eager_block(sizes: Mapping[str, int]) -> Peer:
    """The block with attention step by step."""
    mask = _causal_mask(sizes["S"])
    return Peer(_Block(_block_config(sizes, "eager"), mask), _whole_tables)


def _block_config(sizes: Mapping[str, int], implementation: str) -> Any:
    head_dim = 2 * sizes["K"]
    return _config(
        hidden_size=sizes["D"],
        num_attention_heads=sizes["H"],
        num_key_value_heads=sizes["D_kv"] // head_dim,
        head_dim=head_dim,
        rms_norm_eps=1e-6,
        attn_implementation=implementation,
        **_hidden(sizes),
    )


def _attention_function(implementation: str) -> Callable[..., Any]:
    modeling = _modeling()
    if implementation == "eager":
        function: Callable[..., Any] = modeling.eager_attention_forward
    else:
        function = modeling.ALL_ATTENTION_FUNCTIONS[implementation]
    return function


def cross_entropy(sizes: Mapping[str, int]) -> Peer:
    return Peer(_CausalLMLoss(sizes["V"]))


class _Attention(nn.Module):
    """What LlamaAttention calls between its projections. It gives [B, S, H, K], whose axes are
    put back by a view. LlamaModel makes the `mask` of all layers once, where there is one."""

    mask: Tensor | None

    def __init__(
        self,
        attend: Callable[..., Any],
        sizes: Mapping[str, int],
        scaling: float,
        causal: bool,
        mask: Tensor | None,
    ) -> None:
        super().__init__()
        self.num_key_value_groups = sizes["H"] // sizes.get("G", sizes["H"])
        self.scaling = scaling
        self.is_causal = causal
        self.attend = attend
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        mixed: Tensor = self.attend(self, q, k, v, self.mask, scaling=self.scaling)[0]
        return mixed.transpose(1, 2)


class _Block(nn.Module):
    """LlamaDecoderLayer, causal and without a cache, with the `mask` of LlamaModel."""

    mask: Tensor | None

    def __init__(self, config: Any, mask: Tensor | None) -> None:
        super().__init__()
        self.layer = _modeling().LlamaDecoderLayer(config, layer_idx=0)
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
        out: Tensor = self.layer(x, position_embeddings=(cos, sin), attention_mask=self.mask)
        return out


def _causal_mask(length: int) -> Tensor:
    """[1, 1, S, S] to be added to the scores."""
    return torch.full((1, 1, length, length), -torch.inf).triu(1)


class _CausalLMLoss(nn.Module):
    """The loss of LlamaForCausalLM for targets that are shifted already."""

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.classes = classes
        self.loss = import_module("transformers.loss.loss_utils").ForCausalLMLoss

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        loss: Tensor = self.loss(logits, None, self.classes, shift_labels=target)
        return loss


def _whole_tables(inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Rotary tables of [1, S, 2 * K] for those of [S, K]."""
    x, *tables = inputs
    return (x, *(torch.cat((table, table), dim=-1)[None] for table in tables))


def _hidden(sizes: Mapping[str, int]) -> dict[str, int]:
    return {"intermediate_size": sizes["D_ff"]}


def _config(**words: Any) -> Any:
    return import_module("transformers").LlamaConfig(**words)


def _modeling() -> Any:
    return import_module(_MODELING)
