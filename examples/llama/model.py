"""Llama from the emitted layers: what a language without repetition leaves to Python.

The modules have the names and the `state_dict` keys of transformers' `LlamaForCausalLM`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

import p0trans

SOURCE = Path(__file__).with_name("llama.p0")
layers: Any = p0trans.load(SOURCE)

Cache: TypeAlias = Sequence[tuple[Tensor, Tensor]]


class Config(NamedTuple):
    """The sizes of a model, under the names of transformers' `LlamaConfig`."""

    vocab_size: int
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    rope_theta: float = 10000.0
    rms_norm_eps: float = 1e-6
    tie_word_embeddings: bool = False

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads

    @property
    def layer(self) -> dict[str, Any]:
        """The arguments of a decoder layer's constructor."""
        return {
            "D": self.hidden_size,
            "D_ff": self.intermediate_size,
            "D_q": self.num_attention_heads * self.head_dim,
            "D_kv": self.num_key_value_heads * self.head_dim,
            "eps": self.rms_norm_eps,
        }


class LlamaModel(nn.Module):
    """All but the head: token ids [B, S] to vectors [B, S, D], and each layer's keys and values."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        width = config.hidden_size
        self.embed_tokens = layers.LlamaEmbedding(config.vocab_size, width)
        self.layers = nn.ModuleList(
            layers.LlamaDecoderLayer(**config.layer) for _ in range(config.num_hidden_layers)
        )
        self.norm = layers.LlamaRMSNorm(width, eps=config.rms_norm_eps)
        self.rotary_emb = layers.LlamaRotaryEmbedding(config.head_dim // 2, base=config.rope_theta)

    def forward(self, ids: Tensor) -> tuple[Tensor, Cache]:
        cos, sin = self.rotary_emb(torch.arange(ids.shape[1], device=ids.device))
        x = self.embed_tokens(ids)
        cache = []
        for layer in self.layers:
            x, k, v = layer(x, cos, sin)
            cache.append((k, v))
        return self.norm(x), cache


class LlamaForCausalLM(nn.Module):
    """Token ids [B, S] to the logits [B, S, V] of the token behind each."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.model = LlamaModel(config)
        self.lm_head = layers.LlamaHead(config.hidden_size, config.vocab_size)
        self.tie_weights()

    def tie_weights(self) -> None:
        """Give a tied head the parameter of the embedding, also after an `assign` of a state."""
        if self.config.tie_word_embeddings:
            self.lm_head.weight = self.model.embed_tokens.weight

    def forward(self, ids: Tensor) -> Tensor:
        x, _ = self.model(ids)
        logits: Tensor = self.lm_head(x)
        return logits


class Decoder:
    """A model one token at a time, with a cache of keys and values.

    A step is a layer of its own in Phase 0, since its shapes are others. It is given the very
    parameters of the model's layer.
    """

    def __init__(self, model: LlamaForCausalLM) -> None:
        self.model = model
        self.steps = [_step(layer, model.config) for layer in model.model.layers]

    def start(self, prompt: Tensor) -> tuple[Tensor, Cache]:
        """The logits [B, 1, V] behind a prompt [B, S], and the cache of its tokens."""
        x, cache = self.model.model(prompt)
        return self.model.lm_head(x[:, -1:]), cache

    def step(self, ids: Tensor, cache: Cache) -> tuple[Tensor, Cache]:
        """The logits [B, 1, V] behind one more token [B, 1], and the cache with it."""
        model = self.model.model
        position = cache[0][0].shape[2]
        cos, sin = model.rotary_emb(torch.tensor([position], device=ids.device))
        x = model.embed_tokens(ids)
        grown = []
        for step, past in zip(self.steps, cache, strict=True):
            x, k, v = step(x, cos, sin, *past)
            grown.append((k, v))
        return self.model.lm_head(model.norm(x)), grown

    @torch.no_grad()
    def generate(self, prompt: Tensor) -> Iterator[Tensor]:
        """The likeliest tokens [B, 1] behind a prompt [B, S], without end."""
        logits, cache = self.start(prompt)
        while True:
            ids = logits.argmax(-1)
            yield ids
            logits, cache = self.step(ids, cache)


def _step(layer: nn.Module, config: Config) -> nn.Module:
    # "meta" has no memory: every tensor is replaced by one of the layer's.
    step: nn.Module = layers.LlamaDecoderLayerStep(**config.layer, device="meta")
    step.load_state_dict(layer.state_dict(keep_vars=True), assign=True)
    return step
