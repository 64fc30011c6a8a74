"""Load the weights of transformers' Llama into the emitted one, compare, and generate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias

import torch
from torch import Tensor
from transformers import LlamaConfig
from transformers import LlamaForCausalLM as Theirs

from examples.llama.compare import assert_close
from examples.llama.model import Config, Decoder, LlamaForCausalLM

Pair: TypeAlias = tuple[str, Tensor, Tensor]


def both(config: Config) -> tuple[LlamaForCausalLM, Any]:
    """The emitted model and transformers', with the same random weights."""
    options = {"attn_implementation": "eager", "initializer_range": config.hidden_size**-0.5}
    theirs = Theirs(LlamaConfig(**config._asdict(), **options)).eval()
    for name, weight in theirs.named_parameters():
        if "norm" in name:
            # A weight of 1, as norms start with, would hide that it is not used.
            torch.nn.init.normal_(weight, mean=1.0, std=0.1)
    ours = LlamaForCausalLM(config)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def compare_layers(config: Config, batch: int, length: int) -> Iterator[Pair]:
    """The result of one layer, and the gradients of its input and of each weight, where the loss
    is a random weighting of the result, averaged over the tokens."""
    torch.manual_seed(0)
    model, model_of_theirs = both(config)
    ours, theirs = model.model.layers[0], model_of_theirs.model.layers[0]
    x = torch.randn(batch, length, config.hidden_size, requires_grad=True)
    positions = torch.arange(length)
    found, _, _ = ours(x, *model.model.rotary_emb(positions))
    # Without a mask their eager layer is not causal.
    wanted = theirs(
        x,
        attention_mask=torch.full((length, length), -torch.inf).triu(1)[None, None],
        position_embeddings=model_of_theirs.model.rotary_emb(x, positions[None]),
    )
    wanted = wanted[0] if isinstance(wanted, tuple) else wanted
    yield "result", found, wanted
    toward = torch.randn_like(found) / (batch * length)
    weights = dict(ours.named_parameters())
    names = [name for name, _ in theirs.named_parameters()]
    yield from zip(
        ("x.grad", *(f"{name}.grad" for name in names)),
        torch.autograd.grad(found, [x, *(weights[name] for name in names)], toward),
        torch.autograd.grad(wanted, [x, *theirs.parameters()], toward),
        strict=True,
    )


@torch.no_grad()
def compare_models(config: Config, batch: int, length: int, count: int) -> Iterator[Pair]:
    """The logits of a prompt; then `count` tokens and the logits behind each, with the cache and
    without; then the tokens that transformers generates."""
    torch.manual_seed(0)
    ours, theirs = both(config)
    prompt = torch.randint(config.vocab_size, (batch, length))
    yield "logits", ours(prompt), theirs(prompt).logits
    decoder = Decoder(ours)
    tokens = torch.cat([prompt, *islice(decoder.generate(prompt), count)], 1)
    logits, cache = decoder.start(prompt)
    behind = [logits]
    for token in tokens[:, length:].unbind(1):
        logits, cache = decoder.step(token[:, None], cache)
        behind.append(logits)
    yield "logits with the cache", torch.cat(behind, 1), ours(tokens)[:, length - 1 :]
    yield "tokens with the cache", tokens, uncached(ours, prompt, count)
    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    mask = torch.ones_like(prompt)
    found = theirs.generate(prompt, attention_mask=mask, max_new_tokens=count, **options)
    yield "tokens of transformers", tokens, found


def uncached(model: LlamaForCausalLM, prompt: Tensor, count: int) -> Tensor:
    """The prompt and the likeliest `count` tokens behind it, each from a run over all before."""
    tokens = prompt
    for _ in range(count):
        tokens = torch.cat([tokens, model(tokens)[:, -1:].argmax(-1)], 1)
    return tokens


def main() -> None:
    config = Config(
        vocab_size=1000,
        hidden_size=256,
        intermediate_size=688,
        num_hidden_layers=4,
        num_attention_heads=8,
        num_key_value_heads=2,
    )
    print(f"{'':44} largest difference")
    for part, pairs in (
        ("LlamaDecoderLayer", compare_layers(config, 2, 32)),
        ("LlamaForCausalLM", compare_models(config, 2, 16, 16)),
    ):
        print(part)
        for name, found, wanted in pairs:
            print(f"  {name:42} {(found - wanted).abs().max().item():.1e}")
            assert_close(found, wanted)


if __name__ == "__main__":
    main()
