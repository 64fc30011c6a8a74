"""Every code has a page: its first program gives that code, the corrected one gives nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from p0trans.diagnostics.apply import fix_until_stable
from p0trans.diagnostics.codes import table
from p0trans.diagnostics.model import Severity
from p0trans.diagnostics.text import render
from tests.conftest import GOLDEN, Golden
from tests.errors.pages import FOLDER, SECTIONS, Page, check, findings, pages, run

PAGES = pages()
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.code)
IN_A_FILE = pytest.mark.parametrize(
    "page", [page for page in PAGES if not page.broken.commands], ids=lambda page: page.code
)
RULE = "-" * 100


def test_every_code_has_a_page() -> None:
    assert [page.code for page in PAGES] == list(table())


@EACH
def test_form(page: Page) -> None:
    assert page.title == f"# {page.code}: {page.entry.title}"
    assert page.introduction
    assert tuple(page.sections) == SECTIONS
    assert f"../../golden/errors/{page.code}.txt" in page.sections[SECTIONS[1]]
    assert all(text.strip() for text in page.sections.values())


@EACH
def test_first_program(page: Page, tmp_path: Path, golden: Golden) -> None:
    """It gives the code and nothing else, in the words that the golden holds."""
    page.broken.write(tmp_path)
    if page.broken.commands:
        status, said = run(page.broken.commands, tmp_path)
        assert re.findall(r"^(\w+)\[(P\d+)\]", said, re.MULTILINE) == [
            (page.entry.severity.value, page.code)
        ]
        assert status == (1 if page.entry.severity is Severity.ERROR else 0)
    else:
        _, found = check(tmp_path, page.entry.severity)
        assert [item.code for item in found] == [page.code]
        said = render(found, width=100)
    golden.check(f"errors/{page.code}.txt", f"{page.broken.as_golden()}\n{RULE}\n\n{said}")


@EACH
def test_corrected_program(page: Page, tmp_path: Path) -> None:
    page.corrected.write(tmp_path)
    if page.corrected.commands:
        status, said = run(page.corrected.commands, tmp_path)
        assert (status, re.findall(r"\[P\d+\]", said)) == (0, [])
    else:
        _, found = check(tmp_path, page.entry.severity)
        assert found == []


@IN_A_FILE
def test_fix(page: Page, tmp_path: Path) -> None:
    """Fixes that may be applied unseen lead to a program without findings, and only they do."""
    page.broken.write(tmp_path)
    source, found = check(tmp_path, page.entry.severity)
    has_fix = any(fix.machine for item in found for fix in item.fixes)
    fixed, _ = fix_until_stable(source, lambda text: findings(text, page.entry.severity))
    assert (findings(fixed, page.entry.severity) == []) == has_fix


def test_index() -> None:
    """The index has a line for every code, in order, with its title."""
    rows = re.findall(
        r"^\| \[(P\d+)\]\((.+)\) \| (.+) \|$", (FOLDER / "README.md").read_text(), re.M
    )
    assert rows == [(code, f"{code}.md", entry.title) for code, entry in table().items()]


def test_no_orphans() -> None:
    held = sorted(path.stem for path in (GOLDEN / "errors").iterdir())
    assert held == list(table())
