from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import GOOD, invoke

UGLY = GOOD.replace("  x + x", "x+x")
BROKEN = "let f\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.p0").write_text(GOOD)
    (tmp_path / "ugly.p0").write_text(UGLY)
    (tmp_path / "broken.p0").write_text(BROKEN)
    return tmp_path


def test_files_are_rewritten(folder: Path) -> None:
    result = invoke("fmt", "good.p0", "ugly.p0")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "changed ugly.p0\n")
    assert (folder / "ugly.p0").read_text() == GOOD
    again = invoke("fmt", "ugly.p0")
    assert (again.exit_code, again.stdout, again.stderr) == (0, "", "")


def test_a_file_that_is_laid_out_is_not_written(folder: Path) -> None:
    before = (folder / "good.p0").stat()
    assert invoke("fmt", "good.p0").exit_code == 0
    after = (folder / "good.p0").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_check(folder: Path) -> None:
    assert invoke("fmt", "--check", "good.p0").exit_code == 0
    result = invoke("fmt", "--check", "good.p0", "ugly.p0")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "would change ugly.p0\n"
    assert (folder / "ugly.p0").read_text() == UGLY


def test_diff(folder: Path) -> None:
    result = invoke("fmt", "--diff", "good.p0", "ugly.p0")
    assert result.exit_code == 0
    assert result.stdout.startswith("--- a/ugly.p0\n+++ b/ugly.p0\n")
    assert "-x+x\n+  x + x\n" in result.stdout
    assert (folder / "ugly.p0").read_text() == UGLY
    both = invoke("fmt", "--diff", "--check", "ugly.p0")
    assert (both.exit_code, both.stdout) == (1, result.stdout)


def test_standard_input(folder: Path) -> None:
    result = invoke("fmt", "-", stdin=UGLY)
    assert (result.exit_code, result.stdout, result.stderr) == (0, GOOD, "")
    assert invoke("fmt", "-", stdin=GOOD).stdout == GOOD
    checked = invoke("fmt", "--check", "-", stdin=UGLY)
    assert (checked.exit_code, checked.stdout) == (1, "")
    assert "would change <stdin>" in checked.stderr
    assert "+  x + x" in invoke("fmt", "--diff", "-", stdin=UGLY).stdout


def test_a_file_with_a_syntax_error_is_left_alone(folder: Path) -> None:
    result = invoke("fmt", "broken.p0", "ugly.p0")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[P0001]")
    assert result.stderr.endswith("changed ugly.p0\n")
    assert (folder / "broken.p0").read_text() == BROKEN
    assert (folder / "ugly.p0").read_text() == GOOD


def test_standard_input_with_a_syntax_error_gives_no_output() -> None:
    result = invoke("fmt", "-", stdin=BROKEN)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error[P0001]" in result.stderr


def test_findings_in_other_formats(folder: Path) -> None:
    result = invoke("fmt", "--format", "json", "broken.p0", "ugly.p0")
    assert json.loads(result.stderr)["code"] == "P0001"


def test_a_type_error_is_no_matter(folder: Path) -> None:
    (folder / "wrong.p0").write_text(UGLY.replace("x+x", "x+scale"))
    assert invoke("fmt", "wrong.p0").exit_code == 0
    assert "  x + scale\n" in (folder / "wrong.p0").read_text()


def test_a_folder_stands_for_its_programs(folder: Path) -> None:
    (folder / "broken.p0").unlink()
    for name in ("deep/er/a.p0", "deep/b.p0", ".hidden/c.p0", "deep/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(UGLY)
    result = invoke("fmt", ".")
    assert result.exit_code == 0
    changed = [Path(line.removeprefix("changed ")) for line in result.stderr.splitlines()]
    assert changed == [Path("ugly.p0"), Path("deep/b.p0"), Path("deep/er/a.p0")]
    assert (folder / ".hidden/c.p0").read_text() == UGLY
    assert (folder / "deep/notes.txt").read_text() == UGLY


def test_a_folder_without_programs(folder: Path) -> None:
    (folder / "empty").mkdir()
    result = invoke("fmt", "empty")
    assert result.exit_code == 1
    assert "there is no .p0 file in the folder 'empty'" in result.stderr


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="may read everything")
def test_a_folder_that_cannot_be_read(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0)
    result = invoke("fmt", "closed")
    assert result.exit_code == 1
    assert "the folder 'closed' cannot be read: Permission denied" in result.stderr


def test_a_missing_file(folder: Path) -> None:
    result = invoke("fmt", "missing.p0", "ugly.p0")
    assert result.exit_code == 1
    assert "error[P1201]" in result.stderr
    assert (folder / "ugly.p0").read_text() == GOOD


def test_byte_order_mark_and_line_ends_stay(folder: Path) -> None:
    path = folder / "windows.p0"
    path.write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert invoke("fmt", "windows.p0").exit_code == 0
    assert path.read_bytes() == b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()


def test_nothing_heavy_is_imported(folder: Path) -> None:
    program = (
        "import sys\n"
        "from p0trans.cli import main\n"
        "try:\n"
        "    main(['fmt', 'ugly.p0'])\n"
        "finally:\n"
        "    heavy = {'torch', 'numpy', 'black', 'jinja2', 'islpy', 'sympy'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
        "    print('p0trans.checker' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=folder
    )
    assert done.stdout == "[]\nFalse\n"
