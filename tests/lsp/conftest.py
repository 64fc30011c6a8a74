"""One server for the tests of what it answers, and a folder that each test has to itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lsp.editor import Editor, Folder, editor


@pytest.fixture(scope="session")
def server() -> Iterator[Editor]:
    with editor() as one:
        yield one


@pytest.fixture
def folder(server: Editor, tmp_path: Path) -> Iterator[Folder]:
    yield Folder(server, tmp_path)
    server.close_all()
