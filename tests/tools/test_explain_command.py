"""`p0trans explain FILE:LINE` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, invoke


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "good.p0").write_text(GOOD)
    (tmp_path / "bad.p0").write_text(BAD)
    monkeypatch.chdir(tmp_path)


def test_a_line_with_a_step() -> None:
    result = invoke("explain", "good.p0:3")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("good.p0:3 in `twice`\n\n3 |   x + x\n")
    assert "  so      Tensor[F32, [B, D]], as declared in line 2\n" in result.stdout


def test_standard_input() -> None:
    result = invoke("explain", "--", "-:3", stdin=GOOD)
    assert result.stdout.startswith("<stdin>:3 in `twice`\n")


def test_a_line_without_a_step() -> None:
    result = invoke("explain", "good.p0:1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "line 1 of good.p0 has no step; the nearest with one: line 2\n"


def test_a_line_with_an_error() -> None:
    result = invoke("explain", "bad.p0:3")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[P0101]: ")


def test_a_definition_with_an_error_elsewhere() -> None:
    result = invoke("explain", "bad.p0:2")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("`twice` has no proof to show")
    assert "error[P0101]: " in result.stderr


def test_a_file_that_cannot_be_read() -> None:
    result = invoke("explain", "missing.p0:3")
    assert result.exit_code == 1
    assert "error[P1201]" in result.stderr


@pytest.mark.parametrize("what", ["good.p0", "good.p0:", "good.p0:x", ":3"])
def test_neither_a_code_nor_a_line(what: str) -> None:
    result = invoke("explain", what)
    assert result.exit_code == 2
    assert f"'{what}' is neither a code nor FILE:LINE" in result.stderr
