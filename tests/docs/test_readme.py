"""The README: its program becomes what it shows, and its commands run as they stand."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import on_path
from tests.docs.console import CONSOLE
from tests.docs.pages import DOCS

ROOT = DOCS.parent
README = (ROOT / "README.md").read_text("utf-8")
(PROGRAM,) = re.findall(r"^```\n(/// .*?)^```$", README, re.MULTILINE | re.DOTALL)
BLOCKS = [
    [line.removeprefix("$ ") for line in text.splitlines()] for text in CONSOLE.findall(README)
]
NOT_RUN = {
    "pip install": "this environment has it",
    "make ": "runs all tests",
    "--to tpu": "needs jax and libtpu, which share no environment with torch_xla",
    "--on eager,compile,xla": "takes half a minute; the engines have tests of their own",
}
RUN = [[line for line in block if not any(part in line for part in NOT_RUN)] for block in BLOCKS]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a shell")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The README's program as `rmsnorm.p0`, and what else its commands name."""
    (tmp_path / "rmsnorm.p0").write_text(PROGRAM)
    casebook = ROOT / "examples" / "casebook"
    shutil.copytree(casebook, tmp_path / "examples" / "casebook")
    shutil.copy(casebook / "rmsnorm.p0", tmp_path / "norm.p0")
    shutil.copy(casebook / "block.p0", tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_are_found() -> None:
    assert sum(map(len, RUN)) > 25
    assert all(any(part in line for block in BLOCKS for line in block) for part in NOT_RUN)


def test_commands_run(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The lines of a block one after the other, each block from the same folder."""
    identity = {"NAME": "A", "EMAIL": "a@example.org"}
    environment = {
        **os.environ,
        "PATH": on_path(tmp_path_factory.mktemp("bin")),
        **{f"GIT_{who}_{k}": v for who in ("AUTHOR", "COMMITTER") for k, v in identity.items()},
    }
    for block in RUN:
        script = "\n".join(("set -ex", *block))
        done = subprocess.run(
            ["sh", "-c", script], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert {path.name for path in folder.iterdir()} > {"rmsnorm.py", "rmsnorm.pt2", "rmsnorm.mlir"}


def test_python_runs(folder: Path) -> None:
    (block,) = re.findall(r"^```python\n(import .*?)^```$", README, re.MULTILINE | re.DOTALL)
    exec(compile(block, "README.md", "exec"), {})


def test_the_emitted_code_is_what_the_program_gives(folder: Path) -> None:
    import p0trans

    (shown,) = re.findall(r"^```python\n(class .*?)^```$", README, re.MULTILINE | re.DOTALL)
    emitted = p0trans.translate("rmsnorm.p0")
    for line in shown.splitlines():
        assert line in emitted or line.strip().startswith("...  # "), line
