from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import p0trans
from p0trans.cli import COMMANDS
from p0trans.cli import explain as explain_command
from p0trans.diagnostics.codes import table
from p0trans.ops import OPERATIONS
from tests.cli.support import BAD, GOOD, invoke


def test_version() -> None:
    assert invoke("--version").stdout == f"p0trans {p0trans.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command: str) -> None:
    for flag in ("-h", "--help"):
        result = invoke(command, flag)
        assert result.exit_code == 0
        assert re.search(rf"^ +p0trans {command}\b", result.stdout, re.MULTILINE)


def test_help_lists_every_command() -> None:
    lines = invoke("--help").stdout.splitlines()
    listed = lines[lines.index("Commands:") + 1 :]
    assert [line.split()[0] for line in listed] == list(COMMANDS)
    assert not any(line.endswith("...") for line in listed)


def test_ir_prints_the_typed_steps(tmp_path: Path) -> None:
    path = tmp_path / "good.p0"
    path.write_text(GOOD)
    result = invoke("ir", str(path))
    assert result.exit_code == 0
    assert "add x x" in result.stdout
    assert invoke("ir", "-", stdin=GOOD).exit_code == 0


def test_ir_in_the_style_of_emission() -> None:
    explicit, idiomatic = (
        invoke("ir", "-", "--style", style, stdin=NORM).stdout
        for style in ("explicit", "idiomatic")
    )
    assert invoke("ir", "-", stdin=NORM).stdout == explicit
    assert "rsqrt" in explicit
    assert "rms_norm" not in explicit
    _, body = idiomatic.split("forward(x)\n")
    assert "= rms_norm x weight" in body
    assert "rsqrt" not in body


NORM = """let norm [B, D]
    (x : Tensor[F32, [B, D]]) (weight : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : Tensor[F32, [B, D]] =
  let mean_sq = reduce_keep[mean, axis=1] (x * x) in
  let rstd    = rsqrt (mean_sq + broadcast eps [B, 1]) in
  x * broadcast rstd [B, D] * broadcast weight [B, D]
module Norm = norm with
  param weight = ones
  const eps = 1e-6
"""


def test_ir_of_a_wrong_program() -> None:
    result = invoke("ir", "-", stdin=BAD)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error[P0101]")
    assert invoke("ir", "missing.p0").exit_code == 1


def test_ops_shows_every_operation() -> None:
    forms = [operation.form for operation in OPERATIONS.values()]
    assert re.findall(r"^(\S.*)$", invoke("ops").stdout, re.MULTILINE) == forms


def test_ops_shows_one_operation_by_name_or_symbol() -> None:
    result = invoke("ops", "reduce_keep")
    assert "    Example: Tensor[F32, [B, S, D]] -> Tensor[F32, [B, 1, D]]\n" in result.stdout
    assert "    PyTorch: torch.sum(a, dim=1, keepdim=True)\n" in result.stdout
    assert "    FLOPs:   B*D*S\n" in result.stdout
    assert invoke("ops", "+").stdout == invoke("ops", "add").stdout


def test_ops_as_json_and_as_a_markdown_table() -> None:
    records = json.loads(invoke("ops", "--format", "json").stdout)
    assert [record["name"] for record in records] == list(OPERATIONS)
    assert all(record["torch"] and record["flops"] and record["typing"] for record in records)
    lines = invoke("ops", "--format", "md").stdout.splitlines()
    assert len(lines) == len(OPERATIONS) + 2
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}


def test_ops_of_an_unknown_name() -> None:
    result = invoke("ops", "reduce_kep")
    assert result.exit_code == 2
    assert "no operation 'reduce_kep'; did you mean reduce_keep" in result.stderr


def test_explain_prints_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "P0101.md").write_text("# The page é\n", encoding="utf-8")
    monkeypatch.setattr(explain_command, "_PAGES", (tmp_path / "absent", tmp_path))
    assert invoke("explain", "P0101").stdout == "# The page é\n"
    assert invoke("explain", "p0101").stdout == "# The page é\n"


def test_explain_without_a_page_has_the_words_of_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(explain_command, "_PAGES", ())
    for code, entry in table().items():
        output = invoke("explain", code).stdout
        assert output.startswith(f"# {code}: {entry.title}\n\n{entry.message}")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("P9999", ""),
        ("P1299", ""),
        ("rule", ""),
        ("503", "; did you mean P0503?"),
        ("pO5o3", "; did you mean P0503?"),
        ("P503", "; did you mean P0503?"),
    ],
)
def test_explain_of_an_unknown_code(code: str, hint: str) -> None:
    result = invoke("explain", code)
    assert result.exit_code == 2
    assert result.stderr.endswith(f"there is no code '{code}'{hint}\n")


@pytest.mark.parametrize("what", ["good.p0", "good.p0:x", "good.p0:-1", ""])
def test_explain_of_neither_a_code_nor_a_line(what: str) -> None:
    result = invoke("explain", what)
    assert result.exit_code == 2
    assert f"'{what}' is neither a code nor FILE:LINE" in result.stderr


@pytest.mark.parametrize("command", ["build", "review", "export"])
def test_an_empty_path_is_no_output(command: str) -> None:
    result = invoke(command, "-", "-o", "", stdin=GOOD)
    assert result.exit_code == 2
    assert "the path is empty" in result.stderr
