"""The standard library as the checker sees it, and calling one definition of it as a user does."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch

import p0trans
from p0trans.checker import Checked
from p0trans.dtypes import DTYPES
from p0trans.emit.options import Style
from p0trans.interpret import interpret
from p0trans.ir.program import Definition, Module
from p0trans.shapes.solve import Given
from p0trans.types import TensorType
from tests.tensors import random_tensor, to_numpy, to_torch

STD = Path(p0trans.__file__).parent / "std"
FILES = sorted(path.stem for path in STD.glob("*.p0"))

Sizes = Mapping[str, int]
STYLE: Style = "explicit"


@cache
def checked(file: str) -> Checked:
    return p0trans.check(STD / f"{file}.p0")


def definitions(file: str) -> Mapping[str, Definition]:
    return {d.name: d for d in checked(file).program.units[-1].definitions}


def modules(file: str) -> Mapping[str, Module]:
    return {m.name: m for m in checked(file).program.units[-1].modules}


@cache
def loaded(file: str) -> types.ModuleType:
    """The emitted module of a file."""
    return p0trans.load(STD / f"{file}.p0", style=STYLE)


def caller(file: str, name: str) -> str:
    """A program that imports a definition and calls it with parameters of its own.

    A size that only an `assume` speaks of is written where it is used, as a user would.
    """
    definition = definitions(file)[name]
    derived = _derived(definition)
    own = [v for v in definition.shape_parameters if v not in derived]
    facts = [fact for fact in definition.assume if str(fact.left) not in derived]
    parameters = " ".join(f"({p.name} : {p.type})" for p in definition.parameters)
    arguments = ", ".join(derived.get(v, v) for v in definition.shape_parameters)
    call = " ".join((f"{name}[{arguments}]", *(p.name for p in definition.parameters)))
    assume = f" assume {', '.join(map(str, facts))}" if facts else ""
    return (
        f"from std.{file} import {name}\n"
        f"let use [{', '.join(own)}] {parameters} : {definition.result_type}{assume} =\n  {call}\n"
    )


def _derived(definition: Definition) -> dict[str, str]:
    """The sizes that no type speaks of and an equation gives, with what it gives."""
    types_ = [definition.result_type, *(p.type for p in definition.parameters)]
    typed = {name for type_ in types_ for name in _variables(type_)}
    return {
        str(fact.left): str(fact.right) for fact in definition.assume if str(fact.left) not in typed
    }


def _variables(type_: Any) -> set[str]:
    if isinstance(type_, TensorType):
        return {name for dim in type_.shape for name in dim.variables()}
    return {name for item in type_.items for name in _variables(item)}


@cache
def called(file: str, name: str) -> type[torch.nn.Module]:
    """The emitted module of `caller`: `forward` takes the parameters of the definition."""
    return p0trans.load(caller(file, name), style=STYLE).Use  # type: ignore[no-any-return]


def inputs(
    definition: Definition, sizes: Sizes, said: Mapping[str, Any]
) -> dict[str, torch.Tensor]:
    """The arguments at `sizes`: what is said for a name, random numbers otherwise."""
    torch.manual_seed(1)
    values = {}
    for parameter in definition.parameters:
        assert isinstance(parameter.type, TensorType)
        shape = [dim.evaluate(sizes) for dim in parameter.type.shape]
        if parameter.name in said:
            values[parameter.name] = said[parameter.name](shape, sizes)
        else:
            values[parameter.name] = random_tensor(parameter.type.dtype, shape)
    return values


def interpreted(
    file: str, name: str, values: Sequence[torch.Tensor], sizes: Sizes
) -> tuple[torch.Tensor, ...]:
    """The results in the reference interpreter."""
    definition = definitions(file)[name]
    free = {b.variable: sizes[b.variable] for b in definition.bindings if isinstance(b, Given)}
    found = interpret(checked(file).program, definition, [*map(to_numpy, values)], free)
    return tuple(map(to_torch, found)) if isinstance(found, tuple) else (to_torch(found),)


def construct(cls: Any, sizes: Sizes) -> Any:
    """An instance of an emitted class at `sizes`."""
    names = inspect.signature(cls).parameters
    return cls(**{name: sizes[name] for name in names if name in sizes})


def results(value: Any) -> tuple[torch.Tensor, ...]:
    return value if isinstance(value, tuple) else (value,)


def gradients(
    value: tuple[torch.Tensor, ...], leaves: Sequence[torch.Tensor]
) -> tuple[torch.Tensor, ...]:
    """The gradients of a loss: the mean of all results, each with a fixed random weight."""
    torch.manual_seed(2)
    loss = sum((one * torch.randn(one.shape)).mean() for one in value)
    return torch.autograd.grad(loss, leaves)  # type: ignore[arg-type]


def assert_close(found: Sequence[torch.Tensor], wanted: Sequence[torch.Tensor]) -> None:
    """Equal to the tolerances of F32."""
    assert len(found) == len(wanted)
    f32 = DTYPES["F32"]
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=f32.rtol, atol=f32.atol, equal_nan=True)
