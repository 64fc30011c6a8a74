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
from p0trans.emit import Annotate, Checks, Options
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
