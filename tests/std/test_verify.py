"""`p0trans verify` finds nothing in the library: emitted code beside the reference interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import get_args

import pytest

from p0trans.emit.options import Options, Style
from p0trans.files import read_source
from p0trans.source import Source
from p0trans.tools import verify as tool
from p0trans.tools.verify import FAILURES, Plan, Request, Verdict
from p0trans.tools.verify_table import render
from tests.std.library import FILES, STD, STYLE


@pytest.mark.parametrize("style", get_args(Style))
@pytest.mark.parametrize("file", FILES)
def test_eager(file: str, style: Style) -> None:
    source = read_source(STD / f"{file}.p0")
    assert isinstance(source, Source)
    plan = tool.plan(source, Request(gradients=True, runs=2, emit=Options(style=style)))
    assert isinstance(plan, Plan)
    rows = [row for part in tool.verify(plan) for row in part]
    assert not FAILURES & {row.verdict for row in rows}, render(rows)
    assert Verdict.OK in {row.verdict for row in rows}


def test_xla() -> None:
    """In a process of its own, since XLA is started once in each."""
    files = [str(STD / f"{file}.p0") for file in FILES]
    options = ["--on", "xla", "--grad", "--runs", "1", "--style", STYLE]
    run = subprocess.run(
        [sys.executable, "-m", "p0trans", "verify", *files, *options],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "PJRT_DEVICE"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
