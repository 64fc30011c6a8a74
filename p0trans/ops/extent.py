"""Operations that change how far an axis extends: cutting, joining, padding.

`slice` counts as a view and costs nothing; `concat` and `pad` read what they are given and write
their result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from p0trans.ops.rules import (
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    differing_dtype,
    differing_other_dim,
    dim_attribute,
    from_end,
    wrong_rank,
)
from p0trans.ops.samples import TWO_K, B, D, K, S, at_least, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Operation,
    Precedence,
    Rejection,
    Sample,
    Site,
    Spelling,
    no_bytes,
    no_flops,
)
from p0trans.shapes.dim import Constraint, Dim, constant
from p0trans.types import TensorType

_ZERO = constant(0)
_ONE = constant(1)
_AXIS = AttributeSpec("axis", AttributeKind.AXIS)


def _step(attributes: Attributes) -> int:
    step = attributes.get("step", 1)
    assert isinstance(step, int)
    return step


def _unproved(constraint: Constraint, attribute: str, facts: Facts) -> Rejection | None:
    """P0802 when `constraint`, a bound on what is written as `attribute`, is not proved."""
    if facts.holds(constraint):
        return None
    return Rejection("P0802", attribute=attribute, facts={"constraint": constraint})


def _slice(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    axis, step = axis_attribute(attributes), _step(attributes)
    start, stop = dim_attribute(attributes, "start"), dim_attribute(attributes, "stop")
    if unproved := (
        _unproved(Constraint(_ONE, "<=", constant(step)), "step", facts)
        or _unproved(Constraint(_ZERO, "<=", start), "start", facts)
        or _unproved(Constraint(start, "<", stop), "stop", facts)
        or _unproved(Constraint(stop, "<=", operand.shape[axis]), "stop", facts)
    ):
        return unproved
    size = (stop - start + constant(step - 1)) // step
    return TensorType(operand.dtype, (*operand.shape[:axis], size, *operand.shape[axis + 1 :]))


def _concat(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    first, *others = operands
    axis = axis_attribute(attributes)
    if differing := differing_dtype(operands):
        return differing
    total = first.shape[axis]
    for index, other in enumerate(others, start=1):
        if rejection := (
            wrong_rank(other, first.rank, index)
            or differing_other_dim(first, other, axis, facts, index)
        ):
            return rejection
        total = total + other.shape[axis]
    return TensorType(first.dtype, (*first.shape[:axis], total, *first.shape[axis + 1 :]))


def _pad(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    operand, value = operands
    axis = axis_attribute(attributes)
    low, high = dim_attribute(attributes, "low"), dim_attribute(attributes, "high")
    if rejection := (
        differing_dtype(operands)
        or wrong_rank(value, 0, 1)
        or _unproved(Constraint(_ZERO, "<=", low), "low", facts)
        or _unproved(Constraint(_ZERO, "<=", high), "high", facts)
    ):
        return rejection
    size = low + operand.shape[axis] + high
    return TensorType(operand.dtype, (*operand.shape[:axis], size, *operand.shape[axis + 1 :]))


def _slice_torch(site: Site) -> Spelling:
    axis, step = site.axis(), _step(site.attributes)
    start = dim_attribute(site.attributes, "start")
    stop = dim_attribute(site.attributes, "stop")
    whole = stop is site.operands[0].shape[axis]
    bounds = ("" if start is _ZERO else "{start}") + ":" + ("" if whole else "{stop}")
    by = "" if step == 1 else ":{step}"
    template = "{0}[" + ":, " * axis + bounds + by + "]"
    fields = {"start": start, "stop": stop, "step": step}
    return Spelling(template, operands=RECEIVER, fields=fields)


def _slice_idiom(site: Site) -> Spelling:
    """The last axis, and what is so far from the end of an axis, counted from the end."""
    axis, rank = site.axis(), site.operands[0].rank
    spelling = _slice_torch(site)
    size = site.operands[0].shape[axis]
    bounds = {name: dim_attribute(site.attributes, name) for name in ("start", "stop")}
    fields = {**spelling.fields, **{name: _from_end(dim, size) for name, dim in bounds.items()}}
    template = spelling.template
    if 0 < axis == rank - 1:
        template = template.replace(":, " * axis, "..., ", 1)
    return replace(spelling, template=template, fields=fields)


def _from_end(bound: Dim, size: Dim) -> Dim:
    """A place of an axis: `S - 1` of S is -1."""
    left = (size - bound).as_integer()
    return bound if left is None or left < 1 or bound.as_integer() is not None else constant(-left)


def _concat_torch(site: Site) -> Spelling:
    return Spelling("torch.cat(({all}), dim={axis})", fields={"axis": site.axis()})


def _concat_idiom(site: Site) -> Spelling:
    return Spelling(
        "torch.cat([{all}], dim={axis})",
        fields={"axis": from_end(site.axis(), site.operands[0].rank)},
    )


def _pad_torch(site: Site) -> Spelling:
    axis, shape = site.axis(), site.result.shape
    low, high = dim_attribute(site.attributes, "low"), dim_attribute(site.attributes, "high")
    # `F.pad` takes its value as a Python number: read from a tensor, that would split a compiled
    # graph and lose the gradient. `slice_scatter` into an expanded value is compiled wrongly by
    # TorchInductor (torch 2.9). So the value is named twice where there are two rims.
    before, after = "{1}.expand({before})", "{1}.expand({after})"
    if low is _ZERO and high is not _ZERO:
        parts = f"{{0}}, {after}"
    elif high is _ZERO and low is not _ZERO:
        parts = f"{before}, {{0}}"
    else:
        parts = f"{before}, {{0}}, {after}"
    fields = {
        "axis": axis,
        "before": (*shape[:axis], low, *shape[axis + 1 :]),
        "after": (*shape[:axis], high, *shape[axis + 1 :]),
    }
    template = f"torch.cat(({parts}), dim={{axis}})"
    return Spelling(template, operands=(Precedence.ANY, *RECEIVER), fields=fields)


def _pad_idiom(site: Site) -> Spelling:
    """`F.pad`, which counts axes from the last, where the value is a Python number."""
    if not site.numbers:
        return _pad_torch(site)
    low, high = dim_attribute(site.attributes, "low"), dim_attribute(site.attributes, "high")
    rims = "0, 0, " * (site.operands[0].rank - 1 - site.axis()) + "{low}, {high}"
    return Spelling(f"F.pad({{0}}, ({rims}), value={{1}})", fields={"low": low, "high": high})


def _along(axis: int, *index: Any) -> tuple[Any, ...]:
    """An index that takes all of the axes before `axis`."""
    return (*(slice(None),) * axis, *index)


def _slice_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    given = evaluation.attributes
    bounds = slice(given["start"], given["stop"], given.get("step", 1))
    return operands[0][_along(given["axis"], bounds)]


def _pad_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    operand, value = operands
    axis, low = evaluation.attributes["axis"], evaluation.attributes["low"]
    result = np.full(evaluation.shape, value, dtype=evaluation.dtype)
    result[_along(axis, slice(low, low + operand.shape[axis]))] = operand
    return result


def _bounds(start: Dim, stop: Dim, axis: int = 1, **step: int) -> Attributes:
    return {"axis": axis, "start": start, "stop": stop, **step}


def _rim(low: Dim, high: Dim) -> Attributes:
    return {"axis": 1, "low": low, "high": high}


def _slice_samples() -> tuple[Sample, ...]:
    wide, plain = tensor("F32", B, TWO_K, D), tensor("F32", B, S)
    # K and S are both unknown: whether the one fits in the other is not proved.
    two, three = constant(2), constant(3)
    return (
        Sample((wide,), tensor("F32", B, K, D), _bounds(_ZERO, K)),
        Sample((wide,), tensor("F32", B, K, D), _bounds(K, TWO_K)),
        Sample((plain,), tensor("F32", B, S - _ONE), _bounds(_ZERO, S - _ONE), (at_least(S, 2),)),
        Sample((plain,), tensor("F32", B, S - _ONE), _bounds(_ONE, S), (at_least(S, 2),)),
        Sample((plain,), tensor("F32", B, (S + _ONE) // 2), _bounds(_ZERO, S, step=2)),
        Sample((tensor("F32", 7),), tensor("F32", 2), _bounds(two, constant(6), 0, step=3)),
        Sample((tensor("F32", S),), tensor("F32", 1), _bounds(_ZERO, _ONE, axis=0)),
        Sample((plain,), "P0802", _bounds(_ZERO, S, step=0)),
        Sample((plain,), "P0802", _bounds(S - two, S)),
        Sample((plain,), "P0802", _bounds(_ZERO, _ZERO)),
        Sample((plain,), "P0802", _bounds(_ONE, S)),
        Sample((plain,), "P0802", _bounds(_ZERO, three)),
        Sample((plain,), "P0802", _bounds(_ZERO, K)),
    )


def _concat_samples() -> tuple[Sample, ...]:
    first, second = tensor("F32", B, S), tensor("F32", B, K)
    axis = {"axis": 1}
    return (
        Sample((first, second), tensor("F32", B, S + K), axis),
        Sample((first, first, first), tensor("F32", B, constant(3) * S), axis),
        Sample((tensor("F32", S), tensor("F32", 1)), tensor("F32", S + _ONE), {"axis": 0}),
        Sample((first, first, tensor("F64", B, K)), "P0301", axis),
        Sample((first, tensor("F32", B)), "P0408", axis),
        Sample((first, second), "P0407", {"axis": 0}),
        Sample((first, first, tensor("F32", 1, S)), "P0407", axis),
    )


def _pad_samples() -> tuple[Sample, ...]:
    plain, value = tensor("F32", B, S), tensor("F32")
    two = constant(2)
    return (
        Sample((plain, value), tensor("F32", B, S + _ONE), _rim(_ONE, _ZERO)),
        Sample((plain, value), tensor("F32", B, S + K), _rim(_ZERO, K)),
        Sample((plain, value), tensor("F32", B, S + K + two), _rim(K, two)),
        Sample((plain, value), plain, _rim(_ZERO, _ZERO)),
        Sample((plain, value), tensor("F32", B, S + K - _ONE), _rim(_ZERO, K - _ONE)),
        Sample((plain, tensor("F16")), "P0301", _rim(_ONE, _ZERO)),
        Sample((plain, tensor("F32", 1)), "P0408", _rim(_ONE, _ZERO)),
        Sample((plain, value), "P0802", _rim(S - two, _ZERO)),
        Sample((plain, value), "P0802", _rim(_ZERO, -K)),
    )


def _extent(name: str) -> AttributeSpec:
    return AttributeSpec(name, AttributeKind.DIM)


EXTENTS: tuple[Operation, ...] = (
    Operation(
        name="slice",
        family="layout",
        form="slice[axis=n, start=d, stop=d] a",
        doc=(
            "The part of one axis from `start` up to, not including, `stop`; with `step=INT`, each "
            "INTth element of it. `0 <= start < stop <= ` the axis's size must be proved."
        ),
        noun="part",
        operands=("a",),
        infer=_slice,
        torch=_slice_torch,
        idiom=_slice_idiom,
        numpy=_slice_meaning,
        flops=no_flops,
        bytes=no_bytes,
        attributes=(
            _AXIS,
            _extent("start"),
            _extent("stop"),
            AttributeSpec("step", AttributeKind.INTEGER, default=1),
        ),
        samples=_slice_samples(),
    ),
    Operation(
        name="concat",
        family="layout",
        form="concat[axis=n] a b …",
        doc="Two or more tensors, one after the other along one axis; their other dims are equal.",
        noun="joined",
        operands=("a", "b"),
        infer=_concat,
        torch=_concat_torch,
        idiom=_concat_idiom,
        numpy=lambda np, operands, evaluation: np.concatenate(
            operands, axis=evaluation.attributes["axis"]
        ),
        flops=no_flops,
        attributes=(_AXIS,),
        variadic=True,
        samples=_concat_samples(),
    ),
    Operation(
        name="pad",
        family="layout",
        form="pad[axis=n, low=d, high=d] a v",
        doc="`low` elements before and `high` after those of one axis, each the scalar `v`.",
        noun="padded",
        operands=("a", "v"),
        infer=_pad,
        torch=_pad_torch,
        idiom=_pad_idiom,
        numbers=lambda site: (1,),
        numpy=_pad_meaning,
        flops=no_flops,
        attributes=(_AXIS, _extent("low"), _extent("high")),
        samples=_pad_samples(),
    ),
)
