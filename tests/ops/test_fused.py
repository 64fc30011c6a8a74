"""The fused operations: typing rule, NumPy and PyTorch agree on every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from p0trans.interpret import numpy_dtype
from p0trans.ops import OPERATIONS
from p0trans.ops.fused import FUSED
from p0trans.ops.table import Operation, Precedence, Rejection, Sample, Site
from p0trans.types import TensorType
from tests.ops.support import (
    Use,
    accepted,
    assert_close,
    assignments,
    by_numpy,
    in_every_dtype,
    infer,
    sizes,
    spelled,
    uses,
)
from tests.tensors import to_torch

each_operation = pytest.mark.parametrize("operation", FUSED.values(), ids=FUSED)


@each_operation
def test_declares_everything(operation: Operation) -> None:
    assert operation.name not in OPERATIONS
    assert operation.doc.endswith(".")
    assert operation.noun.isidentifier()
    assert operation.form.startswith(operation.name)
    assert accepted(operation)
    assert [sample for sample in operation.samples if isinstance(sample.outcome, str)]


@each_operation
def test_samples_have_their_outcome(operation: Operation) -> None:
    for sample in operation.samples:
        outcome = infer(operation, sample)
        if isinstance(outcome, Rejection):
            assert outcome.code == sample.outcome, sample
        else:
            assert outcome == sample.outcome, sample


@each_operation
def test_numpy_and_torch_agree_with_the_typing_rule(operation: Operation) -> None:
    for sample in _variants(operation):
        for drawn in uses(operation, sample):
            use = _with_numbers(drawn)
            what = f"{operation.name}: {use.site} {use.numbers} {_text(use)}"
            results = _items(by_numpy(use)), _items(_by_torch(use))
            for type_, reference, found in zip(_types(use), *results, strict=True):
                shape = sizes(type_, use.numbers)
                assert reference.shape == shape, what
                assert reference.dtype == numpy_dtype(type_.dtype), what
                assert tuple(found.shape) == shape, what
                assert found.dtype == getattr(torch, type_.dtype.torch), what
                assert_close(found, reference, type_.dtype, what)


@each_operation
def test_costs_are_counts(operation: Operation) -> None:
    for sample in accepted(operation):
        site = _site(operation, sample)
        for cost in (operation.flops(site), operation.bytes(site)):
            for numbers in assignments(cost.variables(), sample.where):
                assert cost.evaluate(numbers) >= 0


def _site(operation: Operation, sample: Sample) -> Site:
    result = infer(operation, sample)
    assert isinstance(result, TensorType)
    return Site(sample.operands, sample.attributes, result)


def _variants(operation: Operation) -> Iterator[Sample]:
    """The accepted samples in every dtype that the operation takes."""
    for sample in accepted(operation):
        for variant in (sample, *in_every_dtype(operation, sample)):
            if isinstance(infer(operation, variant), TensorType):
                yield variant


def _numbers(use: Use) -> tuple[int, ...]:
    return use.operation.numbers(use.site)


def _with_numbers(use: Use) -> Use:
    """With positive numbers, in ascending order, for the operands that are Python numbers."""
    arrays = list(use.arrays)
    for place, index in enumerate(_numbers(use), start=1):
        arrays[index] = np.asarray(0.25 * place).astype(arrays[index].dtype)
    return replace(use, arrays=tuple(arrays))


def _text(use: Use) -> str:
    names = [(f"x{index}", Precedence.PRIMARY) for index in range(len(use.arrays))]
    return spelled(use.operation, use.site, names)[0]


def _python(number: Any) -> float | int:
    return int(number) if number.dtype.kind in "iu" else float(number)


def _items(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _types(use: Use) -> tuple[TensorType, ...]:
    """The types of the results, of which there are several where the operation has parts."""
    site, parts = use.site, use.operation.parts
    return (site.result,) if parts is None else parts(site.result, site.attributes)


def _by_torch(use: Use) -> Any:
    numbers = _numbers(use)
    cpu = torch.device("cpu")
    names: dict[str, Any] = {"torch": torch, "F": F, "device": cpu, **use.numbers}
    for index, array in enumerate(use.arrays):
        names[f"x{index}"] = _python(array) if index in numbers else to_torch(array)
    return eval(_text(use), names)
