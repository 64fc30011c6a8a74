"""Pages whose commands are run again.

A block ```console holds commands and what they print: after `$ p0trans …`, which runs in this
process and may be piped into `sed`, or `$ sed …`, which runs in a shell, come standard output and
standard error. All run, in the order of the page, in one folder that holds the blocks
```p0 NAME.p0 of the page.
"""

from __future__ import annotations

import difflib
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from p0trans.cli import cli
from tests.conftest import Golden
from tests.docs.pages import DOCS, read

CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```p0 (\S+\.p0)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def write_files(page: str, folder: Path) -> None:
    for name, text in FILE.findall(read(page)):
        (folder / name).write_text(text, "utf-8")


def run(command: str) -> str:
    """What a command of a page prints."""
    first, _, filter_ = command.partition(" | ")
    program, *arguments = shlex.split(first)
    if program == "p0trans":
        printed = CliRunner().invoke(cli, arguments).output
        return _shell(filter_, printed) if filter_ else printed
    assert program == "sed"
    return _shell(command, "")


def _shell(command: str, text: str) -> str:
    assert command.startswith("sed ")
    done = subprocess.run(
        command, shell=True, check=True, capture_output=True, text=True, input=text
    )
    return done.stdout


def rerun(text: str) -> str:
    """A page with what its commands print now."""
    return CONSOLE.sub(lambda match: _rerun_block(match[1]), text)


def _rerun_block(block: str) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command)}" for command in commands)


def check_page(page: str, renew: Callable[[str], str], golden: Golden) -> None:
    """Fail with a diff unless `renew` leaves the page as it is; or write what it gives."""
    held = read(page)
    now = renew(held)
    if golden.update:
        (DOCS / page).write_text(now, "utf-8")
    elif now != held:
        lines = difflib.unified_diff(held.splitlines(), now.splitlines(), page, "now", lineterm="")
        hint = "to renew: pytest tests/docs --update-golden"
        pytest.fail("\n".join((*lines, "", hint)), pytrace=False)
