"""The whole table: each operation declares everything, and its declarations agree."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

import pytest
import torch

from p0trans.dtypes import DTYPES
from p0trans.interpret import numpy_dtype
from p0trans.ops import CALLABLE, INFIX, OPERATIONS, PREFIX
from p0trans.ops.table import AttributeKind, Notation, Operation, Precedence, Rejection, Site
from p0trans.types import TensorType
from tests.ops.support import (
    accepted,
    assert_close,
    assignments,
    by_numpy,
    by_torch,
    expression,
    in_every_dtype,
    infer,
    sizes,
    spelled,
    uses,
    variants,
)
from tests.tensors import to_torch

each_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)

NEVER_REJECTED = {"cast", "const"}

FLOAT = {"F16", "BF16", "F32", "F64"}
INTEGER = {"I8", "I16", "I32", "I64", "U8"}
NUMERIC = FLOAT | INTEGER
BOOL = {"Bool"}
ANY = NUMERIC | BOOL

TAKEN = {
    **dict.fromkeys(("add", "sub", "mul", "neg", "abs", "sign", "maximum", "minimum"), NUMERIC),
    **dict.fromkeys(("div", "pow", "matmul"), FLOAT),
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), ANY),
    **dict.fromkeys(("and", "or", "not"), BOOL),
    **dict.fromkeys(
        (
            *("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal", "sin", "cos"),
            *("tanh", "sigmoid", "erf", "floor", "ceil", "round"),
        ),
        FLOAT,
    ),
    **dict.fromkeys(("floordiv", "mod"), INTEGER),
    **dict.fromkeys(("cast", "broadcast", "reshape", "transpose", "slice", "concat", "pad"), ANY),
    "cumsum": NUMERIC,
    "iota": NUMERIC,
}
TAKEN_BY_KIND = {
    **dict.fromkeys(("sum", "max", "min", "prod", "argmax", "argmin"), NUMERIC),
    "mean": FLOAT,
    **dict.fromkeys(("any", "all"), BOOL),
}


def test_the_operations_of_the_language() -> None:
    assert " ".join(OPERATIONS) == (
        "add sub mul div lt le gt ge eq ne and or not neg abs sign exp expm1 log log1p sqrt rsqrt "
        "reciprocal sin cos tanh sigmoid erf floor ceil round maximum minimum pow floordiv mod "
        "cast broadcast reshape transpose reduce reduce_keep cumsum matmul select slice concat pad "
        "take gather iota const"
    )
    assert " ".join(INFIX) == "+ - * / < <= > >= == != && ||"
    assert " ".join(PREFIX) == "not -"
    by_symbol = {operation.name for operation in (*INFIX.values(), *PREFIX.values())}
    assert set(CALLABLE) == set(OPERATIONS) - by_symbol - {"const"}


@each_operation
def test_declares_everything(operation: Operation) -> None:
    assert operation.doc.endswith(".")
    assert operation.doc[0].isupper() or operation.doc[0] in "`-e"
    assert operation.noun.isidentifier()
    assert operation.family in {
        "elementwise", "reduction", "layout", "contraction", "indexing", "creation"
    }  # fmt: skip
    written = operation.symbol if operation.notation is not Notation.CALL else operation.name
    assert (written or operation.name) in operation.form
    for spec in operation.attributes:
        assert f"{spec.name}=" in operation.form + operation.doc or spec.positional
        assert bool(spec.choices) == (spec.kind is AttributeKind.WORD)
    assert accepted(operation)
    rejected = [sample for sample in operation.samples if isinstance(sample.outcome, str)]
    assert bool(rejected) == (operation.name not in NEVER_REJECTED)


@each_operation
def test_samples_have_their_outcome(operation: Operation) -> None:
    for sample in operation.samples:
        outcome = infer(operation, sample)
        if isinstance(outcome, Rejection):
            assert outcome.code == sample.outcome, sample
        else:
            assert outcome == sample.outcome, sample


@each_operation
def test_a_rejection_says_what_is_to_blame(operation: Operation) -> None:
    for sample in operation.samples:
        outcome = infer(operation, sample)
        if isinstance(outcome, Rejection):
            assert (outcome.operand is None) != (outcome.attribute is None)
            if outcome.operand is not None:
                assert 0 <= outcome.operand < len(sample.operands)
            else:
                assert outcome.attribute in {spec.name for spec in operation.attributes}
            assert outcome.facts


def _dtypes(types: Iterable[TensorType]) -> set[str]:
    return {type_.dtype.name for type_ in types}


@pytest.mark.parametrize("name", TAKEN)
def test_takes_these_dtypes_and_no_other(name: str) -> None:
    operation = OPERATIONS[name]
    written = [spec.name for spec in operation.attributes if spec.kind is AttributeKind.DTYPE]
    taken: set[str] = set()
    for sample in accepted(operation):
        for variant in in_every_dtype(operation, sample):
            outcome = infer(operation, variant)
            if isinstance(outcome, Rejection):
                assert outcome.code in {"P0301", "P0302", "P0303"}
            elif variant.operands:
                taken |= _dtypes(variant.operands)
            else:
                taken |= {str(variant.attributes[attribute]) for attribute in written}
    assert taken == TAKEN[name]


@pytest.mark.parametrize("name", ["reduce", "reduce_keep"])
@pytest.mark.parametrize("kind", TAKEN_BY_KIND)
def test_each_reduction_takes_these_dtypes(name: str, kind: str) -> None:
    samples = [sample for sample in variants(name) if sample.attributes["kind"] == kind]
    taken = {dtype for sample in samples for dtype in _dtypes(sample.operands)}
    assert taken == TAKEN_BY_KIND[kind]


@each_operation
def test_numpy_and_torch_agree_with_the_typing_rule(operation: Operation) -> None:
    for sample in variants(operation.name):
        for use in uses(operation, sample):
            what = f"{operation.name}: {use.site} {use.numbers} {expression(use)}"
            dtype = use.site.result.dtype
            reference, found = by_numpy(use), by_torch(use)
            assert reference.shape == use.shape, what
            assert reference.dtype == numpy_dtype(dtype), what
            assert tuple(found.shape) == use.shape, what
            assert found.dtype == getattr(torch, dtype.torch), what
            assert_close(found, reference, dtype, what)


@each_operation
def test_operands_are_left_as_they_were(operation: Operation) -> None:
    for sample in accepted(operation):
        for use in uses(operation, sample):
            before = [array.copy() for array in use.arrays]
            by_numpy(use)
            for array, copy in zip(use.arrays, before, strict=True):
                assert array.tobytes() == copy.tobytes()


@each_operation
def test_traces_as_one_graph(operation: Operation) -> None:
    # Only what Dynamo makes of the call is looked at here: it must not read a number on the host.
    for sample in accepted(operation):
        *_, use = uses(operation, sample)
        parameters = ", ".join(f"x{index}" for index in range(len(use.arrays)))
        names: dict[str, Any] = {"torch": torch, "device": torch.device("cpu"), **use.numbers}
        function = eval(f"lambda {parameters}: {expression(use)}", names)
        compiled: Any = torch.compile(function, fullgraph=True, backend="eager")
        operands = tuple(map(to_torch, use.arrays))
        assert compiled(*operands).shape == use.shape
        torch.compiler.reset()


@each_operation
def test_costs_are_counts(operation: Operation) -> None:
    for sample in accepted(operation):
        result = infer(operation, sample)
        assert isinstance(result, TensorType)
        site = Site(sample.operands, sample.attributes, result)
        for cost in (operation.flops(site), operation.bytes(site)):
            for numbers in assignments(cost.variables(), sample.where):
                assert cost.evaluate(numbers) >= 0


@each_operation
def test_operands_stay_whole_in_the_spelling(operation: Operation) -> None:
    for sample in accepted(operation):
        result = infer(operation, sample)
        assert isinstance(result, TensorType)
        operands = [f"a{index} < b{index}" for index in range(len(sample.operands))]
        text, _ = spelled(
            operation,
            Site(sample.operands, sample.attributes, result),
            [(operand, Precedence.COMPARISON) for operand in operands],
        )
        parts = [ast.unparse(node) for node in ast.walk(ast.parse(text, mode="eval"))]
        assert set(operands) <= set(parts), text


def test_every_dtype_is_a_float_an_integer_or_bool() -> None:
    assert set(DTYPES) == ANY


def test_a_sample_at_size_one_is_among_the_uses() -> None:
    first, *_ = uses(OPERATIONS["add"], accepted(OPERATIONS["add"])[0])
    assert sizes(first.site.result, first.numbers) == (1, 1)
