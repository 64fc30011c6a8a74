"""Text to token ids and back, as the metadata of a GGUF file say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gguf
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers


def tokenizer(metadata: Mapping[str, Any]) -> Tokenizer:
    """Byte-pair encoding as of GPT-2, with every digit on its own.

    Raises ValueError when the file asks for another.
    """
    said = {name: metadata[f"tokenizer.ggml.{name}"] for name in ("model", "pre")}
    if said != {"model": "gpt2", "pre": "smollm"}:
        raise ValueError(f"expected the tokenizer of SmolLM, got {said}")
    tokens = metadata["tokenizer.ggml.tokens"]
    merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
    made = Tokenizer(
        models.BPE(vocab={token: number for number, token in enumerate(tokens)}, merges=merges)
    )
    digits = pre_tokenizers.Digits(individual_digits=True)
    words = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.pre_tokenizer = pre_tokenizers.Sequence([digits, words])
    made.decoder = decoders.ByteLevel()
    types = metadata["tokenizer.ggml.token_type"]
    made.add_special_tokens(
        [
            AddedToken(token, normalized=False, special=True)
            for token, type_ in zip(tokens, types, strict=True)
            if type_ == gguf.TokenType.CONTROL
        ]
    )
    return made


def chat(metadata: Mapping[str, Any], question: str) -> str:
    """What the file's template makes of a user's question, up to where the answer begins."""
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(metadata["tokenizer.chat_template"])
    messages = [{"role": "user", "content": question}]
    return template.render(messages=messages, add_generation_prompt=True)
