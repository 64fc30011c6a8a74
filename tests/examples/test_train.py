"""examples/train: a model written in Phase 0 learns, and learns the same on every engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

import p0trans
from p0trans.dtypes import DTYPES

pytest.importorskip("matplotlib", reason="the example draws its curves")

from examples.train import run


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """One thread, as the script has; the next test has its own again."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def test_engines_agree_and_the_picture_is_drawn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch_xla", reason="one of the engines")
    picture = tmp_path / "curves.png"
    run.main(["--steps", "3", "--output", str(picture)])
    out = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in out[1:4]] == list(run.ENGINES)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_engine_that_goes_astray_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def apart(engine: str, steps: int) -> run.Curve:
        curve = run.train("eager", steps)[1]
        return curve if engine == "compile" else curve._replace(losses=curve.losses[::-1])

    monkeypatch.setattr(run, "train_apart", apart)
    with pytest.raises(SystemExit, match=r"eager PyTorch: xla$"):
        run.main(["--steps", "2", "--output", str(tmp_path / "curves.png")])


def test_tolerances() -> None:
    reference = [4.0, 3.0, 2.0, 1.0]
    assert run.agree(reference, reference)
    for step, scale in ((0, 1.0), (3, 2.0)):
        for times, wanted in ((0.9, True), (1.1, False)):
            losses = list(reference)
            losses[step] *= 1 + times * scale * DTYPES["F32"].rtol
            assert run.agree(losses, reference) == wanted
    assert not run.agree([math.nan, *reference[1:]], reference)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [("--steps", "0"), ("--steps", "many"), ("--output", "no/such.png"), ("--output", "loss.p0")],
)
def test_wrong_options(option: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        run.main([option, wrong])
    assert stopped.value.code == 2
    assert f"got '{wrong}'" in capsys.readouterr().err


def test_targets_are_the_characters_that_come_next() -> None:
    _, text = run.corpus()
    found = list(run.batches(text, 2))
    for ids, target in found:
        assert ids.shape == target.shape == (run.TEXTS, run.LENGTH)
        assert torch.equal(ids[:, 1:], target[:, :-1])
    assert not torch.equal(found[0][0], found[1][0])


def test_the_model_equals_torchs_layers_in_value_and_gradient() -> None:
    torch.manual_seed(0)
    pieces = p0trans.load(run.SOURCE)
    model = pieces.CharModel(V=11, P=6, D=8, H=2, D_ff=12)
    for weight in model.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    state = {name: value.detach().clone() for name, value in model.state_dict().items()}
    layers = [
        torch.nn.TransformerEncoderLayer(
            8, 2, 12, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        for _ in range(2)
    ]
    for layer, block in zip(layers, (model.block_a, model.block_b), strict=True):
        layer.load_state_dict(block.state_dict())
    table = state["char_weight"].requires_grad_()
    ids, target = torch.randint(11, (2, 3, 5))
    x = table[ids] + state["position_weight"][:5]
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    for layer in layers:
        x = layer(x, src_mask=mask, is_causal=True)
    x = torch.nn.functional.layer_norm(x, (8,), state["norm.weight"], state["norm.bias"])
    wanted = cross_entropy((x @ table.T).flatten(0, 1), target.flatten())
    found = pieces.CharLoss()(model(ids), target)
    f32 = DTYPES["F32"]
    torch.testing.assert_close(found, wanted, rtol=f32.rtol, atol=f32.atol)
    # Both uses of the tied weight have their part in its gradient.
    gradients = (
        torch.autograd.grad(loss, weights)
        for loss, weights in (
            (found, [model.char_weight, *model.block_a.parameters()]),
            (wanted, [table, *layers[0].parameters()]),
        )
    )
    torch.testing.assert_close(*gradients, rtol=f32.rtol, atol=f32.atol)


def test_the_model_learns_and_writes() -> None:
    model, curve = run.train("eager", 20)
    characters, _ = run.corpus()
    assert curve.losses[0] == pytest.approx(math.log(len(characters)), abs=0.5)
    assert curve.losses[-1] < curve.losses[0] - 1
    text = run.written(model, 80)
    assert text.startswith(run.PROMPT)
    assert len(text) == len(run.PROMPT) + 80
    assert text == run.written(model, 80)
