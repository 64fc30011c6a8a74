from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import BAD, FIXABLE, FIXED, GOOD, invoke


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.p0", GOOD), ("bad.p0", BAD), ("fixable.p0", FIXABLE)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_right_program(folder: Path) -> None:
    result = invoke("check", "good.p0")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "no problems in 1 file\n", "")


def test_a_wrong_program(folder: Path) -> None:
    result = invoke("check", "bad.p0")
    assert result.exit_code == 1
    assert result.stdout.startswith("error[P0101]: ")
    assert " --> bad.p0:3:7\n" in result.stdout
    assert result.stdout.endswith("1 error in 1 file\n")
    assert result.stderr == ""


def test_several_files_are_reported_together(folder: Path) -> None:
    result = invoke("check", "bad.p0", "good.p0", "missing.p0", "fixable.p0", "bad.p0")
    assert result.exit_code == 1
    assert result.stdout.endswith("3 errors in 3 files\n")


@pytest.mark.parametrize("stdin", [GOOD, GOOD.replace("\n", "\r\n"), f"\ufeff{GOOD}"])
def test_standard_input(stdin: str) -> None:
    result = invoke("check", "-", stdin=stdin.encode())
    assert (result.exit_code, result.stdout) == (0, "no problems in 1 file\n")


def test_standard_input_is_named_in_messages() -> None:
    result = invoke("check", "-", stdin=BAD)
    assert result.exit_code == 1
    assert " --> <stdin>:3:7\n" in result.stdout


def test_formats(folder: Path) -> None:
    lines = invoke("check", "--format", "json", "bad.p0", "fixable.p0").stdout.splitlines()
    assert [json.loads(line)["file"] for line in lines] == ["bad.p0", "fixable.p0"]
    sarif = json.loads(invoke("check", "--format", "sarif", "bad.p0").stdout)
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["P0101"]
    github = invoke("check", "--format", "github", "bad.p0").stdout
    assert github.startswith("::error file=bad.p0,line=3,col=7,")


def test_formats_of_a_right_program(folder: Path) -> None:
    assert invoke("check", "--format", "json", "good.p0").stdout == ""
    assert invoke("check", "--format", "github", "good.p0").stdout == ""
    sarif = json.loads(invoke("check", "--format", "sarif", "good.p0").stdout)
    assert sarif["runs"][0]["results"] == []


@pytest.mark.parametrize(
    ("environment", "arguments", "colored"),
    [
        ({}, (), False),
        ({}, ("--color", "always"), True),
        ({"CLICOLOR_FORCE": "1"}, (), True),
        ({"CLICOLOR_FORCE": "0"}, (), False),
        ({"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}, (), False),
        ({"CLICOLOR_FORCE": "1"}, ("--color", "never"), False),
        ({"NO_COLOR": "1"}, ("--color", "always"), True),
    ],
)
def test_colors(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    arguments: tuple[str, ...],
    colored: bool,
) -> None:
    for name in ("NO_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    # Click's runner strips escape sequences from text; bytes show what was really written.
    output = invoke("check", *arguments, "bad.p0").stdout_bytes
    assert (b"\x1b[1;31merror" in output) is colored


@pytest.mark.parametrize("text", ["", " \n\t\n", "// nothing\n(* at all *)\n", "\ufeff"])
def test_a_file_that_declares_nothing_is_a_warning(folder: Path, text: str) -> None:
    (folder / "empty.p0").write_text(text, encoding="utf-8")
    result = invoke("check", "empty.p0")
    assert result.exit_code == 0
    assert result.stdout.startswith("warning[P1206]: `empty.p0` declares nothing")
    strict = invoke("check", "--werror", "empty.p0")
    assert strict.exit_code == 1
    assert strict.stdout.startswith("error[P1206]: ")


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("binary.p0", bytes(range(256)), "P1203"),
        ("latin.p0", "let é = x".encode("latin-1"), "P1203"),
        ("missing.p0", None, "P1201"),
        (".", None, "P1202"),
    ],
)
def test_files_that_are_no_programs(
    folder: Path, name: str, content: bytes | None, code: str
) -> None:
    if content is not None:
        (folder / name).write_bytes(content)
    result = invoke("check", name)
    assert result.exit_code == 1
    assert result.stdout.startswith(f"error[{code}]: `{name}` ")


def test_fix_writes_the_file_back(folder: Path) -> None:
    path = folder / "fixable.p0"
    path.chmod(0o640)
    result = invoke("check", "--fix", "fixable.p0", "good.p0")
    assert result.exit_code == 0
    assert result.stdout == "applied 1 fix\nno problems in 2 files\n"
    assert path.read_text() == FIXED
    assert path.stat().st_mode & 0o777 == 0o640
    assert (folder / "good.p0").read_text() == GOOD


def test_fix_keeps_the_byte_order_mark_and_line_ends(folder: Path) -> None:
    path = folder / "fixable.p0"
    path.write_bytes(b"\xef\xbb\xbf" + FIXABLE.replace("\n", "\r\n").encode())
    assert invoke("check", "--fix", "fixable.p0").exit_code == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + FIXED.replace("\n", "\r\n").encode()


def test_fix_reports_what_is_left(folder: Path) -> None:
    (folder / "both.p0").write_text(FIXABLE + "\n" + BAD)
    result = invoke("check", "--fix", "both.p0")
    assert result.exit_code == 1
    assert (folder / "both.p0").read_text() == FIXED + "\n" + BAD
    assert "error[P0101]" in result.stdout
    assert result.stdout.endswith("1 error in 1 file\napplied 1 fix\n")


def test_fix_of_standard_input_goes_to_standard_output() -> None:
    result = invoke("check", "--fix", "-", stdin=FIXABLE)
    assert (result.exit_code, result.stdout) == (0, FIXED)
    assert result.stderr == "applied 1 fix\nno problems in 1 file\n"


def test_fix_and_diff_exclude_each_other(folder: Path) -> None:
    result = invoke("check", "--fix", "--diff", "fixable.p0")
    assert (result.exit_code, result.stdout) == (2, "")
    assert (folder / "fixable.p0").read_text() == FIXABLE


def test_diff_shows_the_fixes_and_changes_nothing(folder: Path) -> None:
    result = invoke("check", "--diff", "fixable.p0")
    assert result.exit_code == 1
    head = FIXABLE.splitlines()[0]
    assert result.stdout == (
        "--- a/fixable.p0\n+++ b/fixable.p0\n@@ -1,2 +1,2 @@\n"
        f" {head}\n-  x + y\n+  x + broadcast y [B, D]\n"
    )
    assert result.stderr.endswith("1 error in 1 file\n")
    assert (folder / "fixable.p0").read_text() == FIXABLE


def test_diff_of_a_file_without_a_last_line_end(folder: Path) -> None:
    (folder / "fixable.p0").write_text(FIXABLE.rstrip("\n"))
    lines = invoke("check", "--diff", "fixable.p0").stdout.splitlines()
    assert lines[-4:] == [
        "-  x + y",
        "\\ No newline at end of file",
        "+  x + broadcast y [B, D]",
        "\\ No newline at end of file",
    ]


def test_diff_of_a_right_program_is_empty(folder: Path) -> None:
    result = invoke("check", "--diff", "good.p0")
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize(
    "arguments",
    [
        ("check",),
        ("check", "--format", "xml", "good.p0"),
        ("check", "--unknown", "good.p0"),
        ("unknown",),
    ],
)
def test_wrong_usage(folder: Path, arguments: tuple[str, ...]) -> None:
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "Usage: " in result.stderr
    assert "Traceback" not in result.stderr
