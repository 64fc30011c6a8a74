"""`p0trans build --check` and `--fail-on-change`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, invoke

USER = """from good import twice

let four_times [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  twice[B, D] (twice[B, D] x)
"""
MODES = pytest.mark.parametrize("mode", ["--check", "--fail-on-change"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.p0").write_text(GOOD)
    (tmp_path / "user.p0").write_text(USER)
    return tmp_path


def built(folder: Path) -> str:
    assert invoke("build", "good.p0").exit_code == 0
    return (folder / "good.py").read_text()


@MODES
def test_a_fresh_file(folder: Path, mode: str) -> None:
    built(folder)
    before = (folder / "good.py").stat().st_mtime_ns
    result = invoke("build", mode, "good.p0")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert (folder / "good.py").stat().st_mtime_ns == before


def test_an_edited_file(folder: Path) -> None:
    fresh = built(folder)
    edited = fresh.replace("class Twice", "class Thrice")
    (folder / "good.py").write_text(edited)
    result = invoke("build", "--check", "good.p0")
    assert result.exit_code == 1
    assert result.stdout.startswith("--- a/good.py\n+++ b/good.py\n")
    assert "-class Thrice(nn.Module):\n+class Twice(nn.Module):\n" in result.stdout
    assert (folder / "good.py").read_text() == edited


def test_an_edited_source(folder: Path) -> None:
    built(folder)
    (folder / "good.p0").write_text(GOOD.replace("x + x", "x * x"))
    assert invoke("build", "--check", "good.p0").exit_code == 1
    assert invoke("build", "--fail-on-change", "good.p0").exit_code == 1
    assert invoke("build", "--check", "good.p0").exit_code == 0


def test_an_edited_import(folder: Path) -> None:
    invoke("build", "user.p0")
    assert invoke("build", "--check", "user.p0").exit_code == 0
    (folder / "good.p0").write_text(GOOD.replace("x + x", "x * x"))
    assert invoke("build", "--check", "user.p0").exit_code == 1


def test_a_missing_file(folder: Path) -> None:
    result = invoke("build", "--check", "good.p0")
    assert result.exit_code == 1
    assert result.stdout.startswith("--- /dev/null\n+++ b/good.py\n")
    assert not (folder / "good.py").exists()


def test_a_missing_folder(folder: Path) -> None:
    result = invoke("build", "--check", "good.p0", "-o", "new/")
    assert result.exit_code == 1
    assert result.stdout.startswith("--- /dev/null\n+++ b/new/good.py\n")
    assert not (folder / "new").exists()


def test_the_options_count(folder: Path) -> None:
    built(folder)
    result = invoke("build", "--check", "good.p0", "--checks", "none")
    assert result.exit_code == 1
    assert "+#     p0trans build good.p0 --checks none\n" in result.stdout


def test_a_package(folder: Path) -> None:
    arguments = ("good.p0", "user.p0", "-o", "package/")
    invoke("build", *arguments)
    assert invoke("build", "--check", *arguments).exit_code == 0
    (folder / "package/user.py").unlink()
    (folder / "package/good.py").write_text("")
    result = invoke("build", "--check", *arguments)
    assert result.exit_code == 1
    assert "+++ b/package/good.py\n" in result.stdout
    assert "--- /dev/null\n+++ b/package/user.py\n" in result.stdout
    assert "__init__" not in result.stdout


def test_a_changed_file_is_written_and_named(folder: Path) -> None:
    fresh = built(folder)
    for edited in (fresh + "\n", None):
        (folder / "good.py").unlink()
        if edited is not None:
            (folder / "good.py").write_text(edited)
        result = invoke("build", "--fail-on-change", "good.p0")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == "wrote good.py\n"
        assert (folder / "good.py").read_text() == fresh


@MODES
def test_line_ends_of_a_checkout_do_not_count(folder: Path, mode: str) -> None:
    fresh = built(folder)
    rewritten = fresh.replace("\n", "\r\n").encode()
    (folder / "good.py").write_bytes(rewritten)
    assert invoke("build", mode, "good.p0").exit_code == 0
    assert (folder / "good.py").read_bytes() == rewritten


def test_a_file_that_is_no_text(folder: Path) -> None:
    (folder / "good.py").write_bytes(b"\xff\n")
    result = invoke("build", "--check", "good.p0")
    assert result.exit_code == 1
    assert "-\ufffd\n" in result.stdout


@MODES
def test_a_folder_in_the_place_of_the_file(folder: Path, mode: str) -> None:
    (folder / "good.py").mkdir()
    result = invoke("build", mode, "good.p0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[P1204]: `good.py` cannot be read: it is not a regular file" in result.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes")
@MODES
def test_a_pipe_is_not_waited_for(folder: Path, mode: str) -> None:
    os.mkfifo(folder / "good.py")
    assert invoke("build", mode, "good.p0").exit_code == 1


@MODES
def test_a_wrong_program(folder: Path, mode: str) -> None:
    fresh = built(folder)
    (folder / "good.p0").write_text(BAD)
    result = invoke("build", mode, "good.p0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[P0101]" in result.stderr
    assert (folder / "good.py").read_text() == fresh


def test_a_source_is_not_overwritten(folder: Path) -> None:
    result = invoke("build", "--fail-on-change", "good.p0", "-o", "good.p0")
    assert result.exit_code == 1
    assert "it is the source that is being translated" in result.stderr
    assert "wrote" not in result.stderr
    assert (folder / "good.p0").read_text() == GOOD


def test_standard_input_with_a_file(folder: Path) -> None:
    assert invoke("build", "-", "-o", "out.py", stdin=GOOD).exit_code == 0
    assert invoke("build", "--check", "-", "-o", "out.py", stdin=GOOD).exit_code == 0
    assert invoke("build", "--check", "-", "-o", "out.py", stdin=USER).exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--check", "--watch", "good.p0"), "--check and --watch exclude each other"),
        (("--check", "--fail-on-change", "good.p0"), "exclude each other"),
        (("--watch", "--explain-rewrites", "good.p0"), "exclude each other"),
        (("--check", "good.p0", "-o", "-"), "--check needs a file that is written"),
        (("--fail-on-change", "-"), "--fail-on-change needs a file that is written"),
        (("--watch", "good.p0", "-o", "-"), "--watch needs a file that is written"),
        (("--watch", "-", "-o", "out.py"), "--watch needs files, not standard input"),
    ],
)
def test_command_lines_that_make_no_sense(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    result = invoke("build", *arguments, stdin=GOOD)
    assert result.exit_code == 2
    assert message in result.stderr
