"""Values at the edges: NaN, infinities, signed zeros, ties, the ends of the integers."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from p0trans.dtypes import DTYPES, DType
from p0trans.interpret import numpy_dtype
from p0trans.ops import OPERATIONS
from p0trans.ops.create import literal_text, nearest
from p0trans.ops.reference import rounded
from p0trans.ops.rules import same_shape
from p0trans.ops.samples import tensor
from p0trans.ops.table import Attributes, Site
from p0trans.types import TensorType
from tests.ops.support import (
    SmallNumbers,
    Use,
    assert_close,
    by_numpy,
    by_torch,
    expression,
    in_float64,
)

FLOATS = [dtype for dtype in DTYPES.values() if dtype.is_float]
INTEGERS = [dtype for dtype in DTYPES.values() if dtype.is_integer]
UNARY = [
    *("neg", "abs", "sign", "exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "reciprocal"),
    *("sin", "cos", "tanh", "sigmoid", "erf", "floor", "ceil", "round"),
]
ARITHMETIC = ["add", "sub", "mul", "maximum", "minimum"]
COMPARISONS = ["lt", "le", "gt", "ge", "eq", "ne"]
each_float = pytest.mark.parametrize("dtype", FLOATS, ids=str)
each_integer = pytest.mark.parametrize("dtype", INTEGERS, ids=str)


def use(name: str, *operands: tuple[str, Any], **attributes: Any) -> Use:
    """The operation on arrays given as dtype and elements."""
    operation = OPERATIONS[name]
    arrays = tuple(np.array(values).astype(numpy_dtype(DTYPES[d])) for d, values in operands)
    types = tuple(
        tensor(dtype, *array.shape) for (dtype, _), array in zip(operands, arrays, strict=True)
    )
    given: Attributes = attributes
    result = operation.infer(types, given, SmallNumbers())
    assert isinstance(result, TensorType)
    return Use(operation, Site(types, given, result), {}, arrays)


def assert_agree(it: Use) -> Any:
    reference, found = by_numpy(it), by_torch(it)
    assert_close(found, reference, it.site.result.dtype, f"{it.operation.name} {it.arrays}")
    return reference


def special(dtype: DType) -> list[float]:
    info = torch.finfo(getattr(torch, dtype.torch))
    # The last is the smallest subnormal.
    small = [info.eps, info.tiny, info.tiny * info.eps]
    values = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, *small, info.max, math.inf]
    return [*values, *(-value for value in values), math.nan]


def ends(dtype: DType) -> list[int]:
    info = np.iinfo(dtype.numpy)
    return [int(info.min), int(info.min) + 1, 0, 1, 2, 7, int(info.max) - 1, int(info.max)]


@each_float
@pytest.mark.parametrize("name", UNARY)
def test_unary_at_special_floats(name: str, dtype: DType) -> None:
    assert_agree(use(name, (dtype.name, special(dtype))))


@each_float
@pytest.mark.parametrize("name", ["neg", "abs", "sqrt", "round", "floor", "ceil", "sin", "tanh"])
def test_unary_keeps_the_sign_of_zero(name: str, dtype: DType) -> None:
    it = use(name, (dtype.name, [-0.0, 0.0]))
    expected = np.signbit(by_numpy(it).astype(np.float64))
    np.testing.assert_array_equal(np.signbit(in_float64(by_torch(it))), expected)


@each_float
@pytest.mark.parametrize("name", [*ARITHMETIC, "div", "pow", *COMPARISONS])
def test_binary_at_special_floats(name: str, dtype: DType) -> None:
    left, right = zip(*itertools.product(special(dtype), repeat=2), strict=True)
    assert_agree(use(name, (dtype.name, left), (dtype.name, right)))


@each_integer
@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_binary_integers_wrap_around(name: str, dtype: DType) -> None:
    left, right = zip(*itertools.product(ends(dtype), repeat=2), strict=True)
    assert_agree(use(name, (dtype.name, left), (dtype.name, right)))


@each_integer
@pytest.mark.parametrize("name", ["neg", "abs", "sign"])
def test_unary_integers_wrap_around(name: str, dtype: DType) -> None:
    assert_agree(use(name, (dtype.name, ends(dtype))))


@each_integer
@pytest.mark.parametrize("operation", ["sum", "prod", "max", "min", "argmax", "argmin", "cumsum"])
def test_integer_reductions_keep_their_dtype(operation: str, dtype: DType) -> None:
    values = [ends(dtype), [100] * 8, [0, 0, *ends(dtype)[:6]]]
    if operation == "cumsum":
        assert_agree(use("cumsum", (dtype.name, values), axis=1))
    else:
        assert_agree(use("reduce", (dtype.name, values), kind=operation, axis=1))


@each_integer
@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_integer_division_rounds_down(name: str, dtype: DType) -> None:
    low = 0 if dtype.name == "U8" else -9
    pairs = [(a, b) for a in range(low, 10) for b in range(low, 10) if b]
    it = use(name, *((dtype.name, side) for side in zip(*pairs, strict=True)))
    python = [a // b if name == "floordiv" else a % b for a, b in pairs]
    assert assert_agree(it).tolist() == python


@pytest.mark.parametrize("name", ["floordiv", "mod"])
def test_integer_division_by_zero_is_an_error_in_both(name: str) -> None:
    it = use(name, ("I32", [4, 4]), ("I32", [2, 0]))
    with pytest.raises(ZeroDivisionError, match=name):
        by_numpy(it)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        by_torch(it)


@each_float
def test_round_takes_a_half_to_the_even_number(dtype: DType) -> None:
    it = use("round", (dtype.name, [0.5, 1.5, 2.5, 3.5, -0.5, -1.5, -2.5]))
    assert assert_agree(it).tolist() == [0, 2, 2, 4, 0, -2, -2]


@each_float
@pytest.mark.parametrize("kind", ["sum", "mean", "max", "min", "prod", "argmax", "argmin"])
def test_reductions_of_special_floats(kind: str, dtype: DType) -> None:
    nan, inf = math.nan, math.inf
    rows = [
        [1, nan, 3, nan], [inf, 1, -inf, 2], [-inf, -inf, -inf, -inf], [inf, inf, 1, 2],
        [2, 7, 7, 2], [-0.0, 0.0, -0.0, 0.0], [60000.0, 60000.0, 30000.0, -60000.0],
    ]  # fmt: skip
    assert_agree(use("reduce", (dtype.name, rows), kind=kind, axis=1))


@each_float
def test_the_mean_does_not_overflow_on_the_way(dtype: DType) -> None:
    it = use("reduce", (dtype.name, [49152.0] * 4), kind="mean", axis=0)
    assert assert_agree(it).tolist() == 49152.0


def test_argmax_gives_the_first_of_equals_and_of_nans() -> None:
    rows = [[2.0, 7.0, 7.0], [1.0, math.nan, math.nan], [5.0, 5.0, 5.0]]
    it = use("reduce", ("F32", rows), kind="argmax", axis=1)
    assert assert_agree(it).tolist() == [1, 1, 0]


@each_float
@pytest.mark.parametrize("target", ["I8", "I16", "I32", "I64"])
def test_cast_to_integer_drops_the_fraction(target: str, dtype: DType) -> None:
    it = use("cast", (dtype.name, [-2.75, -0.5, -0.0, 0.5, 2.75, 100.0]), dtype=DTYPES[target])
    assert assert_agree(it).tolist() == [-2, 0, 0, 0, 2, 100]


@pytest.mark.parametrize("source", DTYPES.values(), ids=str)
def test_cast_to_bool_is_not_zero(source: DType) -> None:
    values = [0.0, -0.0, 0.25, math.nan, math.inf] if source.is_float else [0, 0, 1, 1, 1]
    it = use("cast", (source.name, values), dtype=DTYPES["Bool"])
    assert assert_agree(it).tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("source", INTEGERS, ids=str)
@pytest.mark.parametrize("target", DTYPES.values(), ids=str)
def test_cast_of_integers(source: DType, target: DType) -> None:
    assert_agree(use("cast", (source.name, ends(source)), dtype=target))


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("target", FLOATS, ids=str)
def test_cast_between_floats(source: DType, target: DType) -> None:
    assert_agree(use("cast", (source.name, special(source)), dtype=target))


def test_iota_wraps_and_rounds() -> None:
    it = use("iota", dtype=DTYPES["I8"], axis=0, shape=tensor("I8", 130).shape)
    assert assert_agree(it).tolist()[126:] == [126, 127, -128, -127]
    it = use("iota", dtype=DTYPES["BF16"], axis=0, shape=tensor("BF16", 260).shape)
    assert assert_agree(it).astype(float).tolist()[256:] == [256, 256, 258, 260]


@pytest.mark.parametrize(("name", "ids"), [("take", [0, 3]), ("take", [-1]), ("gather", [-1, 0])])
def test_an_id_outside_of_the_axis_is_an_error(name: str, ids: list[int]) -> None:
    it = use(name, ("F32", [1.0, 2.0, 3.0]), ("I64", ids), axis=0)
    with pytest.raises(IndexError, match="out of range"):
        by_numpy(it)


@pytest.mark.parametrize(("low", "high"), [(2, 0), (0, 2), (1, 2), (0, 0)])
def test_pad_lets_gradients_through(low: int, high: int) -> None:
    sample = use(
        "pad", ("F32", [1.0, 2.0, 3.0]), ("F32", 5.0), axis=0, **_extents(low=low, high=high)
    )
    expected = [5.0] * low + [1.0, 2.0, 3.0] + [5.0] * high
    assert assert_agree(sample).tolist() == expected
    operands = [torch.tensor([1.0, 2.0, 3.0]), torch.tensor(5.0)]
    for operand in operands:
        operand.requires_grad_()
    gradients = torch.autograd.grad(_evaluate(sample, operands).sum(), operands, allow_unused=True)
    assert [gradient.tolist() for gradient in gradients] == [[1.0, 1.0, 1.0], float(low + high)]


def _extents(**sizes: int) -> dict[str, Any]:
    return {name: tensor("F32", size).shape[0] for name, size in sizes.items()}


def _evaluate(it: Use, operands: list[torch.Tensor]) -> torch.Tensor:
    names = {f"x{index}": operand for index, operand in enumerate(operands)}
    result = eval(expression(it), {"torch": torch, **names})
    assert isinstance(result, torch.Tensor)
    return result


TIE = 1 + 2.0**-8  # halfway between two BF16 numbers


@pytest.mark.parametrize(
    ("value", "expected"),
    [(TIE, 1.0), (TIE + 2.0**-40, 1 + 2.0**-7), (-TIE - 2.0**-40, -1 - 2.0**-7),
     (TIE - 2.0**-40, 1.0), (1e39, math.inf), (-1e-45, 0.0), (2.0**-133, 2.0**-133),
     (math.inf, math.inf)],
)  # fmt: skip
def test_bfloat16_is_rounded_once(value: float, expected: float) -> None:
    with np.errstate(all="ignore"):
        array = rounded(np, np.float64(value), np.dtype(ml_dtypes.bfloat16))
    assert float(array) == expected
    assert nearest(value, DTYPES["BF16"]) == expected


@each_float
def test_nearest_is_what_numpy_rounds_to(dtype: DType) -> None:
    generator = np.random.default_rng(0)
    exponents = generator.uniform(-160, 140, 500)
    values = np.concatenate([generator.normal(size=500), np.exp2(exponents), special(dtype)])
    with np.errstate(all="ignore"):
        expected = rounded(np, values, numpy_dtype(dtype)).astype(np.float64)
    np.testing.assert_array_equal([nearest(float(value), dtype) for value in values], expected)


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("F32", 1e-6, "1e-06"),
        ("F32", 1, "1.0"),
        ("F64", -math.inf, 'float("-inf")'),
        ("BF16", 0.1, "0.1"),
        ("BF16", TIE + 2.0**-40, repr(1 + 2.0**-7)),
        ("I32", 7, "7"),
        ("Bool", True, "True"),
    ],
)
def test_literal_text(dtype: str, value: float, text: str) -> None:
    assert literal_text(value, DTYPES[dtype]) == text
    assert_agree(use("const", dtype=DTYPES[dtype], value=value))


def test_a_tuple_of_shapes_of_other_rank_is_not_the_same() -> None:
    assert not same_shape(tensor("F32", 1).shape, tensor("F32").shape, SmallNumbers())


def test_the_table_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys, p0trans.ops\n"
        "heavy = {'numpy', 'torch', 'ml_dtypes', 'islpy', 'sympy', 'black', 'jinja2'}\n"
        "sys.exit(not heavy.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
