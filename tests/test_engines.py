"""Generated programs on the compilers: TorchInductor and XLA beside the reference interpreter."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings

import p0trans
from p0trans.emit.options import Style
from tests.programs import Generated, programs, running_error
from tests.programs.engines import compiled, on_xla
from tests.programs.run import entry

_SAMPLE = 40


@pytest.fixture(scope="module")
def sample() -> list[tuple[Generated, Style]]:
    """Programs, half of them in each style."""
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
    styles: tuple[Style, ...] = get_args(Style)
    return [(example, styles[index % len(styles)]) for index, example in enumerate(drawn)]


def require_equal(sample: list[tuple[Generated, Style]], results: list[Any], engine: str) -> None:
    """Each result is within the error bound that the program's own steps allow."""
    for (example, style), found in zip(sample, results, strict=True):
        program = p0trans.check(example.text).program
        known = running_error.run(
            program,
            entry(program, example.entry),
            example.sizes,
            [running_error.exactly(value) for value in example.inputs],
        )
        running_error.assert_within(found, known, f"{engine}, {style}, of{example!r}")


def test_compiled_whole_equals_interpreter(sample: list[tuple[Generated, Style]]) -> None:
    require_equal(sample, compiled(sample), "TorchInductor")


def test_xla_equals_interpreter(sample: list[tuple[Generated, Style]]) -> None:
    pytest.importorskip("torch_xla", reason="the extra `xla` is not installed")
    require_equal(sample, on_xla(sample), "XLA")
