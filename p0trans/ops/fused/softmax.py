"""Softmax along one axis, its logarithm, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import Any

from p0trans.ops.fused.rules import FAMILY, flops_per_element
from p0trans.ops.reference import computed_along_axis
from p0trans.ops.rules import Operands, Outcome, axis_attribute, from_end, unwanted_dtype
from p0trans.ops.samples import B, D, S, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Operation,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import constant
from p0trans.types import TensorType

_AXIS = AttributeSpec("axis", AttributeKind.AXIS)


def _along(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    return unwanted_dtype(operands[0].dtype, "float", 0) or operands[0]


def _reduced(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    axis = axis_attribute(attributes)
    kept = (constant(1),) if attributes["keep"] else ()
    shape = (*operand.shape[:axis], *kept, *operand.shape[axis + 1 :])
    return unwanted_dtype(operand.dtype, "float", 0) or TensorType(operand.dtype, shape)


def _spell_along(name: str, site: Site) -> Spelling:
    axis = from_end(site.axis(), site.operands[0].rank)
    return Spelling(f"torch.{name}({{0}}, dim={{axis}})", fields={"axis": axis})


def _spell_reduced(site: Site) -> Spelling:
    keepdim = ", keepdim=True" if site.attributes["keep"] else ""
    axis = from_end(site.axis(), site.operands[0].rank)
    return Spelling(f"torch.logsumexp({{0}}, dim={{axis}}{keepdim})", fields={"axis": axis})


def _log_sum(np: Any, a: Any, axis: int) -> Any:
    return np.logaddexp.reduce(a, axis=axis, keepdims=True)


def _log_softmax(np: Any, a: Any, evaluation: Evaluation) -> Any:
    return a - _log_sum(np, a, evaluation.attributes["axis"])


def _softmax(np: Any, a: Any, evaluation: Evaluation) -> Any:
    return np.exp(_log_softmax(np, a, evaluation))


def _logsumexp(np: Any, a: Any, evaluation: Evaluation) -> Any:
    return _log_sum(np, a, evaluation.attributes["axis"]).reshape(evaluation.shape)


_CUBE, _VECTOR = tensor("F32", B, S, D), tensor("F32", S)
_SAMPLES = (
    Sample((_CUBE,), _CUBE, {"axis": 1}),
    Sample((_CUBE,), _CUBE, {"axis": 2}),
    Sample((_VECTOR,), _VECTOR, {"axis": 0}),
    Sample((tensor("I32", S),), "P0302", {"axis": 0}),
)

SOFTMAX: tuple[Operation, ...] = (
    Operation(
        name="softmax",
        family=FAMILY,
        form="softmax[axis=n] a",
        doc="The exponentials along one axis divided by their sum.",
        noun="weights",
        operands=("a",),
        infer=_along,
        torch=lambda site: _spell_along("softmax", site),
        numpy=computed_along_axis(_softmax),
        flops=flops_per_element(5),
        attributes=(_AXIS,),
        samples=_SAMPLES,
    ),
    Operation(
        name="log_softmax",
        family=FAMILY,
        form="log_softmax[axis=n] a",
        doc="The logarithm of the softmax along one axis.",
        noun="log_probs",
        operands=("a",),
        infer=_along,
        torch=lambda site: _spell_along("log_softmax", site),
        numpy=computed_along_axis(_log_softmax),
        flops=flops_per_element(5),
        attributes=(_AXIS,),
        samples=_SAMPLES,
    ),
    Operation(
        name="logsumexp",
        family=FAMILY,
        form="logsumexp[axis=n, keep=b] a",
        doc="The logarithm of the sum of the exponentials along one axis, which is kept or not.",
        noun="logsumexp",
        operands=("a",),
        infer=_reduced,
        torch=_spell_reduced,
        numpy=computed_along_axis(_logsumexp),
        flops=flops_per_element(4),
        attributes=(_AXIS,),
        samples=(
            Sample((_CUBE,), tensor("F32", B, D), {"axis": 1, "keep": False}),
            Sample((_CUBE,), tensor("F32", B, S, 1), {"axis": 2, "keep": True}),
            Sample((_VECTOR,), tensor("F32"), {"axis": 0, "keep": False}),
            Sample((tensor("I32", S),), "P0302", {"axis": 0, "keep": False}),
        ),
    ),
)
