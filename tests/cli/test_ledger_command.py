"""`p0trans ledger` from the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, invoke

PROGRAM = f"""{GOOD}
let halves [B, K] (x : Tensor[F32, [B, 2*K]]) : Tensor[F32, [B, K]] where B >= 2 =
  slice[axis=1, start=0, stop=K] (twice[B, 2*K] x)

module Halves = halves
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "main.p0").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)


def test_every_definition_of_the_file() -> None:
    result = invoke("ledger", "main.p0")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("twice [B, D]\n  Twice the input.\n\n")
    assert "\n\nhalves [B, K]\n  where B >= 2\n\n" in result.stdout
    assert "main.p0:" not in result.stdout


@pytest.mark.parametrize("name", ["halves", "Halves"])
def test_one_definition_with_its_calls(name: str) -> None:
    result = invoke("ledger", "main.p0", "--def", name, "--inline")
    assert result.stdout.startswith("halves [B, K]\n")
    assert "twice [B, D]" not in result.stdout
    assert "main.p0:3\n" in result.stdout


def test_numbers_of_the_sizes_that_each_definition_has() -> None:
    result = invoke("ledger", "main.p0", "--dims", "B=2, K=3,D=5", "--format", "json")
    twice, halves = json.loads(result.stdout)["definitions"]
    assert (twice["sizes"], halves["sizes"]) == ({"B": 2, "D": 5}, {"B": 2, "K": 3})
    assert twice["total"]["numbers"]["flops"] == 10
    assert halves["total"]["numbers"]["flops"] == 12


def test_standard_input() -> None:
    assert "x + x" in invoke("ledger", "-", stdin=GOOD).stdout


@pytest.mark.parametrize("format_", ["text", "md", "html", "csv"])
def test_a_file_with_nothing_in_it(format_: str) -> None:
    result = invoke("ledger", "-", "--format", format_, stdin="")
    assert result.exit_code == 0
    assert "P1206" in result.stderr


def test_a_wrong_program() -> None:
    result = invoke("ledger", "-", stdin=BAD)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[P0101]")
    assert invoke("ledger", "missing.p0").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--def", "other"), "no definition or module 'other'; the file has twice, halves, Halves"),
        (("--dims", "X=1"), "'X' is no shape variable here; there are B, D, K"),
        (("--dims", "B=2"), "`twice` also needs the size of D"),
        (("--dims", "B=1,D=1,K=1"), "`halves` needs B >= 2, which is false for B = 1"),
        (("--dims", ""), "'' is not NAME=SIZE"),
        (("--dims", "B=1,"), "'' is not NAME=SIZE"),
        (("--dims", "B=0"), "'B=0' is not NAME=SIZE"),
        (("--dims", "B=x"), "'B=x' is not NAME=SIZE"),
        (("--dims", "B=-1"), "'B=-1' is not NAME=SIZE"),
        (("--dims", "B=２"), "'B=２' is not NAME=SIZE"),
        (("--dims", "=2"), "'=2' is not NAME=SIZE"),
        (("--dims", f"B={2**63}"), f"'B={2**63}' is not NAME=SIZE"),
        (("--dims", f"B={'9' * 5000}"), "is not NAME=SIZE"),
        (("--dims", "B=2,B=3"), "'B' is given twice"),
        (("--format", "yaml"), "'yaml' is not one of"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], words: str) -> None:
    result = invoke("ledger", "main.p0", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_the_largest_size() -> None:
    result = invoke("ledger", "main.p0", "--def", "twice", "--dims", f"B={2**63 - 1},D={'0' * 99}1")
    assert f"{2**63 - 1:,}" in result.stdout


def test_too_many_rows_is_an_error() -> None:
    text, called = GOOD, "twice"
    for name in map("f{}".format, range(20)):
        text += f"let {name} [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =\n"
        text += f"  {called}[B, D] ({called}[B, D] x)\n"
        called = name
    result = invoke("ledger", "-", "--inline", stdin=text)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has more than 100000 rows with its calls" in result.stderr


@pytest.mark.parametrize("format_", ["text", "md", "json", "csv"])
def test_nothing_heavy_is_imported(format_: str) -> None:
    program = (
        "import sys\n"
        "from p0trans.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    heavy = {'torch', 'numpy', 'black', 'jinja2', 'islpy', 'sympy'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
    )
    arguments = ("ledger", "main.p0", "--def", "twice", "--dims", "B=2,D=3", "--format", format_)
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.endswith("\n[]\n")
