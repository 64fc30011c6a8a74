"""`p0trans review` from the command line."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, invoke


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.p0").write_text(GOOD)
    monkeypatch.chdir(tmp_path)


def git(*arguments: str) -> None:
    options = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *options, *arguments], check=True, capture_output=True)


def committed() -> None:
    git("init", "--quiet")
    git("add", "-A")
    git("commit", "--quiet", "-m", "first")


def test_a_page() -> None:
    result = invoke("review", "main.p0", "-o", "review.html")
    assert (result.exit_code, result.output) == (0, "")
    text = Path("review.html").read_text()
    assert text.startswith("<!DOCTYPE html>")
    assert "return" in text
    assert invoke("review", "main.p0").stdout == text


def test_the_options_of_build() -> None:
    result = invoke("review", "main.p0", "--param", "x=ones", "--target", "compile")
    assert "p0trans build main.p0 --target compile --param x=ones" in result.stdout


def test_a_wrong_program_has_a_page() -> None:
    Path("main.p0").write_text(BAD)
    result = invoke("review", "main.p0", "-o", "review.html")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[P0101]")
    assert "error[P0101]" in Path("review.html").read_text()


def test_several_files_with_an_import() -> None:
    Path("more.p0").write_text("from main import twice\n" + GOOD.replace("twice", "more"))
    page = invoke("review", "main.p0", "more.p0").stdout
    assert "_checks.py" in page
    assert page.count('<section class="file">') == 3
    assert "imported" in invoke("review", "more.p0").stdout


def test_standard_input() -> None:
    assert "Twice the input." in invoke("review", "-", stdin=GOOD).stdout


def test_against_a_revision() -> None:
    Path("model").mkdir()
    Path("main.p0").rename("model/main.p0")
    Path("model/more.p0").write_text("from main import twice\n" + GOOD.replace("twice", "more"))
    committed()
    Path("model/main.p0").write_text(GOOD.replace("x + x", "x * x"))
    page = invoke("review", "model/more.p0", "model/main.p0", "--against", "HEAD").stdout
    assert "compared with <b>HEAD</b>: 1 part changed" in page
    # The imported file is as it was then, too.
    Path("model/more.p0").write_text("// new\n" + Path("model/more.p0").read_text())
    assert "2 parts changed" in (
        invoke("review", "model/more.p0", "model/main.p0", "--against", "HEAD").stdout
    )


def test_against_a_file_and_what_it_imports() -> None:
    Path("old").mkdir()
    text = "from main import twice\n" + GOOD.replace("twice", "more").replace(
        "x + x", "twice[B, D] x"
    )
    Path("more.p0").write_text(text)
    Path("old/more.p0").write_text(text)
    Path("old/main.p0").write_text(GOOD.replace("x + x", "x * x"))
    page = invoke("review", "more.p0", "--against", "old/more.p0").stdout
    assert "1 part changed" in page
    Path("old/main.p0").unlink()
    assert invoke("review", "more.p0", "--against", "old/more.p0").exit_code == 0


def test_a_file_that_is_new_since_then() -> None:
    committed()
    Path("more.p0").write_text(GOOD.replace("twice", "more"))
    assert "compared with" in invoke("review", "main.p0", "more.p0", "--against", "HEAD").stdout
    result = invoke("review", "more.p0", "--against", "HEAD")
    assert result.exit_code == 2
    assert "more.p0: not there in HEAD" in result.stderr


@pytest.mark.parametrize("old", ["nothing", "--help", "-x", ""])
def test_against_what_is_not_there(old: str) -> None:
    committed()
    result = invoke("review", "main.p0", f"--against={old}")
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"'{old}' is neither a file nor a revision of git" in " ".join(result.stderr.split())


def test_against_a_revision_outside_a_repository() -> None:
    result = invoke("review", "main.p0", "--against", "HEAD")
    assert result.exit_code == 2
    assert "neither a file nor a revision" in result.stderr


def test_against_without_git(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    result = invoke("review", "main.p0", "--against", "HEAD")
    assert "git cannot be run" in result.stderr


def test_against_what_is_no_program() -> None:
    assert invoke("build", "main.p0").exit_code == 0
    result = invoke("review", "main.p0", "--against", "main.py")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "main.py is no Phase 0 program" in result.stderr
    Path("broken.p0").write_text(f"{GOOD}\nlet wrong =\n")
    assert invoke("review", "main.p0", "--against", "broken.p0").exit_code == 0


def test_against_what_is_not_text() -> None:
    committed()
    Path("old.p0").write_bytes(b"\xff")
    assert "is not UTF-8 text" in invoke("review", "main.p0", "--against", "old.p0").stderr
    Path("main.p0").write_bytes(b"\xff")
    git("commit", "--quiet", "-am", "second")
    Path("main.p0").write_text(GOOD)
    assert "is not UTF-8 text" in invoke("review", "main.p0", "--against", "HEAD").stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("missing.p0",), 1, "missing.p0"),
        (("main.p0", "-o", "main.p0"), 1, "it is the source that is being translated"),
        (("main.p0", "-o", "."), 1, "it is a folder"),
        (("-", "--against", "HEAD"), 2, "--against needs files"),
        (("main.p0", "main.p0", "--against", "main.p0"), 0, ""),
        ((), 2, "FILE"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], code: int, words: str) -> None:
    result = invoke("review", *arguments, stdin=GOOD)
    assert result.exit_code == code
    assert words in result.stderr
