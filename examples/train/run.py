"""Train a character model written in Phase 0 on Python's own help texts, on three engines.

Eager PyTorch, TorchInductor and XLA start from the same weights, see the same batches and have to
arrive at the same losses. The curves are saved as a picture.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pydoc_data.topics import topics
from typing import NamedTuple

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

import p0trans
from p0trans.dtypes import DTYPES
from p0trans.targets import Target

SOURCE = Path(__file__).parent / "char_model.p0"
ENGINES: Mapping[str, Target] = {"eager": "torch", "compile": "compile", "xla": "xla"}
TEXTS, LENGTH = 32, 64
PROMPT = "The "


class Curve(NamedTuple):
    """Of each step the loss before it, in nats per character, and the time it took, in seconds."""

    losses: list[float]
    seconds: list[float]


def corpus() -> tuple[str, Tensor]:
    """The characters that occur in the help texts of Python, and these texts as their numbers."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    characters = "".join(sorted(set(text)))
    return characters, encoded(characters, text)


def encoded(characters: str, text: str) -> Tensor:
    return torch.tensor([characters.index(character) for character in text])


def batches(text: Tensor, steps: int) -> Iterator[tuple[Tensor, Tensor]]:
    """Passages [B, S] from random places, and the same one character later."""
    generator = torch.Generator().manual_seed(1)
    for _ in range(steps):
        starts = torch.randint(len(text) - LENGTH, (TEXTS, 1), generator=generator)
        places = starts + torch.arange(LENGTH)
        yield text[places], text[places + 1]


def train(engine: str, steps: int) -> tuple[nn.Module, Curve]:
    """Train a new model; the weights that it starts from are the same for every engine."""
    characters, text = corpus()
    pieces = p0trans.load(SOURCE, target=ENGINES[engine])
    torch.manual_seed(0)
    model = pieces.CharModel(V=len(characters), P=LENGTH, D=96, H=4, D_ff=384)
    predict: Callable[[Tensor], Tensor] = model
    measure: Callable[[Tensor, Tensor], Tensor] = pieces.CharLoss()
    if engine != "eager":
        predict = pieces.compile_char_model(model)
        measure = pieces.compile_char_loss(measure)
    # XLA notes what is to be done, and does it when a step is complete.
    complete = import_module("torch_xla").sync if engine == "xla" else None
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    curve = Curve([], [])
    for ids, target in batches(text, steps):
        started = time.perf_counter()
        optimizer.zero_grad()
        loss = measure(predict(ids), target)
        torch.autograd.backward(loss)
        optimizer.step()
        if complete is not None:
            complete()
        curve.losses.append(loss.item())
        curve.seconds.append(time.perf_counter() - started)
    return model, curve


def train_apart(engine: str, steps: int) -> Curve:
    """`train` in a process of its own, since torch_xla takes over the one that imports it."""
    command = [sys.executable, __file__, "--engine", engine, "--steps", str(steps)]
    environment = {"PJRT_DEVICE": "CPU", **os.environ}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"training on {engine} failed:\n{done.stderr}")
    return Curve(*json.loads(done.stdout.splitlines()[-1]))


def differences(losses: Sequence[float], reference: Sequence[float]) -> list[float]:
    """How far the losses of each step are apart, relative to the reference."""
    return [abs(one / other - 1) for one, other in zip(losses, reference, strict=True)]


def tolerance(step: int) -> float:
    """How far two engines may be apart at a step, counted from 0.

    One step in F32 agrees to F32's tolerance. A later one starts from weights that differ by the
    roundings of all before, which add up like the steps of a random walk.
    """
    return DTYPES["F32"].rtol * math.sqrt(step + 1)


def agree(losses: Sequence[float], reference: Sequence[float]) -> bool:
    """Whether two engines have trained the same model; NaN agrees with nothing."""
    found = differences(losses, reference)
    return all(apart <= tolerance(step) for step, apart in enumerate(found))


@torch.no_grad()
def written(model: nn.Module, length: int) -> str:
    """PROMPT and what the model draws behind it, one of `length` characters after the other."""
    characters, _ = corpus()
    generator = torch.Generator().manual_seed(0)
    ids = encoded(characters, PROMPT)
    for _ in range(length):
        logits = model(ids[None, -LENGTH:])[0, -1]
        drawn = torch.multinomial(torch.softmax(logits, dim=0), 1, generator=generator)
        ids = torch.cat([ids, drawn])
    return "".join(characters[number] for number in ids)


def draw(curves: Mapping[str, Curve], path: Path) -> None:
    """The losses, and below how far those of each engine are from the first one's."""
    figure = Figure(figsize=(7, 5), layout="constrained")
    above, below = figure.subplots(2, sharex=True, height_ratios=(3, 2))
    (first, reference), *_ = curves.items()
    for place, (engine, curve) in enumerate(curves.items()):
        # The curves lie on each other: the later ones are thinner.
        above.plot(curve.losses, label=engine, linewidth=5 / 2**place)
        if engine != first:
            apart = differences(curve.losses, reference.losses)
            below.semilogy(apart, color=f"C{place}", label=engine)
    allowed = [tolerance(step) for step in range(len(reference.losses))]
    below.semilogy(allowed, "k--", label="tolerance")
    above.set(ylabel="loss in nats per character")
    below.set(xlabel="step", ylabel=f"relative to {first}")
    above.legend()
    below.legend(loc="lower right")
    figure.savefig(path)


def report(engine: str, curve: Curve, reference: Curve) -> None:
    last = curve.losses[-50:]
    print(
        f"{engine:8}{curve.losses[0]:11.3f}{sum(last) / len(last):11.3f}"
        f"{max(differences(curve.losses, reference.losses)):12.0e}"
        f"{curve.seconds[0]:11.1f} s{1000 * statistics.median(curve.seconds):10.0f} ms",
        flush=True,
    )


def step_count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def picture(text: str) -> Path:
    path = Path(text)
    known = Figure().canvas.get_supported_filetypes()
    if not path.parent.is_dir() or path.suffix[1:] not in known:
        endings = ", ".join(sorted(known))
        raise argparse.ArgumentTypeError(f"expected a file in a folder, of {endings}; got {text!r}")
    return path


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Train a character model on three engines.")
    parser.add_argument("--steps", type=step_count, default=500)
    parser.add_argument("--output", type=picture, help="where to draw the losses")
    parser.add_argument("--engine", choices=ENGINES, help="this one alone; losses as JSON")
    given = parser.parse_args(arguments)
    # The matrices are small: threads would wait for each other more than they work.
    torch.set_num_threads(1)
    if given.engine:
        _, curve = train(given.engine, given.steps)
        print(json.dumps(curve))
        return
    print("engine   first loss  last losses  difference  first step     each step")
    model, reference = train("eager", given.steps)
    report("eager", reference, reference)
    curves = {"eager": reference}
    for engine in ("compile", "xla"):
        curves[engine] = train_apart(engine, given.steps)
        report(engine, curves[engine], reference)
    if given.output is not None:
        draw(curves, given.output)
        print(f"\nThe curves are in {given.output}.")
    print(f"\nThe model writes:\n\n{written(model, 400)}")
    wrong = [name for name, curve in curves.items() if not agree(curve.losses, reference.losses)]
    if wrong:
        raise SystemExit(f"not the losses of eager PyTorch: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
