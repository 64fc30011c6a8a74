"""The grammar's tables are cached, and nothing goes wrong where they cannot be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
from p0trans.source import Source
from p0trans.syntax.parse import parse
parsed = parse(Source("f.p0", "let f : Tensor[F32, []] = 1.0"))
print(len(parsed.file.declarations), len(parsed.diagnostics))
"""


def start(cache_home: Path | str, **more: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_home), **more}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process: subprocess.Popen[str]) -> tuple[str, str]:
    return process.communicate(timeout=60)


def test_the_second_start_reads_what_the_first_wrote(tmp_path: Path) -> None:
    assert output(start(tmp_path)) == ("1 0\n", "")
    (written,) = (tmp_path / "p0trans").iterdir()
    stamp = written.stat().st_mtime_ns
    assert output(start(tmp_path)) == ("1 0\n", "")
    assert written.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("content", [b"", b"garbage", b"torn"])
def test_a_damaged_cache_is_replaced(tmp_path: Path, content: bytes) -> None:
    output(start(tmp_path))
    (written,) = (tmp_path / "p0trans").iterdir()
    good = written.read_bytes()
    written.write_bytes(good[: len(good) // 2] if content == b"torn" else content)
    assert output(start(tmp_path)) == ("1 0\n", "")
    assert len(written.read_bytes()) == pytest.approx(len(good), rel=0.01)


def test_no_cache_folder_is_no_problem(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    assert output(start(blocked)) == ("1 0\n", "")


def test_a_cache_that_cannot_be_written_is_no_problem(tmp_path: Path) -> None:
    output(start(tmp_path))
    (written,) = (tmp_path / "p0trans").iterdir()
    written.unlink()
    written.mkdir()
    assert output(start(tmp_path)) == ("1 0\n", "")


def test_a_relative_cache_folder_is_ignored(tmp_path: Path) -> None:
    assert output(start("relative", HOME=str(tmp_path))) == ("1 0\n", "")
    assert (tmp_path / ".cache" / "p0trans").is_dir()
    assert not Path("relative").exists()


def test_processes_that_start_together(tmp_path: Path) -> None:
    processes = [start(tmp_path) for _ in range(4)]
    assert [output(process) for process in processes] == [("1 0\n", "")] * 4
    assert output(start(tmp_path)) == ("1 0\n", "")
