"""Uses of operations made from the table's samples, and their evaluation by NumPy and by torch."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from p0trans.dtypes import DTYPES, DType
from p0trans.interpret import numpy_dtype
from p0trans.ops import OPERATIONS
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    Evaluation,
    Operation,
    Precedence,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Constraint, Dim, product
from p0trans.types import TensorType
from tests.tensors import to_torch

SIZES = range(1, 7)
Numbers = Mapping[str, int]


def assignments(names: frozenset[str], where: Sequence[Constraint]) -> Iterator[dict[str, int]]:
    """Every choice of small sizes for `names` and the variables of `where` that satisfies it."""
    names = names.union(*(constraint.variables() for constraint in where))
    ordered = sorted(names)
    for sizes in itertools.product(SIZES, repeat=len(ordered)):
        numbers = dict(zip(ordered, sizes, strict=True))
        if all(constraint.evaluate(numbers) for constraint in where):
            yield numbers


@dataclass(frozen=True)
class SmallNumbers:
    """Facts by trying small sizes: what no small size refutes is taken to be so."""

    where: tuple[Constraint, ...] = ()

    def equal(self, left: Dim, right: Dim) -> bool:
        return self.holds(Constraint(left, "==", right))

    def holds(self, constraint: Constraint) -> bool:
        return all(map(constraint.evaluate, assignments(constraint.variables(), self.where)))

    def equal_volume(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        return self.equal(product(left), product(right))


def infer(operation: Operation, sample: Sample) -> TensorType | Rejection:
    return operation.infer(sample.operands, sample.attributes, SmallNumbers(sample.where))


def accepted(operation: Operation) -> list[Sample]:
    return [sample for sample in operation.samples if isinstance(sample.outcome, TensorType)]


def in_every_dtype(operation: Operation, sample: Sample) -> Iterator[Sample]:
    """`sample` with one of its dtypes, an operand's or a written one, replaced by every dtype."""
    for old in dict.fromkeys(operand.dtype for operand in sample.operands):
        for new in DTYPES.values():
            yield replace(
                sample,
                operands=tuple(
                    TensorType(new if operand.dtype == old else operand.dtype, operand.shape)
                    for operand in sample.operands
                ),
            )
    if "value" in sample.attributes:
        yield sample
        return
    for spec in operation.attributes:
        if spec.kind is AttributeKind.DTYPE:
            for new in DTYPES.values():
                yield replace(sample, attributes={**sample.attributes, spec.name: new})


@dataclass(frozen=True)
class Use:
    """An operation on numbers: its site, the sizes of its shape variables and its arrays."""

    operation: Operation
    site: Site
    numbers: Numbers
    arrays: tuple[Any, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return sizes(self.site.result, self.numbers)


def sizes(type_: TensorType, numbers: Numbers) -> tuple[int, ...]:
    return tuple(dim.evaluate(numbers) for dim in type_.shape)


def draw(dtype: DType, shape: tuple[int, ...], seed: int) -> Any:
    """Random elements, so that there are ties, zeros, fractions and, where there can be, signs."""
    generator = np.random.default_rng(seed)
    whole = generator.integers(0 if dtype.name == "U8" else -4, 5, shape)
    if dtype.is_float:
        fractions = generator.uniform(-4, 4, shape)
        return np.where(generator.random(shape) < 0.4, whole, fractions).astype(numpy_dtype(dtype))
    return np.asarray(whole if dtype.is_integer else whole > 0).astype(numpy_dtype(dtype))


def _operand(operation: Operation, index: int, use: Site, numbers: Numbers, seed: int) -> Any:
    type_ = use.operands[index]
    array = draw(type_.dtype, sizes(type_, numbers), seed + index)
    if operation.operands[index : index + 1] == ("ids",):
        axis = use.attributes.get("axis", 0)
        assert isinstance(axis, int)
        size = sizes(use.operands[1 if index == 0 else 0], numbers)[axis]
        return (np.abs(array) % size).astype(array.dtype)
    if use.result.dtype.name == "U8" and type_.dtype.is_float:
        # What a negative float is cast to there is unspecified.
        return np.abs(array)
    if operation.name in ("floordiv", "mod") and index == 1:
        return np.where(array == 0, 3, array).astype(array.dtype)
    return array


def uses(operation: Operation, sample: Sample) -> Iterator[Use]:
    """An accepted sample at several sizes, the first of them 1 wherever it can be."""
    result = infer(operation, sample)
    assert isinstance(result, TensorType)
    site = Site(sample.operands, sample.attributes, result)
    names = frozenset[str]().union(
        *(dim.variables() for type_ in (*site.operands, result) for dim in type_.shape)
    )
    every = list(assignments(names, sample.where))
    chosen = [every[0], *random.Random(0).sample(every, min(2, len(every)))]
    for seed, numbers in enumerate(chosen):
        arrays = tuple(
            _operand(operation, index, site, numbers, 10 * seed)
            for index in range(len(site.operands))
        )
        yield Use(operation, site, numbers, arrays)


def evaluated(attributes: Attributes, numbers: Numbers) -> dict[str, Any]:
    def number(value: object) -> object:
        if isinstance(value, tuple):
            return tuple(map(number, value))
        return value.evaluate(numbers) if isinstance(value, Dim) else value

    return {name: number(value) for name, value in attributes.items()}


def by_numpy(use: Use) -> Any:
    evaluation = Evaluation(
        evaluated(use.site.attributes, use.numbers), numpy_dtype(use.site.result.dtype), use.shape
    )
    return use.operation.numpy(np, use.arrays, evaluation)


def _field_text(value: object) -> str:
    if isinstance(value, Dim):
        return value.render(division="//")
    if isinstance(value, tuple):
        return ", ".join(map(_field_text, value)) or "()"
    return str(value)


def spelled(
    operation: Operation, site: Site, operands: Sequence[tuple[str, Precedence]]
) -> tuple[str, Precedence]:
    """The PyTorch expression for a use, on operands that are expressions."""
    spelling: Spelling = operation.torch(site)
    texts = []
    for index, (text, precedence) in enumerate(operands):
        wanted = spelling.operands[min(index, len(spelling.operands) - 1)]
        texts.append(f"({text})" if precedence < wanted else text)
    fields = {name: _field_text(value) for name, value in spelling.fields.items()}
    text = spelling.template.format(
        *texts,
        all=", ".join(texts),
        device="device",
        dtype=f"torch.{site.result.dtype.torch}",
        **fields,
    )
    return text, spelling.precedence


def expression(use: Use) -> str:
    names = [(f"x{index}", Precedence.PRIMARY) for index in range(len(use.arrays))]
    return spelled(use.operation, use.site, names)[0]


def by_torch(use: Use) -> torch.Tensor:
    operands = {f"x{index}": to_torch(array) for index, array in enumerate(use.arrays)}
    names = {"torch": torch, "device": torch.device("cpu"), **operands, **use.numbers}
    result = eval(expression(use), names)
    assert isinstance(result, torch.Tensor)
    return result


def in_float64(tensor: torch.Tensor) -> Any:
    """`tensor` as an array; a float one in float64."""
    tensor = tensor.detach()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()


def assert_close(found: torch.Tensor, reference: Any, dtype: DType, what: str) -> None:
    """|found - reference| is within the dtype's tolerance; other than floats are equal."""
    if not dtype.is_float:
        np.testing.assert_array_equal(in_float64(found), reference, what)
        return
    np.testing.assert_allclose(
        in_float64(found), reference.astype(np.float64), dtype.rtol, dtype.atol, err_msg=what
    )


@functools.cache
def variants(name: str) -> tuple[Sample, ...]:
    """The accepted samples of an operation in every dtype that it takes."""
    operation = OPERATIONS[name]
    return tuple(
        variant
        for sample in accepted(operation)
        for variant in in_every_dtype(operation, sample)
        if isinstance(infer(operation, variant), TensorType)
    )
