"""Running the command line, in this process and in one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from click.testing import CliRunner, Result

from p0trans.cli import cli

GOOD = """/// Twice the input.
let twice [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  x + x
"""
BAD = GOOD.replace("x + x", "x + scale")
FIXABLE = """let add [B, D] (x : Tensor[F32, [B, D]]) (y : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  x + y
"""
FIXED = FIXABLE.replace("x + y", "x + broadcast y [B, D]")


def invoke(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(cli, arguments, input=stdin)


def heed_interruptions() -> None:
    """For a process that starts: those in the background of a shell begin with SIGINT ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(
    arguments: Sequence[str],
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "p0trans", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **(environment or {})},
        check=False,
    )


def on_path(folder: Path) -> str:
    """A PATH on which `p0trans` is the code under test, as a script in `folder`."""
    script = folder / "p0trans"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m p0trans "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"
