"""`p0trans new`: the project that it makes works, and nothing is overwritten."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.source import Source
from tests.cli.support import invoke

FILES = {".pre-commit-config.yaml", "Makefile", "README.md", "my_model.p0", "test_my_model.py"}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_files(tmp_path: Path) -> None:
    result = invoke("new", "my_model")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [f"my_model/{name}" for name in _in_order(result.stdout)]
    assert {path.name for path in (tmp_path / "my_model").iterdir()} == FILES
    assert set(_in_order(result.stdout)) == FILES
    for path in (tmp_path / "my_model").iterdir():
        assert "{{" not in path.read_text()
        assert path.read_text().endswith("\n")


def _in_order(text: str) -> list[str]:
    return [line.rpartition("/")[2] for line in text.splitlines()]


def test_the_program_has_no_findings_and_the_one_layout(tmp_path: Path) -> None:
    invoke("new", "my_model")
    source = read_source(tmp_path / "my_model" / "my_model.p0")
    assert isinstance(source, Source)
    assert check_sources([source]).diagnostics == ()
    assert invoke("fmt", "--check", "my_model/my_model.p0").exit_code == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_checks_builds_and_tests(tmp_path: Path) -> None:
    invoke("new", "my_model")
    done = subprocess.run(
        ["make", f"P0TRANS={sys.executable} -m p0trans", f"PYTHON={sys.executable}"],
        cwd=tmp_path / "my_model",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_same_name_gives_the_same_bytes_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    invoke("new", "my_model")
    assert invoke("new", "deep/my_model/").exit_code == 0
    for name in FILES:
        here, there = tmp_path / "my_model" / name, tmp_path / "deep" / "my_model" / name
        assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("kind", ["folder", "file", "link to nothing"])
def test_what_is_there_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "my_model"
    if kind == "folder":
        path.mkdir()
    elif kind == "file":
        path.write_text("mine")
    else:
        path.symlink_to("nowhere")
    result = invoke("new", "my_model")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "'my_model' is there already" in result.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["my_model"]
    assert kind != "folder" or not list(path.iterdir())


def test_a_folder_that_is_not_there() -> None:
    result = invoke("new", "no/my_model")
    assert result.exit_code == 1
    assert "cannot be made" in result.stderr


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("my-model", "'my_model' is one"),
        ("2d", "begins with a letter"),
        ("", "begins with a letter"),
        (".", "begins with a letter"),
        ("modèle", "begins with a letter"),
        ("class", "imports"),
        ("torch", "imports"),
        ("math", "imports"),
        ("std", "imports"),
    ],
)
def test_names_that_python_cannot_import(tmp_path: Path, name: str, words: str) -> None:
    result = invoke("new", name)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())
    assert list(tmp_path.iterdir()) == []
