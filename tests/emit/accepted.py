"""The accepted cases and an example with state as modules, with inputs at any sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from p0trans.driver import Options, build_sources, check_sources
from p0trans.emit import Options as EmitOptions
from p0trans.files import read_source
from p0trans.shapes.dim import Constraint, constant, variable
from p0trans.shapes.sample import sample_sizes
from p0trans.source import Source
from p0trans.tools.verify_subjects import Subject, subjects
from p0trans.types import TensorType, Type
from tests.casefile import cases

BLOCK = Path(__file__).parents[2] / "examples" / "casebook" / "block.p0"
PATHS = {**{case.path.stem: case.path for case in cases("accept")}, "example_block": BLOCK}


@dataclass(frozen=True)
class Accepted:
    """The last module of a program: the source, and what is emitted for it."""

    source: Source
    subject: Subject

    def emitted(self, **options: Any) -> str:
        (file,) = build_sources([self.source], Options(EmitOptions(**options))).files
        return file.text

    def namespace(self, **options: Any) -> dict[str, Any]:
        names: dict[str, Any] = {}
        exec(compile(self.emitted(**options), "emitted.py", "exec"), names)
        return names

    def sizes(self, count: int, least: int = 1, **fixed: int) -> Sequence[Mapping[str, int]]:
        """Different sizes of at least `least`, where no equation wants less."""
        names = self.subject.definition.shape_parameters
        constraints = [
            *(Constraint(variable(name), ">=", constant(least)) for name in names),
            *(Constraint(variable(name), "==", constant(size)) for name, size in fixed.items()),
        ]
        return sample_sizes(names, (*self.subject.constraints, *constraints), count, 0)

    def constructor(self, sizes: Mapping[str, int]) -> dict[str, int]:
        """Those of `sizes` that the module is made with."""
        return {name: sizes[name] for name in self.subject.keywords}

    def made(self, names: Mapping[str, Any], sizes: Mapping[str, int]) -> torch.nn.Module:
        """The emitted module at some sizes."""
        keywords = {word: sizes[name] for name, word in self.subject.keywords.items()}
        module: torch.nn.Module = names[self.subject.name](**keywords)
        return module

    def inputs(self, sizes: Mapping[str, int]) -> tuple[Any, ...]:
        plan = self.subject.plan
        assert plan is not None
        return tuple(_value(plan.definition.parameters[i].type, sizes) for i in plan.inputs)


def accepted(source: Path | str) -> Accepted:
    """A program by its path or text."""
    read = read_source(source) if isinstance(source, Path) else Source("main.p0", source)
    assert isinstance(read, Source)
    program = check_sources([read]).program
    modules = [item for item in subjects(program, program.roots[0]) if item.plan is not None]
    return Accepted(read, modules[-1])


def _value(type_: Type, sizes: Mapping[str, int]) -> Any:
    """Positive floats, and integers that are in range for every index."""
    if not isinstance(type_, TensorType):
        return tuple(_value(item, sizes) for item in type_.items)
    shape = [dim.evaluate(sizes) for dim in type_.shape]
    kind = getattr(torch, type_.dtype.torch)
    return torch.rand(shape).to(kind) if type_.dtype.is_float else torch.zeros(shape, dtype=kind)
