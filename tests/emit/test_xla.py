"""Target xla: the emitted hooks through torch_xla's own compiler, on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from p0trans.dtypes import DTYPES
from tests.emit.accepted import PATHS

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def results() -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "tests.emit.xla_process"],
        cwd=ROOT,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", PATHS)
def test_values_equal_those_of_eager(name: str, results: Any) -> None:
    dtype = DTYPES["BF16" if name == "mixed_precision_norm" else "F32"]
    assert max(results["runs"][name]["errors"]) <= dtype.rtol


@pytest.mark.parametrize("name", PATHS)
def test_other_values_compile_nothing(name: str, results: Any) -> None:
    first, *later = results["runs"][name]["compilations"]
    assert first > 0
    assert later == [first] * len(later)


def test_the_module_is_moved_and_trains(results: Any) -> None:
    settings = results["settings"]
    assert settings["device"] == "xla"
    assert settings["gradient"] == pytest.approx(settings["expected"])


def test_the_precision_of_products_is_set(results: Any) -> None:
    assert results["settings"]["precisions"] == ["highest", "high"]
