"""What ruff, mypy and black say of emitted files, all in one go."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import get_args

import pytest

from p0trans import driver
from p0trans.emit import Annotate, Checks, Options, Style
from p0trans.files import read_source
from p0trans.ir.program import Apply, Definition, Program, Step
from p0trans.ops import OPERATIONS
from p0trans.shapes.dim import Dim
from p0trans.source import Source, Span
from p0trans.targets import Target
from p0trans.types import TensorType
from tests.emit.build import Build, alone, buffer, const, module, param, sub, tensor
from tests.emit.run import center, emitted, repeat_kv, rmsnorm

ROOT = Path(__file__).parent.parent.parent
SOURCES = sorted(
    path for folder in ("tests/cases/accept", "examples") for path in ROOT.glob(f"{folder}/**/*.p0")
)
SETTINGS: tuple[tuple[Checks, Annotate], ...] = tuple(product(get_args(Checks), get_args(Annotate)))


def _every_operation() -> Program:
    """A definition for each sample of each operation of the table."""
    definitions: list[Definition] = []
    for operation in OPERATIONS.values():
        for index, sample in enumerate(operation.samples):
            if not isinstance(sample.outcome, TensorType):
                continue
            attributes = [
                item
                for value in sample.attributes.values()
                for item in (value if isinstance(value, tuple) else (value,))
            ]
            dims = [dim for type_ in (*sample.operands, sample.outcome) for dim in type_.shape]
            dims += [item for item in attributes if isinstance(item, Dim)]
            variables = sorted({name for dim in dims for name in dim.variables()})
            b = Build(f"{operation.name}_{index}_", " ".join(variables), where=sample.where)
            operands = tuple(b.parameter(f"x{i}", type_) for i, type_ in enumerate(sample.operands))
            node = Apply(operation.name, operands, sample.attributes)
            b.steps.append(Step(node, sample.outcome, Span(0, 0)))
            definitions.append(b.done(len(operands)))
    return alone(*definitions)


def _modules() -> Program:
    """State of every kind, children with one and two results, nesting, numbers."""
    norm = rmsnorm()
    norm_module = module("RMSNorm", norm, [param(1)], [const(2, 1e-6)])
    center_module = module("Center", center())
    b = Build("block", "B S D")
    x = b.parameter("x", tensor("F32", "B S D"))
    w, eps = b.parameter("w", tensor("F32", "D")), b.parameter("eps", tensor("F32"))
    mask = b.parameter("mask", tensor("F32", "S D"))
    normed = b.call(norm, "B S D", x, w, eps, owner="y")
    y = b.apply("add", normed, b.broadcast(mask, "B S D", owner="y"), let="y")
    total = b.apply("reduce", y, let="total", kind="sum", axis=2)
    pair = b.call(center(), "B S", total)
    c, v = b.project(pair, 0, let="c"), b.project(pair, 1, let="v")
    block = b.done(b.pack(c, v))
    children = [
        sub("norm", norm_module, [(1, 1), (2, 2)], [normed], "B S D"),
        sub("center", center_module, [], [pair], "B S"),
    ]
    block_module = module("Block", block, [buffer(3)], subs=children)
    b = Build("outer", "B S D")
    for parameter in block.parameters:
        b.parameter(parameter.name, parameter.type)
    call = b.call(block, "B S D", 0, 1, 2, 3)
    bound = [(1, 1), (2, 2), (3, 3)]
    outer = b.done(call)
    outer_module = module("Outer", outer, subs=[sub("type", block_module, bound, [call], "B S D")])
    modules = [center_module, norm_module, block_module, outer_module]
    return alone(norm, center(), block, repeat_kv(), outer, modules=modules)


def _unused_parts() -> Program:
    """A function that leaves out both an axis and an item of a tuple."""
    b = Build("second", "B S T")
    b.parameter("x", tensor("F32", "B S T"))
    z = b.parameter("z", tensor("F32", "B S"))
    pair = b.call(center(), "B S", z)
    b.project(pair, 0, let="c")
    v = b.project(pair, 1, let="v")
    return alone(center(), b.done(b.broadcast(v, "T B")))


# Names that an emitted file gives a meaning, as those of children, parameters and inputs.
_NAMES = """
from std.linear import linear_no_bias, LinearNoBias

let f [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D, D]])
    (torch : Tensor[F32, [D]]) (__v : Tensor[F32, [D]]) (dtype : Tensor[F32, [B, S, D]])
    : Tensor[F32, [B, S, D]] =
  let y = linear_no_bias[B, S, D, D] x w * broadcast (torch * __v) [B, S, D] in
  y + dtype * broadcast (reduce_keep[sum, axis=0] w) [B, S, D]

module Net = f with
  sub NAME = LinearNoBias(weight = w)
  param torch = ones
  param __v = ones
"""
# What a child gives is Any to a type checker, whatever becomes of it.
_UNTYPED = """
let two [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]])
    : (Tensor[F32, [B, D]], Tensor[F32, [B, D]]) =
  (x * broadcast w [B, D], x)
module Two = two with
  param w = ones

let one [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  x * broadcast w [B, D]
module One = one with
  param w = ones

let f [B, D] (x : Tensor[F32, [B, D]]) (v : Tensor[F32, [D]]) (w : Tensor[F32, [D]])
    (p : (Tensor[F32, [B, D]], (Tensor[F32, [D]], Tensor[I64, [B]]))) : RESULT =
BODY
module Net = f with
  sub one = One(w = v)
  sub two = Two(w = w)
"""
_PAIR = "(Tensor[F32, [B, D]], Tensor[F32, [B, D]])"
_ONE = "one[B, D] x v"
_TWO = "let (a, b) = two[B, D] x w in"
_OPEN = "let (m, n) = z in"
_BODIES = {
    "items": ("", f"{_TWO} a + b + {_ONE}"),
    "item": ("", f"let y = {_ONE} + x in {_TWO} let (c, d) = two[B, D] (a + y) w in c"),
    "again": ("", f"let y = tanh x in {_TWO} let c = y + a in let y = {_ONE} in c + y * y"),
    "again_input": ("", f"{_TWO} let x = {_ONE} in x + x * b"),
    "again_item": ("", f"{_TWO} let c = a + b in let a = {_ONE} in c * a - a"),
    "pair": ("", f"{_TWO} let z = (a, tanh b) in let y = {_ONE} in {_OPEN} m + n * y"),
    "pair_item": ("", f"{_TWO} let z = (a, b) in let y = {_ONE} in {_OPEN} m"),
    "pairs": (_PAIR, f"{_TWO} (a + {_ONE}, b)"),
    "call": (_PAIR, f"let y = {_ONE} in two[B, D] (y * x) w"),
    "input": ("", f"let (c, r) = p in let (d, n) = r in {_TWO} c + {_ONE} - a * b"),
}


def _awkward() -> Iterator[tuple[str, str]]:
    for name in ("F", "math", "torch_", "dtype_", "__call__", "__class__", "__x"):
        yield f"name_{name}", _NAMES.replace("NAME", name)
    for name, (result, body) in _BODIES.items():
        text = _UNTYPED.replace("BODY", f"  {body}")
        yield f"untyped_{name}", text.replace("RESULT", result or "Tensor[F32, [B, D]]")


def _files() -> Iterator[tuple[str, str]]:
    """Files by name: programs in the IR with all options, and Phase 0 programs for all targets."""
    same = Build("same", "N")
    same.parameter("x", tensor("F32", "N"))
    programs = {
        "operations": _every_operation(),
        "modules": _modules(),
        "unused_parts": _unused_parts(),
        "same": alone(same.done(0)),
    }
    for name, program in programs.items():
        for check, annotate in SETTINGS:
            yield f"{name}_{check}_{annotate}", emitted(program, checks=check, annotate=annotate)
        for target in get_args(Target):
            text = emitted(program, target=target, dynamic_shapes=True)
            yield f"{name}_{target}", text
            # Whether torch_xla is installed or not, what imports it must be clean.
            yield f"{name}_{target}_alone", text.replace("torch_xla", "torch_xla_elsewhere")
    for path in SOURCES:
        source = read_source(path)
        assert isinstance(source, Source)
        for check, annotate in SETTINGS:
            yield f"{path.stem}_{check}_{annotate}", _built(
                source, Options(checks=check, annotate=annotate, dynamic_shapes=True)
            )
        for target in get_args(Target):
            yield f"{path.stem}_{target}", _built(source, Options(target=target))
    for name, text in _awkward():
        source = Source("main.p0", text)
        for style in get_args(Style):
            for check in get_args(Checks):
                options = Options(style=style, checks=check, dynamic_shapes=True)
                yield f"{name}_{style}_{check}", _built(source, options)


def _built(source: Source, options: Options) -> str:
    (file,) = driver.build_sources([source], driver.Options(options)).files
    return file.text


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("emitted")
    for name, text in _files():
        (path / f"{name}.py").write_text(text)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "--isolated", "--no-cache", "."],
        ["ruff", "check", "--isolated", "--no-cache", "--select", "E4,E7,E9,F,I", "."],
        ["black", "--check", "--quiet", "."],
        ["mypy", "--strict", "--no-incremental", "--config-file=", "."],
    ],
    ids=["ruff", "ruff-classic", "black", "mypy"],
)
def test_the_files_are_clean(command: list[str], folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
