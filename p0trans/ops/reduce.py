"""Operations along one axis: the reductions and the running sum."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from p0trans.dtypes import DType
from p0trans.ops.reference import computed_along_axis
from p0trans.ops.rules import (
    I64,
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    from_end,
    unwanted_dtype,
)
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
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType


@dataclass(frozen=True, slots=True)
class _Kind:
    """One word of `reduce`: the dtypes it takes, torch's function, NumPy's function."""

    wanted: str
    torch: str
    numpy: Callable[..., Any]
    promotes: bool = False  # torch widens integers unless it is told the dtype
    gives_index: bool = False


def _in_own_dtype(name: str) -> Callable[..., Any]:
    """NumPy's function `name`, kept from widening integers, so that they wrap around."""
    return lambda np, array, axis: getattr(np, name)(array, axis=axis, dtype=array.dtype)


def _named(name: str) -> Callable[..., Any]:
    return lambda np, array, axis: getattr(np, name)(array, axis=axis)


_KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        "sum": _Kind("numeric", "sum", _in_own_dtype("sum"), promotes=True),
        "mean": _Kind("float", "mean", _named("mean")),
        "max": _Kind("numeric", "amax", _named("max")),
        "min": _Kind("numeric", "amin", _named("min")),
        "prod": _Kind("numeric", "prod", _in_own_dtype("prod"), promotes=True),
        "any": _Kind("Bool", "any", _named("any")),
        "all": _Kind("Bool", "all", _named("all")),
        "argmax": _Kind("numeric", "argmax", _named("argmax"), gives_index=True),
        "argmin": _Kind("numeric", "argmin", _named("argmin"), gives_index=True),
    }
)


def _kind(attributes: Attributes) -> _Kind:
    word = attributes["kind"]
    assert isinstance(word, str)
    return _KINDS[word]


def _reduce(keep: bool, operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    kind, axis = _kind(attributes), axis_attribute(attributes)
    kept = (constant(1),) if keep else ()
    shape = (*operand.shape[:axis], *kept, *operand.shape[axis + 1 :])
    dtype = I64 if kind.gives_index else operand.dtype
    return unwanted_dtype(operand.dtype, kind.wanted, 0) or TensorType(dtype, shape)


def _cumsum(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    return unwanted_dtype(operand.dtype, "numeric", 0) or operand


def _own_dtype(dtype: DType) -> str:
    """The argument that keeps torch from widening integers to int64."""
    return ", dtype={dtype}" if dtype.is_integer and dtype != I64 else ""


def _reduce_torch(keep: bool, site: Site) -> Spelling:
    kind = _kind(site.attributes)
    keepdim = ", keepdim=True" if keep else ""
    dtype = _own_dtype(site.result.dtype) if kind.promotes else ""
    template = f"torch.{kind.torch}({{0}}, dim={{axis}}{keepdim}{dtype})"
    return Spelling(template, fields={"axis": site.axis()})


def _reduce_idiom(keep: bool, site: Site) -> Spelling:
    """As a method, the last axis counted from the end."""
    kind = _kind(site.attributes)
    fields = {"axis": from_end(site.axis(), site.operands[0].rank)}
    keepdim = ", keepdim=True" if keep else ""
    dtype = _own_dtype(site.result.dtype) if kind.promotes else ""
    template = f"{{0}}.{kind.torch}(dim={{axis}}{keepdim}{dtype})"
    return Spelling(template, operands=RECEIVER, fields=fields)


def _cumsum_torch(site: Site) -> Spelling:
    template = f"torch.cumsum({{0}}, dim={{axis}}{_own_dtype(site.result.dtype)})"
    return Spelling(template, fields={"axis": site.axis()})


def _cumsum_idiom(site: Site) -> Spelling:
    template = f"{{0}}.cumsum(dim={{axis}}{_own_dtype(site.result.dtype)})"
    return Spelling(
        template, operands=RECEIVER, fields={"axis": from_end(site.axis(), site.operands[0].rank)}
    )


def _reduced(np: Any, array: Any, evaluation: Evaluation) -> Any:
    kind = _kind(evaluation.attributes)
    result = kind.numpy(np, array, evaluation.attributes["axis"])
    return np.reshape(result, evaluation.shape)


def _accumulated(np: Any, array: Any, evaluation: Evaluation) -> Any:
    return _in_own_dtype("cumsum")(np, array, evaluation.attributes["axis"])


def _flops_per_input_element(site: Site) -> Dim:
    """One operation for each element that goes in."""
    return product(site.operands[0].shape)


_AXIS = AttributeSpec("axis", AttributeKind.AXIS)
_ATTRIBUTES = (
    AttributeSpec("kind", AttributeKind.WORD, positional=True, choices=tuple(_KINDS)),
    _AXIS,
)


def _reduce_samples(keep: bool) -> tuple[Sample, ...]:
    kept = (1,) if keep else ()

    def sample(kind: str, dtype: str) -> Sample:
        result = "I64" if _KINDS[kind].gives_index else dtype
        outcome = tensor(result, B, *kept, D)
        return Sample((tensor(dtype, B, S, D),), outcome, {"kind": kind, "axis": 1})

    vector = tensor("F32", S)
    sum_: Attributes = {"kind": "sum", "axis": 0}
    return (
        *(sample(kind, "Bool" if kind in ("any", "all") else "F32") for kind in _KINDS),
        Sample((vector,), tensor("F32", *kept), sum_),
        Sample((tensor("F32", B, 1),), tensor("F32", B, *kept), {"kind": "max", "axis": 1}),
        Sample((tensor("Bool", S),), "P0302", sum_),
        Sample((tensor("I32", S),), "P0302", {"kind": "mean", "axis": 0}),
        Sample((vector,), "P0302", {"kind": "any", "axis": 0}),
        Sample((tensor("Bool", S),), "P0302", {"kind": "argmax", "axis": 0}),
    )


def _reduction(name: str, keep: bool, doc: str) -> Operation:
    return Operation(
        name=name,
        family="reduction",
        form=f"{name}[k, axis=n] a",
        doc=doc,
        noun="reduced",
        operands=("a",),
        infer=partial(_reduce, keep),
        torch=partial(_reduce_torch, keep),
        idiom=partial(_reduce_idiom, keep),
        numpy=computed_along_axis(_reduced),
        flops=_flops_per_input_element,
        attributes=_ATTRIBUTES,
        kept_by=None if keep else "reduce_keep",
        samples=_reduce_samples(keep),
    )


_KINDS_DOC = (
    "`k` is sum, mean (float only), max, min or prod of numbers, any or all of Bool, or argmax or "
    "argmin, which give the first such index as I64."
)

REDUCTIONS: tuple[Operation, ...] = (
    _reduction("reduce", False, f"Reduces one axis and drops it. {_KINDS_DOC}"),
    _reduction(
        "reduce_keep", True, f"Reduces one axis and keeps it with the literal size 1. {_KINDS_DOC}"
    ),
    Operation(
        name="cumsum",
        family="reduction",
        form="cumsum[axis=n] a",
        doc="The running sum along one axis: each element is the sum of those up to its place.",
        noun="running_sum",
        operands=("a",),
        infer=_cumsum,
        torch=_cumsum_torch,
        idiom=_cumsum_idiom,
        numpy=computed_along_axis(_accumulated),
        flops=_flops_per_input_element,
        attributes=(_AXIS,),
        samples=(
            Sample((tensor("F32", B, S),), tensor("F32", B, S), {"axis": 1}),
            Sample((tensor("I32", S),), tensor("I32", S), {"axis": 0}),
            Sample((tensor("F32", 1, S),), tensor("F32", 1, S), {"axis": 0}),
            Sample((tensor("Bool", S),), "P0302", {"axis": 0}),
        ),
    ),
)
