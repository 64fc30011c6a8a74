"""Every program in the pages checks, or has the one mistake that it shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.ir.verify import verify
from p0trans.source import Source
from tests.docs.pages import PAGES, Block, blocks

PROGRAMS = blocks("p0")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each page a folder that holds its programs."""
    found = {page: tmp_path_factory.mktemp(Path(page).stem) for page in PAGES}
    for block in PROGRAMS:
        path = found[block.page] / block.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, "utf-8")
    return found


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_program(block: Block, folders: dict[str, Path]) -> None:
    source = read_source(folders[block.page] / block.file_name)
    assert isinstance(source, Source)
    checked = check_sources([source])
    expected = [] if block.error is None else [block.error]
    assert [d.code for d in checked.diagnostics] == expected, checked.diagnostics
    if block.error is None:
        verify(checked.program)


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_python(block: Block, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folders[block.page])
    exec(compile(block.text, str(block), "exec"), {})


def test_blocks_are_found() -> None:
    assert {block.page for block in PROGRAMS} == set(PAGES)
    assert {block.info for block in PROGRAMS} > {"rmsnorm.p0", "error P0503", ""}
