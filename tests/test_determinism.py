"""The same sources give the same bytes: in any folder, process, locale and hash seed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples" / "casebook"
SOURCES = sorted(path.name for path in EXAMPLES.glob("*.p0"))


def build(folder: Path, output: str, *files: str, **environment: str) -> dict[str, bytes]:
    """The files that a build in a fresh process writes below `output`."""
    subprocess.run(
        [sys.executable, "-m", "p0trans", "build", *files, "-o", output],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    target = folder / output
    paths = [target] if target.is_file() else sorted(target.rglob("*.py"))
    return {path.name: path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = copied(tmp_path_factory.mktemp("first"))
    return build(folder, "out/", *SOURCES, PYTHONHASHSEED="0")


def copied(folder: Path) -> Path:
    for name in SOURCES:
        shutil.copy(EXAMPLES / name, folder / name)
    return folder


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4242"},
        {"LC_ALL": "C", "PYTHONUTF8": "0"},
        {"LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    ],
    ids=["seed-1", "seed-4242", "locale-C", "timezone"],
)
def test_same_bytes(environment: dict[str, str], first: dict[str, bytes], tmp_path: Path) -> None:
    assert build(copied(tmp_path), "other/", *SOURCES, **environment) == first


def test_absolute_paths_and_another_working_folder(first: dict[str, bytes], tmp_path: Path) -> None:
    absolute = [str(EXAMPLES / name) for name in SOURCES]
    assert build(tmp_path, "out/", *absolute) == first


def test_nothing_of_the_machine_is_in_it(first: dict[str, bytes], tmp_path: Path) -> None:
    for text in first.values():
        assert str(EXAMPLES.parent.parent).encode() not in text
        assert b"/tmp" not in text
