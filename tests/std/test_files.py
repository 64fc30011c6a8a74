"""What every file of the library has: no findings, documentation, standing on its own."""

from __future__ import annotations

import pytest

from p0trans.ir.verify import verify
from tests.std.library import FILES, checked

EACH = pytest.mark.parametrize("file", FILES)


def test_all_files_are_there() -> None:
    assert FILES == [
        "activation",
        "attention",
        "block",
        "embedding",
        "feed_forward",
        "linear",
        "loss",
        "norm",
        "rotary",
        "softmax",
    ]


@EACH
def test_no_findings_at_all(file: str) -> None:
    """Not even a note: a note in the library would be one in every program that imports it."""
    assert checked(file).diagnostics == ()


@EACH
def test_the_program_is_valid(file: str) -> None:
    verify(checked(file).program)


@EACH
def test_everything_is_documented(file: str) -> None:
    unit = checked(file).program.units[-1]
    assert [definition.name for definition in unit.definitions if not definition.doc] == []
    assert [module.name for module in unit.modules if not module.doc] == []


@EACH
def test_every_definition_takes_a_tensor(file: str) -> None:
    """What is made on the way is made on an input's device; without one, on the CPU."""
    assert [d.name for d in checked(file).program.units[-1].definitions if not d.parameters] == []
