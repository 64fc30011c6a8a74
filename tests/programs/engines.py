"""Many programs on a compiler at once: compiling is slow, so that all are one graph."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import torch

from p0trans.emit.options import Style
from p0trans.targets import Target
from tests.programs import Generated
from tests.programs.run import Prepared, arrays, checked_program, module_of, prepared

Pairs: TypeAlias = Sequence[tuple[Generated, Style]]


class All(torch.nn.Module):
    """Several modules, run one after another."""

    def __init__(self, ready: Sequence[Prepared]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(one.instance for one in ready)
        self.keywords = [one.keywords for one in ready]

    def forward(self, inputs: list[tuple[Any, ...]]) -> list[Any]:
        return [
            part(*values, **keywords)
            for part, values, keywords in zip(self.parts, inputs, self.keywords, strict=True)
        ]


def ready(pairs: Pairs, target: Target) -> list[Prepared]:
    return [
        prepared(
            example,
            module_of(checked_program(example.text), example),
            "full",
            style,
            target,
        )
        for example, style in pairs
    ]


def compiled(pairs: Pairs) -> list[Any]:
    """What TorchInductor's code gives, each result as arrays."""
    made = ready(pairs, "compile")
    whole = torch.compile(All(made), fullgraph=True)
    return [arrays(result) for result in whole([one.inputs for one in made])]


def on_xla(pairs: Pairs) -> list[Any]:
    """What torch_xla gives, in a process of its own, each result as arrays."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.xla_process"],
        input=pickle.dumps(pairs),
        capture_output=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return list(pickle.loads(done.stdout))
