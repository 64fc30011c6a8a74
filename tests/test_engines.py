"""Generated programs on the compilers: TorchInductor and XLA beside the reference interpreter.

Compiling is slow, so that all programs of the sample are compiled as one graph.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings

import p0trans
from tests.programs import Generated, programs, running_error
from tests.programs.run import Prepared, arrays, entry, module_of, prepared

_SAMPLE = 40


@pytest.fixture(scope="module")
def sample() -> list[Generated]:
    """The same programs in each run."""
    drawn: list[Generated] = []

    @given(programs())
    @settings(
        max_examples=_SAMPLE,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def draw(example: Generated) -> None:
        drawn.append(example)

    draw()
    assert len(drawn) >= _SAMPLE // 2
    return drawn


def require_equal(sample: list[Generated], results: list[Any], engine: str) -> None:
    """Each result is within the error bound that the program's own steps allow."""
    for example, found in zip(sample, results, strict=True):
        program = p0trans.check(example.text).program
        known = running_error.run(
            program,
            entry(program, example.entry),
            example.sizes,
            [running_error.exactly(value) for value in example.inputs],
        )
        running_error.assert_within(found, known, f"{engine}, of{example!r}")


class _All(torch.nn.Module):
    """All modules of the sample, run one after another."""

    def __init__(self, ready: list[Prepared]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(one.instance for one in ready)
        self.keywords = [one.keywords for one in ready]

    def forward(self, inputs: list[tuple[Any, ...]]) -> list[Any]:
        return [
            part(*values, **keywords)
            for part, values, keywords in zip(self.parts, inputs, self.keywords, strict=True)
        ]


def test_compiled_whole_equals_interpreter(sample: list[Generated]) -> None:
    ready = [
        prepared(example, module_of(p0trans.check(example.text).program, example), "full")
        for example in sample
    ]
    compiled = torch.compile(_All(ready), fullgraph=True)
    results = compiled([one.inputs for one in ready])
    require_equal(sample, [arrays(result) for result in results], "TorchInductor")


def test_xla_equals_interpreter(sample: list[Generated]) -> None:
    pytest.importorskip("torch_xla", reason="the extra `xla` is not installed")
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.xla_process"],
        input=pickle.dumps(sample),
        capture_output=True,
        cwd=Path(__file__).parent.parent,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    require_equal(sample, pickle.loads(done.stdout), "XLA")
