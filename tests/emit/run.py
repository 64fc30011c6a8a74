"""Emitting small programs, and looking at or running what comes out."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from p0trans.driver import Options as BuildOptions
from p0trans.driver import build_sources
from p0trans.emit import Options, emit_file
from p0trans.ir.program import Definition, Program
from p0trans.source import Source
from tests.emit.build import HEADER, Build, alone, fact, tensor


def emitted(program: Program, *, root: str = "main", **options: Any) -> str:
    return emit_file(program, root, Options(**options), HEADER).text


def built(text: str, folder: Path | None = None, **options: Any) -> str:
    """What is emitted for a program, which imports from `folder`."""
    path = None if folder is None else folder / "main.p0"
    source = Source("main.p0", text, path)
    (file,) = build_sources([source], BuildOptions(Options(**options))).files
    return file.text


def loaded(text: str) -> dict[str, Any]:
    """The names that an emitted file defines."""
    names: dict[str, Any] = {}
    exec(compile(text, "emitted.py", "exec"), names)
    return names


def namespace(program: Program, **options: Any) -> dict[str, Any]:
    """The names that the emitted file defines."""
    return loaded(emitted(program, **options))


def body(definition: Definition, **options: Any) -> str:
    """What follows the docstring in the function of a definition, without checks."""
    text = emitted(alone(definition), **{"checks": "none", **options})
    return textwrap.dedent(text.split('    """\n')[-1]).rstrip()


def rmsnorm(unit: str = "main", doc: str | None = None) -> Definition:
    """Case A of the casebook."""
    b = Build("rmsnorm", "B S D", unit=unit, doc=doc)
    x = b.parameter("x", tensor("F32", "B S D"))
    weight = b.parameter("weight", tensor("F32", "D"))
    eps = b.parameter("eps", tensor("F32"))
    x_sq = b.apply("mul", x, x, let="x_sq")
    mean_sq = b.apply("reduce_keep", x_sq, let="mean_sq", kind="mean", axis=2)
    eps_bcast = b.broadcast(eps, "B S 1", let="eps_bcast")
    denom_inner = b.apply("add", mean_sq, eps_bcast, let="denom_inner")
    rstd = b.apply("rsqrt", denom_inner, let="rstd")
    rstd_bcast = b.broadcast(rstd, "B S D", let="rstd_bcast")
    normed = b.apply("mul", x, rstd_bcast, let="normed")
    weight_bcast = b.broadcast(weight, "B S D", let="weight_bcast")
    return b.done(b.apply("mul", normed, weight_bcast))


def center(unit: str = "main") -> Definition:
    """A definition with two results."""
    b = Build("center", "B S", unit=unit)
    x = b.parameter("x", tensor("F32", "B S"))
    mean = b.apply("reduce_keep", x, owner="centered", kind="mean", axis=1)
    mean_bcast = b.broadcast(mean, "B S", owner="centered")
    centered = b.apply("sub", x, mean_bcast, let="centered")
    square = b.apply("mul", centered, centered)
    return b.done(b.pack(centered, b.apply("reduce", square, kind="mean", axis=1)))


def repeat_kv(unit: str = "main") -> Definition:
    """A definition with a shape variable that nothing determines, and one that follows."""
    b = Build("repeat_kv", "B G R S D H", unit=unit, assume=(fact("H == G*R"),))
    k = b.parameter("k", tensor("F32", "B G S D"))
    one = b.reshape(k, "B G 1 S D", let="one")
    return b.done(b.reshape(b.broadcast(one, "B G R S D"), "B H S D"))
