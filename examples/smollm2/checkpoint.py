"""A Llama in a GGUF file: its sizes, and its weights in float32 under transformers' names."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gguf
import torch
from torch import Tensor

from examples.llama.model import Config, LlamaForCausalLM


class Checkpoint(NamedTuple):
    """What a file holds; `metadata` is what it says beside its tensors, tokenizer included."""

    config: Config
    weights: Mapping[str, Tensor]
    metadata: Mapping[str, Any]


def packaged(package: str) -> Path | None:
    """The GGUF file in an installed package, which is not imported: it may want llama.cpp."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)


def read(path: Path) -> Checkpoint:
    """Read and dequantize a file. Raises ValueError when it does not hold a plain Llama."""
    reader = gguf.GGUFReader(path)
    metadata = {name: field.contents() for name, field in reader.fields.items()}
    if metadata["general.architecture"] != "llama":
        raise ValueError(f"{path}: expected a llama, got {metadata['general.architecture']}")
    held = {
        tensor.name: torch.tensor(gguf.quants.dequantize(tensor.data, tensor.tensor_type))
        for tensor in reader.tensors
    }
    vocab_size, hidden_size = held["token_embd.weight"].shape
    config = Config(
        vocab_size=vocab_size,
        hidden_size=hidden_size,
        intermediate_size=metadata["llama.feed_forward_length"],
        num_hidden_layers=metadata["llama.block_count"],
        num_attention_heads=metadata["llama.attention.head_count"],
        num_key_value_heads=metadata["llama.attention.head_count_kv"],
        rope_theta=metadata["llama.rope.freq_base"],
        rms_norm_eps=metadata["llama.attention.layer_norm_rms_epsilon"],
        tie_word_embeddings="output.weight" not in held,
    )
    weights = _renamed(held, config)
    for name, weight in weights.items():
        if name.endswith(("q_proj.weight", "k_proj.weight")):
            weights[name] = _half_split(weight, config.head_dim)
    return Checkpoint(config, weights, metadata)


def _renamed(held: Mapping[str, Tensor], config: Config) -> dict[str, Tensor]:
    """The tensors of a file under the keys of the model's state."""
    with torch.device("meta"):
        keys = list(LlamaForCausalLM(config).state_dict())
    known = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    names = {key: known.get_name(key, (".weight",)) or key for key in keys}
    if config.tie_word_embeddings:
        names["lm_head.weight"] = "token_embd.weight"
    if held.keys() != set(names.values()):
        differing = ", ".join(sorted(held.keys() ^ set(names.values())))
        raise ValueError(f"not the tensors of a plain Llama: {differing}")
    return {key: held[name] for key, name in names.items()}


def _half_split(weight: Tensor, head_dim: int) -> Tensor:
    """The rows of each head in the order 0, 2, 4 …, 1, 3, 5 …: llama.cpp rotates neighbours as a
    pair, transformers a row with that half a head further."""
    heads = weight.reshape(-1, head_dim // 2, 2, weight.shape[1])
    return heads.transpose(1, 2).reshape(weight.shape)


def build(checkpoint: Checkpoint) -> LlamaForCausalLM:
    """The emitted model with the weights of the file, which are not copied."""
    with torch.device("meta"):
        model = LlamaForCausalLM(checkpoint.config)
    model.load_state_dict(checkpoint.weights, assign=True)
    model.tie_weights()
    return model.eval()
