"""Running a generated program by the reference interpreter and as the emitted module."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import torch

import p0trans
from p0trans.dtypes import DTYPES, DType
from p0trans.emit.options import Checks, Style
from p0trans.interpret import interpret, numpy_dtype
from p0trans.ir.program import Definition, Module, Program
from p0trans.shapes.solve import Given
from p0trans.targets import Target
from tests.programs import Generated
from tests.tensors import to_numpy, to_torch


def torch_values(value: Any) -> Any:
    return tuple(map(torch_values, value)) if isinstance(value, tuple) else to_torch(value)


def arrays(value: Any) -> Any:
    return tuple(map(arrays, value)) if isinstance(value, tuple) else to_numpy(value.detach())


def entry(program: Program, name: str) -> Definition:
    return next(d for d in program.units[-1].definitions if d.name == name)


def given_sizes(definition: Definition, sizes: Mapping[str, int]) -> dict[str, int]:
    names = [b.variable for b in definition.bindings if isinstance(b, Given)]
    return {name: sizes[name] for name in names}


def interpreted(program: Program, example: Generated) -> Any:
    """What the interpreter makes of the example's definition, found in `program` by its name."""
    definition = entry(program, example.entry)
    given = given_sizes(definition, example.sizes)
    return interpret(program, definition, example.inputs, given)


@lru_cache(maxsize=4)
def _loaded(text: str, checks: Checks, style: Style, target: Target) -> ModuleType:
    """Many examples may be definitions of one text."""
    return p0trans.load(text, checks=checks, style=style, target=target)


@lru_cache(maxsize=4)
def checked_program(text: str) -> Program:
    return p0trans.check(text).program


class Prepared(NamedTuple):
    """An emitted module with its state, and what its `forward` is called with."""

    instance: torch.nn.Module
    inputs: tuple[Any, ...]
    keywords: dict[str, int]

    def run(self) -> Any:
        return self.instance(*self.inputs, **self.keywords)


def module_of(program: Program, example: Generated) -> Module:
    """The module of the definition that the example runs."""
    reference = entry(program, example.entry).reference
    return next(m for m in program.units[-1].modules if m.definition == reference)


def prepared(
    example: Generated, module: Module, checks: Checks, style: Style, target: Target = "torch"
) -> Prepared:
    """The emitted class of `module` made for the example's sizes, with the example's state."""
    namespace = _loaded(example.text, checks, style, target)
    cls = next(
        getattr(namespace, name)
        for name in sorted(namespace.__all__, reverse=True)
        if name.rstrip("_") == module.name.rstrip("_")
    )
    values = [torch_values(value) for value in example.inputs]
    arguments: dict[str, Any] = {}
    defaults: list[str] = []
    for parameter in list(inspect.signature(cls.__init__).parameters.values())[1:]:
        variable = sized(parameter.name, example.sizes)
        if parameter.default is inspect.Parameter.empty and variable is not None:
            arguments[parameter.name] = example.sizes[variable]
        elif parameter.default not in (inspect.Parameter.empty, None):
            defaults.append(parameter.name)
    for name, const in zip(defaults, module.consts, strict=True):
        arguments[name] = values[const.parameter].item()
    instance = cls(**arguments)
    for kind, owned in (("param", instance.parameters()), ("buffer", instance.buffers())):
        states = [state for state in module.states if state.kind == kind]
        for state, tensor in zip(states, owned, strict=True):
            with torch.no_grad():
                tensor.copy_(values[state.parameter])
    inputs = tuple(value for index, value in enumerate(values) if index not in module.owned)
    keywords = {
        parameter.name: example.sizes[variable]
        for parameter in inspect.signature(instance.forward).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        and (variable := sized(parameter.name, example.sizes)) is not None
    }
    return Prepared(instance, inputs, keywords)


def emitted(example: Generated, module: Module, checks: Checks, style: Style) -> Any:
    """What the emitted class of `module` gives on the example's inputs."""
    return arrays(prepared(example, module, checks, style).run())


def sized(name: str, sizes: Mapping[str, int]) -> str | None:
    """The shape variable that a Python parameter stands for."""
    return next((s for s in (name, name.rstrip("_"), name + "_") if s in sizes), None)


def close(found: Any, wanted: Any, tolerance: DType | None = None) -> bool:
    """Whether two results of the interpreter are the same up to the order of operations.

    Floats are compared by the tolerance of their dtype, or of another one.
    """
    if isinstance(wanted, tuple) or isinstance(found, tuple):
        return len(found) == len(wanted) and all(
            close(one, other, tolerance) for one, other in zip(found, wanted, strict=True)
        )
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    dtype = next(dtype for dtype in DTYPES.values() if numpy_dtype(dtype) == wanted.dtype)
    if not dtype.is_float:
        return bool((found == wanted).all())
    one, other = found.astype(np.float64), wanted.astype(np.float64)
    allowed = tolerance or dtype
    return bool(np.isclose(one, other, allowed.rtol, allowed.atol, equal_nan=True).all())
