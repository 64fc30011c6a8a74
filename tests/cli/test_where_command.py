"""`p0trans build --source-map` and `p0trans where`."""

from __future__ import annotations

import json
import runpy
import traceback
from pathlib import Path

import pytest
import torch

from tests.cli.support import GOOD, invoke

PROGRAM = f"""{GOOD}
let scaled [B, D] (x : Tensor[F32, [B, D]]) (s : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  let wide   = twice[B, D] x in
  let result = wide * broadcast s [B, D] in
  result

module Scaled = scaled with
  param s = ones
"""
BODY = """\
  |
6 |   let wide   = twice[B, D] x in
  |                -------------
7 |   let result = wide * broadcast s [B, D] in
  |                ^^^^^^^^^^^^^^^^^^^^^^^^^
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.p0").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)


def build(*arguments: str) -> None:
    result = invoke("build", "main.p0", *arguments)
    assert result.exit_code == 0, result.stderr


def place(text: str, path: str = "main.py") -> str:
    """`main.py:LINE` of the first line with this text."""
    lines = Path(path).read_text().split("\n")
    return f"{path}:{next(n for n, line in enumerate(lines, start=1) if text in line)}"


def complaint(*arguments: str, stdin: str | None = None) -> str:
    result = invoke("where", *arguments, stdin=stdin)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: ")
    return " ".join(result.stderr.split())


def test_a_line_with_its_map() -> None:
    build("--source-map", "-o", "out/")
    assert sorted(path.name for path in Path("out").iterdir()) == ["main.py", "main.py.map.json"]
    body = place("* self.s", "out/main.py")
    result = invoke("where", body)
    assert (result.exit_code, result.stderr) == (0, "")
    heading = f"{body} comes from `scaled`, in the class of `Scaled`\n --> main.p0:7:16\n"
    assert result.stdout == heading + BODY
    assert "main.p0:11:3\n" in invoke("where", place("nn.init.ones_", "out/main.py")).stdout


def test_a_line_without_a_map() -> None:
    build("--style", "explicit")
    assert not Path("main.py.map.json").exists()
    assert "7 |   let result = wide" in invoke("where", place("result = ")).stdout


def test_a_map_in_another_place() -> None:
    build("--source-map")
    Path("maps").mkdir()
    Path("main.py.map.json").rename("main.map")
    # Paths in a map start from its own folder.
    assert BODY in invoke("where", place("* self.s"), "--map", "main.map").stdout


def test_a_package() -> None:
    Path("other.p0").write_text("from main import twice\n" + GOOD.replace("twice", "more"))
    result = invoke("build", "main.p0", "other.p0", "-o", "out/")
    assert result.exit_code == 0
    # Without a map, the sources are those in the folder where this runs.
    assert "--> other.p0:4:3\n" in invoke("where", place("x + x", "out/other.py")).stdout


def test_a_traceback_through_an_emitted_file() -> None:
    build("--source-map")
    module = runpy.run_path("main.py")["Scaled"](3)
    with pytest.raises(ValueError, match="x: expected shape") as error:
        module(torch.zeros(2, 4))
    text = "".join(traceback.format_exception(error.value))
    result = invoke("where", "-", stdin=text)
    assert (result.exit_code, result.stderr) == (0, "")
    first, *_, last = result.stdout.splitlines()
    assert first == "Traceback (most recent call last):"
    assert last == "ValueError: x: expected shape [B, D] = [2, 3], got [2, 4]"
    assert f"{place('_check_shape(')} comes from `scaled`, in the class of `Scaled`\n" in (
        result.stdout
    )
    assert "5 | let scaled [B, D] (x : Tensor[F32, [B, D]])" in result.stdout
    # Neither other files nor the helper of the check.
    assert result.stdout.count(" comes from ") == 1
    assert "nn/modules" not in result.stdout
    Path("error.log").write_text(text)
    assert invoke("where", "--traceback", "error.log").stdout == result.stdout


def test_a_traceback_without_an_emitted_file() -> None:
    text = (
        'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: no\n'
    )
    assert "no frame of the traceback is in a file that p0trans emitted" in complaint(
        "-", stdin=text
    )


def test_lines_that_come_from_nowhere() -> None:
    build()
    assert "main.py:1 comes from no line of a source; the nearest that does: 12" in complaint(
        "main.py:1"
    )
    helper = place("if value.dtype")
    assert f"{helper} comes from no line" in complaint(helper)


@pytest.mark.parametrize("line", [0, 999])
def test_a_line_that_is_not_there(line: int) -> None:
    build()
    count = Path("main.py").read_text().count("\n")
    said = complaint(f"main.py:{line}")
    assert said == f"Error: there is no line {line} in main.py: it ends at line {count}"


def test_an_emitted_file_that_is_not_what_the_map_was_made_for() -> None:
    build("--source-map")
    with Path("main.py").open("a") as file:
        file.write("# by hand\n")
    assert "main.py.map.json is not the map of main.py as it is now" in complaint("main.py:20")
    Path("main.py.map.json").unlink()
    assert "`p0trans build main.p0` does not give it again" in complaint("main.py:20")


def test_a_source_that_changed() -> None:
    build("--source-map")
    body = place("* self.s")
    Path("main.p0").write_text(f"\n{PROGRAM}")
    assert "main.p0 is not what main.py was made from" in complaint(body)
    Path("main.p0").unlink()
    assert "main.p0" in complaint(body)
    Path("main.py.map.json").unlink()
    assert "does not give it again" in complaint(body)


def test_line_ends_that_a_checkout_rewrote() -> None:
    build("--source-map")
    body = place("* self.s")
    for name in ("main.py", "main.p0"):
        Path(name).write_bytes(Path(name).read_bytes().replace(b"\n", b"\r\n"))
    assert BODY in invoke("where", body).stdout
    Path("main.py.map.json").unlink()
    assert BODY in invoke("where", body).stdout


def test_maps_that_are_none() -> None:
    build("--source-map")
    body = place("* self.s")
    for text, words in (("{", "is not JSON"), ("{}", "is no source map of version 1")):
        Path("main.py.map.json").write_text(text)
        assert f"main.py.map.json {words}" in complaint(body)
    build("--source-map")
    data = json.loads(Path("main.py.map.json").read_text())
    for mapped in data["lines"]:
        mapped["spans"] = [[900, 1, 900, 2]]
    Path("main.py.map.json").write_text(json.dumps(data))
    assert "has lines that main.p0 lacks" in complaint(body)


@pytest.mark.parametrize("command", ["build --help", "build 'main.p0", "build --style x"])
def test_a_header_that_was_edited(command: str) -> None:
    build()
    text = Path("main.py").read_text().replace("build main.p0", command)
    Path("main.py").write_text(text)
    assert "does not give it again" in complaint("main.py:20")


def test_a_file_that_was_not_emitted() -> None:
    Path("x.py").write_text("x = 1\n")
    assert "x.py is no file that p0trans emitted" in complaint("x.py:1")
    assert "missing.py" in complaint("missing.py:1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give a FILE:LINE, or a traceback"),
        (("main.py:1", "--traceback", "x"), "give a FILE:LINE, or a traceback"),
        (("main.py",), "'main.py' is not FILE:LINE"),
        (("main.py:",), "'main.py:' is not FILE:LINE"),
        (("main.py:x",), "'main.py:x' is not FILE:LINE"),
        ((":3",), "':3' is not FILE:LINE"),
        ((f"main.py:{'9' * 5000}",), "is not FILE:LINE"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    result = invoke("where", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


@pytest.mark.parametrize("arguments", [("main.p0", "-o", "-"), ("-", "-o", "out.py")])
def test_a_source_map_needs_files(arguments: tuple[str, ...]) -> None:
    result = invoke("build", "--source-map", *arguments, stdin=GOOD)
    assert result.exit_code == 2
    assert "--source-map needs" in result.stderr


def test_a_stale_map_is_found() -> None:
    build("--source-map")
    assert invoke("build", "main.p0", "--source-map", "--check").exit_code == 0
    Path("main.py.map.json").write_text("{}\n")
    result = invoke("build", "main.p0", "--source-map", "--check")
    assert result.exit_code == 1
    assert "a/main.py.map.json" in result.stdout
