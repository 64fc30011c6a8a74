"""Every accepted program: checked, interpreted, emitted and run, all equal to its oracle."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
import pytest
import torch

import p0trans
from p0trans.checker import Checked
from p0trans.diagnostics.model import Severity
from p0trans.emit.options import Annotate, Checks, Style
from p0trans.interpret import interpret
from p0trans.ir.program import Definition
from p0trans.ir.verify import verify
from p0trans.targets import Target
from p0trans.types import TensorType
from tests.casefile import Case, cases
from tests.tensors import random_tensor, to_numpy, to_torch

ACCEPTED = pytest.mark.parametrize("case", cases("accept"), ids=lambda case: case.path.stem)
RUNS = pytest.mark.parametrize(
    ("style", "target", "checks", "annotate"),
    [
        *itertools.product(get_args(Style), ("torch",), get_args(Checks), get_args(Annotate)),
        # The other targets add hooks, and may choose other forms of an idiom.
        *(("idiomatic", target, "full", "plain") for target in get_args(Target)[1:]),
    ],
)


def checked(case: Case) -> tuple[Checked, Definition]:
    result = p0trans.check(case.path)
    assert [d for d in result.diagnostics if d.severity is not Severity.NOTE] == []
    return result, result.program.units[-1].definitions[-1]


def inputs(case: Case, definition: Definition, sizes: Mapping[str, int]) -> list[torch.Tensor]:
    """The definition's arguments at `sizes`: what the case says, random numbers otherwise."""
    said = dict(line.split(" = ", 1) for line in case.all("input"))
    torch.manual_seed(1)
    values = []
    for parameter in definition.parameters:
        if parameter.name in said:
            values.append(eval(said[parameter.name], {"torch": torch}))
        else:
            assert isinstance(parameter.type, TensorType)
            shape = [dim.evaluate(sizes) for dim in parameter.type.shape]
            values.append(random_tensor(parameter.type.dtype, shape))
    return values


def expected(
    case: Case, definition: Definition, values: Sequence[torch.Tensor], sizes: Mapping[str, int]
) -> Any:
    """The oracle's value. It uses the argument names, as Python can spell them."""
    oracle = case.one("oracle")
    assert oracle is not None
    names = [parameter.name for parameter in definition.parameters]
    arguments = dict(zip(names, values, strict=True))
    spelled = {f"{name}_": value for name, value in arguments.items()}
    return eval(oracle, {"torch": torch, **sizes, **spelled, **arguments})


def assert_equal(found: Any, wanted: Any, definition: Definition) -> None:
    types = getattr(definition.result_type, "items", (definition.result_type,))
    found = found if isinstance(found, tuple) else (found,)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    for one, other, type_ in zip(found, wanted, types, strict=True):
        assert one.dtype == other.dtype == getattr(torch, type_.dtype.torch)
        assert one.shape == other.shape
        torch.testing.assert_close(
            one, other, rtol=type_.dtype.rtol, atol=type_.dtype.atol, equal_nan=True
        )


def given(function: Any, sizes: Mapping[str, int]) -> dict[str, int]:
    """The sizes among the parameters of `function`."""
    return {name: sizes[name] for name in inspect.signature(function).parameters if name in sizes}


@ACCEPTED
def test_the_ir_is_valid(case: Case) -> None:
    verify(checked(case)[0].program)


@ACCEPTED
def test_interpreter_equals_oracle(case: Case) -> None:
    result, definition = checked(case)
    for sizes in case.dims():
        values = inputs(case, definition, sizes)
        free = [b.variable for b in definition.bindings if type(b).__name__ == "Given"]
        found = interpret(
            result.program,
            definition,
            [to_numpy(value) for value in values],
            {name: sizes[name] for name in free},
        )
        as_torch = tuple(map(to_torch, found)) if isinstance(found, tuple) else to_torch(found)
        assert_equal(as_torch, expected(case, definition, values, sizes), definition)


@ACCEPTED
@RUNS
def test_emitted_module_equals_oracle(
    case: Case, style: Style, target: Target, checks: Checks, annotate: Annotate
) -> None:
    result, definition = checked(case)
    module = p0trans.load(case.path, style=style, target=target, checks=checks, annotate=annotate)
    cls = getattr(module, result.program.units[-1].modules[-1].name)
    for sizes in case.dims():
        values = inputs(case, definition, sizes)
        found = cls(**given(cls, sizes))(*values)
        assert_equal(found, expected(case, definition, values, sizes), definition)


@ACCEPTED
def test_boundary_names_the_argument(case: Case) -> None:
    """A wrong rank in any tensor argument is refused with the argument's name."""
    result, definition = checked(case)
    module = p0trans.load(case.path)
    cls = getattr(module, result.program.units[-1].modules[-1].name)
    sizes = case.dims()[0]
    values = inputs(case, definition, sizes)
    instance = cls(**given(cls, sizes))
    for index, parameter in enumerate(definition.parameters):
        wrong = list(values)
        wrong[index] = wrong[index][None]
        name = list(inspect.signature(instance.forward).parameters)[index]
        with pytest.raises(ValueError, match=rf"\b{name}\b"):
            instance(*wrong)
        assert name.rstrip("_") == parameter.name.rstrip("_")


def test_numpy_is_not_shared() -> None:
    """The helper that makes NumPy arrays copies: engines must not see each other's writes."""
    value = torch.zeros(2)
    array = to_numpy(value)
    array[0] = 1
    assert value[0] == 0
    assert isinstance(array, np.ndarray)
