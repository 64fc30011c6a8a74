"""Every command's help is complete, and every example in it that can be run here runs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from p0trans.cli import COMMANDS
from tests.cli.support import invoke, on_path

CASEBOOK = Path(__file__).parents[2] / "examples" / "casebook"
NOT_RUN = {
    "--to tpu": "needs jax and libtpu, which share no environment with torch_xla",
    "--watch": "ends when it is interrupted",
    "p0trans lsp": "waits for an editor",
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the examples are for a shell")


def examples() -> Iterator[str]:
    for words in ((), *((name,) for name in COMMANDS)):
        text = invoke(*words, "--help").stdout
        section = re.search(r"^ *Examples?:\n((?: +\S.*\n)+)", text, re.MULTILINE)
        assert section is not None, words
        yield from (line.strip() for line in section[1].splitlines())


EXAMPLES = list(dict.fromkeys(examples()))
RUN = [
    line
    for line in EXAMPLES
    if line.startswith("p0trans ") and not any(part in line for part in NOT_RUN)
]
"""Those that begin with another command may reach for the network, or change this environment."""


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_what_it_does_how_it_ends_and_what_every_option_is(name: str) -> None:
    text = invoke(name, "--help").stdout
    assert re.search(rf"^ +p0trans {name}\b", text, re.MULTILINE)
    assert "Exit status: 0" in text
    options = text[text.index("\nOptions:\n") :]
    for option in re.findall(r"^  (-\S+.*)$", options, re.MULTILINE):
        described = re.split(r"\s{2,}", option, maxsplit=1)
        following = options.split(option, 1)[1].splitlines()[1:2]
        assert len(described) == 2 or following[0].startswith(" " * 10), option


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that the examples name."""
    (tmp_path / "models").mkdir()
    (tmp_path / "model").mkdir()
    copies = ("rmsnorm.p0", "block.p0", "model/rmsnorm.p0", "model/block.p0")
    for name in copies:
        shutil.copy(CASEBOOK / Path(name).name, tmp_path / name)
    shutil.copy(CASEBOOK / "attention.p0", tmp_path / "model.p0")
    invoke("build", "--source-map", str(tmp_path / "rmsnorm.p0"))
    return tmp_path


@pytest.mark.parametrize("line", RUN)
def test_example_runs(line: str, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    environment = {**os.environ, "PATH": on_path(tmp_path_factory.mktemp("bin"))}
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
