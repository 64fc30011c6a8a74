"""examples/llama: the emitted Llama takes transformers' weights and computes the same."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers", reason="the example compares with transformers")

from examples.llama.compare import assert_close
from examples.llama.model import Config, Decoder, LlamaForCausalLM
from examples.llama.run import both, compare_layers, compare_models, main

CONFIG = Config(
    vocab_size=50,
    hidden_size=48,
    intermediate_size=40,
    num_hidden_layers=3,
    num_attention_heads=6,
    num_key_value_heads=2,
)
HEADS = pytest.mark.parametrize("kv_heads", [1, 2, 6])


@HEADS
@pytest.mark.parametrize("length", [1, 7])
def test_a_layer_equals_transformers_in_value_and_gradient(kv_heads: int, length: int) -> None:
    config = CONFIG._replace(num_key_value_heads=kv_heads, rms_norm_eps=1e-3, rope_theta=100.0)
    pairs = list(compare_layers(config, 2, length))
    assert len(pairs) == 11
    for _, found, wanted in pairs:
        assert_close(found, wanted)


@HEADS
def test_a_model_equals_transformers_with_the_cache_and_without(kv_heads: int) -> None:
    config = CONFIG._replace(num_key_value_heads=kv_heads)
    for _, found, wanted in compare_models(config, 2, 5, 6):
        assert_close(found, wanted)


def test_keys_and_layouts_are_those_of_transformers() -> None:
    ours, theirs = both(CONFIG)
    assert _shapes(ours.state_dict()) == _shapes(theirs.state_dict())
    assert _shapes(ours.model.layers[1].state_dict()) == _shapes(
        theirs.model.layers[1].state_dict()
    )


def _shapes(state: dict[str, Tensor]) -> list[tuple[str, torch.Size]]:
    return [(name, value.shape) for name, value in state.items()]


def test_a_tied_head_is_one_parameter() -> None:
    ours, theirs = both(CONFIG._replace(tie_word_embeddings=True))
    assert len(list(ours.parameters())) == len(list(theirs.parameters()))
    ids = torch.arange(6)[None]
    assert_close(ours(ids), theirs(ids).logits)
    twin = copy.deepcopy(ours)
    assert twin.lm_head.weight is twin.model.embed_tokens.weight
    ours.lm_head.weight.data.zero_()
    assert not ours(ids).any()


def test_the_cached_steps_have_the_layers_own_parameters() -> None:
    model = LlamaForCausalLM(CONFIG)
    decoder = Decoder(model)
    for layer, step in zip(model.model.layers, decoder.steps, strict=True):
        ours, theirs = dict(layer.named_parameters()), dict(step.named_parameters())
        assert ours.keys() == theirs.keys()
        assert all(ours[name] is theirs[name] for name in ours)
    prompt = torch.tensor([[1, 2, 3]])
    _, cache = decoder.start(prompt)
    before, _ = decoder.step(prompt[:, :1], cache)
    with torch.no_grad():
        model.get_parameter("model.layers.0.mlp.down_proj.weight").neg_()
    after, _ = decoder.step(prompt[:, :1], cache)
    assert not torch.allclose(before, after)


def test_the_script_prints_every_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "LlamaDecoderLayer",
        "LlamaForCausalLM",
    ]
    assert len(lines) == 1 + 1 + 11 + 1 + 4
