"""The page on source maps: its commands are run again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Golden
from tests.docs.console import check_page, rerun, write_files

PAGE = "source-map.md"


def test_page_is_what_the_tool_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    write_files(PAGE, tmp_path)
    monkeypatch.chdir(tmp_path)
    check_page(PAGE, rerun, golden)
