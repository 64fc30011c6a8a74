"""Comparisons, the connectives of Bool and the choice by a Bool."""

from __future__ import annotations

from p0trans.ops.elementwise import binary_samples, infix, prefix, ufunc
from p0trans.ops.rules import (
    BOOL,
    Operands,
    Outcome,
    differing_dtype,
    differing_shape,
    same_shape,
    unwanted_dtype,
)
from p0trans.ops.samples import B, S, tensor
from p0trans.ops.table import Attributes, Facts, Operation, Precedence, Sample, Spelling
from p0trans.types import TensorType

P = Precedence


def _compare(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    left, right = operands
    return (
        differing_dtype(operands)
        or differing_shape(left, right, facts, 1)
        or TensorType(BOOL, left.shape)
    )


def _connect(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    left, right = operands
    # Unlike in arithmetic, it is plain which of two dtypes is the wrong one.
    return (
        unwanted_dtype(left.dtype, "Bool", 0)
        or unwanted_dtype(right.dtype, "Bool", 1)
        or differing_shape(left, right, facts, 1)
        or left
    )


def _select(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    condition, first, second = operands
    if unwanted := unwanted_dtype(condition.dtype, "Bool", 0):
        return unwanted
    if differing := differing_dtype(operands, first=1):
        return differing
    # Two of the three that agree outvote the third, so that the odd one out is blamed.
    if same_shape(first.shape, second.shape, facts):
        return differing_shape(first, condition, facts, 0) or first
    if same_shape(condition.shape, second.shape, facts):
        return differing_shape(second, first, facts, 1) or first
    return differing_shape(first, second, facts, 2) or first


_COMPARED = binary_samples("F32", "Bool", None, "")
_CONNECTED = binary_samples("Bool", "Bool", "F32", "P0302")


def _comparison(name: str, symbol: str, function: str, words: str) -> Operation:
    doc = f"Whether each element of `a` is {words} that of `b`, as Bool."
    # Python chains comparisons, so a comparison inside another one needs its parentheses.
    operands = (P.BITOR, P.BITOR)
    meaning = ufunc(function)
    return infix(name, symbol, "mask", doc, _compare, P.COMPARISON, operands, meaning, _COMPARED)


def _connective(
    name: str,
    symbol: str,
    python: str,
    doc: str,
    precedence: Precedence,
    operands: tuple[Precedence, Precedence],
) -> Operation:
    meaning = ufunc(f"logical_{name}")
    return infix(
        name, symbol, "mask", doc, _connect, precedence, operands, meaning, _CONNECTED, python
    )


def _select_samples() -> tuple[Sample, ...]:
    mask, full, row = tensor("Bool", B, S), tensor("F32", B, S), tensor("F32", B, 1)
    row_mask = tensor("Bool", B, 1)
    return (
        Sample((mask, full, full), full),
        Sample((tensor("Bool"), tensor("I32"), tensor("I32")), tensor("I32")),
        Sample((row_mask, row_mask, row_mask), row_mask),
        Sample((tensor("I32", B, S), full, full), "P0302"),
        Sample((mask, full, tensor("F16", B, S)), "P0301"),
        Sample((row_mask, full, full), "P0401"),
        Sample((mask, row, full), "P0401"),
        Sample((mask, full, tensor("F32")), "P0401"),
    )


LOGICAL: tuple[Operation, ...] = (
    _comparison("lt", "<", "less", "less than"),
    _comparison("le", "<=", "less_equal", "at most"),
    _comparison("gt", ">", "greater", "greater than"),
    _comparison("ge", ">=", "greater_equal", "at least"),
    _comparison("eq", "==", "equal", "equal to"),
    _comparison("ne", "!=", "not_equal", "different from"),
    _connective("and", "&&", "&", "Whether both are true.", P.BITAND, (P.BITAND, P.SUM)),
    _connective("or", "||", "|", "Whether at least one is true.", P.BITOR, (P.BITOR, P.BITAND)),
    prefix("not", "not", "mask", "Whether it is false.", "Bool", "~", ufunc("logical_not")),
)

SELECT = Operation(
    name="select",
    family="elementwise",
    form="select c a b",
    doc="The element of `a` where the Bool `c` is true, that of `b` elsewhere; one shape for all.",
    noun="selected",
    operands=("c", "a", "b"),
    infer=_select,
    torch=lambda site: Spelling("torch.where({0}, {1}, {2})"),
    numpy=lambda np, operands, evaluation: np.where(*operands),
    numbers=lambda site: (1, 2),
    samples=_select_samples(),
)
