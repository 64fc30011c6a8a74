"""The casebook page: its commands are run again and its claims are tried."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from p0trans.diagnostics.codes import table
from tests.conftest import Golden
from tests.docs.console import CONSOLE, FILE, check_page, rerun, write_files
from tests.docs.pages import DOCS, read

PAGE = "casebook.md"
EXAMPLES = DOCS.parent / "examples" / "casebook"
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the page's files, as the current one."""
    for example in EXAMPLES.glob("*.p0"):
        shutil.copy(example, tmp_path)
    write_files(PAGE, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_outputs_are_those_of_the_tool(folder: Path, golden: Golden) -> None:
    check_page(PAGE, rerun, golden)


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
