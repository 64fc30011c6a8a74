"""`p0trans export`: through torch.export and back at other sizes, and StableHLO."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner, Result

from p0trans.cli.export import command
from p0trans.driver import check_sources
from p0trans.tools import export
from tests.emit.accepted import PATHS, Accepted, accepted

# It reads the bytes that it is given in place.
pytestmark = pytest.mark.filterwarnings("ignore:The given buffer is not writable:UserWarning")

CASE_A = PATHS["casebook_a_rmsnorm"]
NORM = """let rmsnorm [B, S, D] (x : Tensor[F32, [B, S, D]]) (weight : Tensor[F32, [D]])
    : Tensor[F32, [B, S, D]] =
  let mean_sq = reduce_keep[mean, axis=2] (x * x) in
  x * broadcast (rsqrt mean_sq) [B, S, D] * broadcast weight [B, S, D]

module Norm = rmsnorm with
  param weight = normal(1.0)
"""
# What the sizes of one axis have to do with those of others, in every way.
RELATED = {
    "less": """let fill [S, T] (x : Tensor[F32, [S]]) (y : Tensor[F32, [T]])
    : Tensor[F32, [T]] where S < T, T <= 64 =
  concat[axis=0] x (slice[axis=0, start=S, stop=T] y)
""",
    "unequal": """let both [S, T] (x : Tensor[F32, [S]]) (y : Tensor[F32, [T]])
    : Tensor[F32, [S + T]] where S != T =
  concat[axis=0] x y
""",
    "sum": """let head [A, B] (x : Tensor[F32, [A + B]]) (y : Tensor[F32, [A]])
    : Tensor[F32, [A]] =
  slice[axis=0, start=0, stop=A] x + y
""",
    "even": """let halves [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D / 2]]
    where D % 2 == 0 =
  slice[axis=1, start=0, stop=D/2] x * slice[axis=1, start=D/2, stop=D] x
""",
    "known": """let embed [B, S, L, D] (x : Tensor[F32, [B, S, D]]) (table : Tensor[F32, [L, D]])
    : Tensor[F32, [B, S, D]] where S <= L =
  x + broadcast (slice[axis=0, start=0, stop=S] table) [B, S, D]

module Embed = embed with
  param table = normal(0.02)
""",
    "tuple": """let swap [B, K] (pair : (Tensor[F32, [B, 2*K]], Tensor[I64, [K]]))
    : (Tensor[I64, [K]], Tensor[F32, [B, 2*K]]) =
  let (a, b) = pair in
  (b, a)
""",
}


def _run(*arguments: str, source: str | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=source)


def _exported(case: Accepted, dims: Mapping[str, int]) -> Any:
    """What the `.pt2` file of a program's last module holds, called like the module."""
    program = check_sources([case.source]).program
    subject = export.choose_module(program, case.subject.name)
    return torch.export.load(io.BytesIO(export.exported_bytes(program, subject, dims))).module()


def _assert_serves(case: Accepted, least: int) -> None:
    """One export serves five sizes of at least `least`."""
    first, *_ = case.sizes(1, 2)
    fixed = case.constructor(first)
    exported = _exported(case, fixed)
    module = case.made(case.namespace(), first)
    module.load_state_dict(exported.state_dict())
    sizes = case.sizes(5, least, **fixed)
    assert len(sizes) == 5
    for one in sizes:
        inputs = case.inputs(one)
        torch.testing.assert_close(exported(*inputs), module(*inputs), equal_nan=True)


@pytest.mark.parametrize("name", PATHS)
def test_one_export_serves_all_sizes(name: str) -> None:
    """From 2 on: PyTorch itself assumes that some axes which a reshape merges are not 1."""
    _assert_serves(accepted(PATHS[name]), 2)


@pytest.mark.parametrize("name", RELATED)
def test_sizes_that_depend_on_each_other(name: str) -> None:
    _assert_serves(accepted(RELATED[name]), 1)


def test_other_sizes_are_refused() -> None:
    exported = _exported(accepted(RELATED["less"]), {})
    with pytest.raises((AssertionError, RuntimeError)):
        exported(torch.ones(5), torch.ones(3))
    with pytest.raises((AssertionError, RuntimeError)):
        exported(torch.ones(5), torch.ones(65))


def test_a_file_beside_the_source(tmp_path: Path) -> None:
    source = tmp_path / "norm.p0"
    source.write_text(CASE_A.read_text())
    result = _run(str(source))
    assert (result.exit_code, result.output) == (0, "")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["norm.p0", "norm.pt2"]
    module = torch.export.load(tmp_path / "norm.pt2").module()
    for shape in ((2, 3, 8), (1, 1, 1), (5, 7, 4)):
        x, weight = torch.rand(shape), torch.rand(shape[-1])
        expected = torch.nn.functional.rms_norm(x, shape[-1:], weight, 1e-5)
        torch.testing.assert_close(module(x, weight, torch.tensor(1e-5)), expected)


def test_parameters_begin_the_same_each_time() -> None:
    case = accepted(NORM)
    before = torch.random.get_rng_state()
    one, other = (_exported(case, {"D": 4}).state_dict() for _ in range(2))
    assert torch.equal(one["weight"], other["weight"])
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "x.pt2"), "Error: the sizes of D are needed: give them with --dims"),
        (("-o", "x.pt2", "--dims", "Q=2"), "`Q` is no shape variable of Norm; it has B, S, D"),
        (("-o", "x.pt2", "--module", "Nor"), "the file has no module `Nor`; it has Norm"),
        (("--to", "stablehlo", "--dims", "D=4,S=2"), "the sizes of B are needed"),
        (("-o", "x.pt2", "--dims", "D=4,S=2"), "`S` varies in what is exported"),
    ],
)
def test_what_is_missing_is_named(arguments: tuple[str, ...], words: str) -> None:
    result = _run("-", *arguments, source=NORM)
    assert result.exit_code == 1
    assert words in result.stderr
    assert result.stderr.count("\n") == 1


def test_several_modules_need_a_name() -> None:
    other = "module Scale = rmsnorm with\n  param weight = ones\n"
    result = _run("-", "-o", "x.pt2", "--dims", "D=4", source=NORM + other)
    assert result.exit_code == 1
    assert result.stderr == "Error: name the module to export; the file has Norm, Scale\n"


def test_sizes_that_break_a_fact() -> None:
    result = _run("-", "-o", "x.pt2", "--dims", "S=5,T=4", source=RELATED["less"])
    assert result.exit_code == 1
    assert result.stderr == "Error: Fill needs S < T, which is false for S = 5, T = 4\n"


@pytest.mark.parametrize("text", ["B", "B=", "B=0", "=2", "B=x"])
def test_dims_that_are_no_pairs(text: str) -> None:
    result = _run("-", "-o", "x.pt2", "--dims", text, source=NORM)
    assert result.exit_code == 2
    assert f"'{text}' is not NAME=SIZE" in result.stderr


def test_a_program_that_is_wrong_is_reported() -> None:
    result = _run("-", "-o", "x.pt2", source=NORM.replace("x * x", "x * y"))
    assert result.exit_code == 1
    assert result.stderr.startswith("error[")


def test_a_binary_file_is_not_printed() -> None:
    result = _run("-", source=NORM)
    assert result.exit_code == 2
    assert "-o FILE" in result.stderr


@pytest.mark.parametrize("output", ["folder", "norm.p0"])
def test_what_cannot_be_written(tmp_path: Path, output: str) -> None:
    (tmp_path / "folder").mkdir()
    source = tmp_path / "norm.p0"
    source.write_text(NORM)
    result = _run(str(source), "--dims", "D=4", "-o", str(tmp_path / output))
    assert result.exit_code == 1
    assert "cannot be written" in " ".join(result.stderr.split())
    assert source.read_text() == NORM
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "norm.p0"]


@pytest.mark.parametrize(
    ("missing", "form"), [("torch", "export"), ("torch_xla", "stablehlo"), ("torch", "stablehlo")]
)
def test_a_missing_package_is_named(
    missing: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "p0trans.tools.export.find_spec", lambda name: None if name == missing else find_spec(name)
    )
    dims = "D=4" if form == "export" else "B=2,S=3,D=4"
    result = _run("-", "-o", "x", "--to", form, "--dims", dims, source=NORM)
    assert result.exit_code == 1
    assert re.fullmatch(rf"Error: exporting needs {missing}: pip install '.*'\n", result.stderr)


def _stablehlo(*arguments: str, source: str = "") -> str:
    """In a process of its own, since torch_xla keeps the one that it is imported in."""
    script = "from p0trans.cli.export import command; command()"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments, "--to", "stablehlo", "-o", "-"],
        input=source,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PJRT_DEVICE": "CPU"},
    )
    return done.stdout


KINDS = """let kinds [B, S] (x : Tensor[BF16, [B, S]]) (n : Tensor[I64, [B]])
    (w : Tensor[BF16, [S]]) (v : Tensor[BF16, [S]]) (c : Tensor[BF16, []])
    : (Tensor[BF16, [B, S]], Tensor[I64, [B]]) =
  let low = x < broadcast (const[BF16] 0.25) [B, S] && broadcast true [B, S] in
  let far = select low x (broadcast (const[BF16] (-inf)) [B, S]) in
  (far * broadcast c [B, S] + broadcast (w * v) [B, S], n + broadcast (const[I64] 3) [B])

module Kinds = kinds with
  param w = normal(1.0)
  buffer v = ones
  const c = 2.5
"""


def test_arguments_of_stablehlo() -> None:
    """Numbers are in the text, what is an argument is named, and one that is a Bool has a value."""
    text = _stablehlo("-", "--dims", "B=2,S=3", source=KINDS)
    named = dict(re.findall(r"^// (%arg\d): (.*)$", text, re.M))
    assert sorted(named.values()) == [
        "buffer v",
        "constant true",
        "input n",
        "input x",
        "parameter w",
    ]
    (declared,) = re.findall(r"@main\((.*?)\) ->", text)
    assert re.findall(r"%arg\d", declared) == list(named)
    constants = set(re.findall(r"constant dense<(.*?)>", text))
    assert {"2.500000e-01", "2.500000e+00", "3"} <= constants
    assert constants & {"0xFF80", "0xFF800000"}


def test_stablehlo_of_case_a() -> None:
    text = _stablehlo(str(CASE_A), "--dims", "B=2,S=3,D=8")
    assert sorted(re.findall(r"^// %arg\d: (.*)$", text, re.M)) == [
        "input eps",
        "input weight",
        "input x",
    ]
    assert len(re.findall(r"\bstablehlo\.rsqrt\b", text)) == 1
    assert len(re.findall(r"\bstablehlo\.reduce\b", text)) == 1
    assert "mhlo.is_dynamic = false" in text
    assert "tensor<?" not in text
    assert "x?" not in text
    assert "-> tensor<2x3x8xf32>" in text
