"""`p0trans build --watch`, in a process of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, heed_interruptions, invoke

USER = """from layers.good import twice

let four_times [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  twice[B, D] (twice[B, D] x)
"""
PATIENCE = 120.0
"""Seconds after which a process that says nothing is taken for stuck, and killed."""


class Watch:
    """A running `p0trans build --watch`, whose two streams are read as one."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "p0trans", "build", "--watch", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=heed_interruptions,
        )
        self._timer = threading.Timer(PATIENCE, self.process.kill)
        self._timer.start()

    def until(self, start: str) -> list[str]:
        """Its lines up to the first that begins with `start`."""
        assert self.process.stdout is not None
        lines: list[str] = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.startswith(start):
                return lines
        raise AssertionError(f"it ended without {start!r}: {lines}")

    def close(self) -> None:
        self._timer.cancel()
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "layers").mkdir()
    (tmp_path / "layers/good.p0").write_text(GOOD)
    (tmp_path / "user.p0").write_text(USER)
    return tmp_path


@pytest.fixture
def watch(folder: Path) -> Iterator[Watch]:
    pytest.importorskip("watchfiles")
    running = Watch(folder, "user.p0")
    yield running
    running.close()


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_sources_and_imports_are_built_again(folder: Path, watch: Watch) -> None:
    assert watch.until("wrote") == ["watching .; Ctrl-C ends it", "wrote user.py"]
    first = (folder / "user.py").read_text()

    (folder / "layers/good.p0").write_text(GOOD.replace("x + x", "x * x"))
    watch.until("wrote user.py")
    second = (folder / "user.py").read_text()
    assert second != first

    (folder / "user.p0").write_text(USER.replace("four_times", "quadruple"))
    watch.until("wrote user.py")
    third = (folder / "user.py").read_text()
    assert "class Quadruple(nn.Module)" in third

    (folder / "layers/good.p0").write_text(BAD)
    watch.until("error[P0101]")
    assert (folder / "user.py").read_text() == third

    (folder / "layers/good.p0").write_text(GOOD)
    watch.until("wrote user.py")

    watch.process.send_signal(signal.SIGINT)
    assert watch.process.wait() == 0
    assert watch.process.stdout is not None
    assert "Traceback" not in watch.process.stdout.read()


def test_without_watchfiles(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    result = invoke("build", "--watch", "user.p0")
    assert result.exit_code == 1
    assert "watching needs watchfiles: pip install 'p0trans[watch]'" in result.stderr
    assert not (folder / "user.py").exists()


def test_a_folder_that_is_not_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("watchfiles")
    monkeypatch.chdir(folder)
    result = invoke("build", "--watch", "missing/user.p0")
    assert result.exit_code == 1
    assert "there is no folder 'missing' to watch" in result.stderr


def test_a_wrong_option_ends_it_at_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("watchfiles")
    monkeypatch.chdir(folder)
    result = invoke("build", "--watch", "user.p0", "--target", "compile", "--dynamic", "Q")
    assert result.exit_code == 2
    assert "--dynamic: `Q` does not vary" in result.stderr


def test_a_system_that_watches_no_more(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watchfiles = pytest.importorskip("watchfiles")

    def refuse(*folders: Path, **options: object) -> None:
        raise OSError("too many watches")

    monkeypatch.setattr(watchfiles, "watch", refuse)
    monkeypatch.chdir(folder)
    result = invoke("build", "--watch", "user.p0")
    assert result.exit_code == 1
    assert "the files cannot be watched: too many watches" in result.stderr
