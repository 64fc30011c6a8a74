"""The casebook page: its commands are run again and its claims are tried.

A block ```console holds commands and what they print: after `$ p0trans …`, which runs in this
process, or `$ sed …`, which runs in a shell, come standard output and standard error. All run, in
the order of the page, in one folder that holds examples/casebook/ and the blocks ```p0 NAME.p0.
"""

from __future__ import annotations

import difflib
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from p0trans.cli import cli
from p0trans.diagnostics.codes import table
from tests.conftest import Golden
from tests.docs.pages import DOCS, read

PAGE = "casebook.md"
EXAMPLES = DOCS.parent / "examples" / "casebook"
CONSOLE = re.compile(r"(?<=^```console\n)(.*?)(?=^```$)", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"^```p0 (\S+\.p0)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the page's files, as the current one."""
    for example in EXAMPLES.glob("*.p0"):
        shutil.copy(example, tmp_path)
    for name, text in FILE.findall(read(PAGE)):
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command: str) -> str:
    """What a command of the page prints."""
    program, *arguments = shlex.split(command)
    if program == "p0trans":
        return CliRunner().invoke(cli, arguments).output
    assert program == "sed"
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


def rerun(block: str) -> str:
    commands = [line.removeprefix("$ ") for line in block.splitlines() if line.startswith("$ ")]
    return "".join(f"$ {command}\n{run(command)}" for command in commands)


def test_outputs_are_those_of_the_tool(folder: Path, golden: Golden) -> None:
    held = read(PAGE)
    now = CONSOLE.sub(lambda match: rerun(match[1]), held)
    if golden.update:
        (DOCS / PAGE).write_text(now, "utf-8")
    elif now != held:
        lines = difflib.unified_diff(held.splitlines(), now.splitlines(), PAGE, "now", lineterm="")
        renew = "to renew: pytest tests/docs/test_casebook.py --update-golden"
        pytest.fail("\n".join((*lines, "", renew)), pytrace=False)


def test_python_of_the_page_runs(folder: Path) -> None:
    blocks = PYTHON.findall(read(PAGE))
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, PAGE, "exec"), {})


def test_a_later_change_does_not_reach_the_page_unseen(folder: Path) -> None:
    """Each file that the page makes or changes is used by a command below."""
    commands = [line for text in CONSOLE.findall(read(PAGE)) for line in text.splitlines()]
    made = [word for line in commands if line.startswith("$ sed") for word in line.split()[-1:]]
    made += [name for name, _ in FILE.findall(read(PAGE))]
    for name in made:
        assert any(line.startswith("$ p0trans") and name in line for line in commands), name


def test_the_checklist_names_codes_of_its_families() -> None:
    rows = re.findall(r"^\| \d\. [^|]*\| `(\w+)` \| ([^|]*) \|", read(PAGE), re.MULTILINE)
    assert [family for family, _ in rows] == ["dtype", "order", "broadcast", "axis", "presburger"]
    for family, codes in rows:
        named = set(re.findall(r"P\d{4}", codes))
        assert named
        assert {table()[code].family for code in named} == {family}


def test_case_a_is_the_casebook_example() -> None:
    (text,) = re.findall(r"^```p0\n(.*?)^```$", read(PAGE), re.MULTILINE | re.DOTALL)
    assert text == (EXAMPLES / "rmsnorm.p0").read_text("utf-8")
