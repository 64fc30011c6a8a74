"""Reductions to a single number, and the losses that end in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from p0trans.ops.fused.rules import FAMILY, flops_per_element, not_scalar
from p0trans.ops.reference import computed, rounded, widened
from p0trans.ops.rules import (
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    differing_dtype,
    differing_shape,
    unwanted_dtype,
)
from p0trans.ops.samples import B, D, K, S, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.types import TensorType

REDUCED_TO_A_NUMBER = ("sum", "mean", "max", "min")
"""The words of `reduce` that are torch's methods, too, when every axis is reduced."""

_REDUCTION = AttributeSpec("kind", AttributeKind.WORD, positional=True, choices=REDUCED_TO_A_NUMBER)


def _reduce_all(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    return unwanted_dtype(operand.dtype, "float", 0) or TensorType(operand.dtype, ())


def _cross_entropy(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    logits, ids, *numbers = operands
    axis = axis_attribute(attributes)
    if rejection := unwanted_dtype(logits.dtype, "float", 0):
        return rejection
    # PyTorch has the classes on axis 1; on the last one they get there when the rest is flat.
    if logits.rank < 2 or axis not in (1, logits.rank - 1):
        return Rejection("P0408", 0, facts={"wanted": 2, "found": logits})
    expected = TensorType(ids.dtype, (*logits.shape[:axis], *logits.shape[axis + 1 :]))
    return (
        unwanted_dtype(ids.dtype, "I32 or I64", 1)
        or differing_shape(expected, ids, facts, 1)
        or differing_dtype(operands[1:3])
        or differing_dtype((logits, *numbers[1:]))
        or not_scalar(numbers, 2)
        or TensorType(logits.dtype, ())
    )


def _mse_loss(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    x, target = operands
    return (
        unwanted_dtype(x.dtype, "float", 0)
        or differing_dtype(operands)
        or differing_shape(x, target, facts, 1)
        or TensorType(x.dtype, ())
    )


def _kind(attributes: Attributes) -> str:
    kind = attributes["kind"]
    assert isinstance(kind, str)
    return kind


def _spell_reduce_all(site: Site) -> Spelling:
    return Spelling(f"{{0}}.{_kind(site.attributes)}()", operands=RECEIVER)


def _spell_cross_entropy(site: Site) -> Spelling:
    logits, ids = "{0}", "{1}"
    if site.axis() != 1:
        logits, ids = f"{logits}.flatten(0, -2)", f"{ids}.flatten()"
    if site.operands[1].dtype.name != "I64":
        # torch takes no other dtype.
        ids = f"{ids}.long()"
    arguments = [logits, ids]
    for index, name in enumerate(("ignore_index", "label_smoothing")[: len(site.operands) - 2]):
        arguments.append(f"{name}={{{index + 2}}}")
    kind = _kind(site.attributes)
    if kind != "mean":
        arguments.append(f'reduction="{kind}"')
    return Spelling(f"F.cross_entropy({', '.join(arguments)})")


def _reduce_all_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    function = getattr(np, evaluation.attributes["kind"])
    return rounded(np, function(widened(np, operands[0])), evaluation.dtype)


def _cross_entropy_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    logits, ids, *numbers = operands
    ignored, smoothing = (*numbers, None, None)[:2]
    axis = evaluation.attributes["axis"]
    counts = np.ones(ids.shape, bool) if ignored is None else ids != ignored
    places = np.where(counts, ids, 0).astype(np.int64)
    if places.min() < 0 or places.max() >= logits.shape[axis]:
        raise IndexError(f"an id is out of range: [{places.min()}, {places.max()}]")
    with np.errstate(all="ignore"):
        wide = widened(np, logits)
        log_probs = wide - np.logaddexp.reduce(wide, axis=axis, keepdims=True)
        losses = -np.take_along_axis(log_probs, np.expand_dims(places, axis), axis=axis)
        losses = np.squeeze(losses, axis)
        if smoothing is not None:
            share = widened(np, smoothing)
            losses = (1 - share) * losses - share * np.mean(log_probs, axis=axis)
        total = np.sum(np.where(counts, losses, 0.0))
        mean = evaluation.attributes["kind"] == "mean"
        return rounded(np, total / np.sum(counts) if mean else total, evaluation.dtype)


def _reduction_samples() -> tuple[Sample, ...]:
    return (
        *(
            Sample((tensor("F32", B, S),), tensor("F32"), {"kind": kind})
            for kind in REDUCED_TO_A_NUMBER
        ),
        Sample((tensor("BF16", B, 1, D),), tensor("BF16"), {"kind": "mean"}),
        Sample((tensor("I32", S),), "P0302", {"kind": "sum"}),
    )


def _cross_entropy_samples() -> tuple[Sample, ...]:
    def sample(
        logits: TensorType, ids: TensorType, axis: int, *numbers: TensorType, kind: str = "mean"
    ) -> Sample:
        outcome = TensorType(logits.dtype, ())
        return Sample((logits, ids, *numbers), outcome, {"axis": axis, "kind": kind})

    mean: Attributes = {"axis": 1, "kind": "mean"}
    return (
        sample(tensor("F32", B, K), tensor("I64", B), 1),
        sample(tensor("F32", B, K), tensor("I32", B), 1, kind="sum"),
        sample(tensor("F32", B, S, K), tensor("I64", B, S), 2),
        sample(tensor("F32", B, K, S), tensor("I64", B, S), 1),
        sample(tensor("BF16", B, D, S, K), tensor("I32", B, D, S), 3, kind="sum"),
        sample(tensor("F32", B, K), tensor("I64", B), 1, tensor("I64")),
        sample(tensor("F32", B, S, K), tensor("I32", B, S), 2, tensor("I32"), tensor("F32")),
        Sample((tensor("I32", B, K), tensor("I64", B)), "P0302", mean),
        Sample((tensor("F32", B, K), tensor("F32", B)), "P0302", mean),
        Sample((tensor("F32", B, K), tensor("I64", K)), "P0401", mean),
        Sample((tensor("F32", B, K), tensor("I64", B), tensor("I32")), "P0301", mean),
        Sample((tensor("F32", B, K), tensor("I64", B), tensor("I64", B)), "P0408", mean),
        Sample((tensor("F32", K), tensor("I64")), "P0408", {"axis": 0, "kind": "mean"}),
        Sample((tensor("F32", K, B), tensor("I64", B)), "P0408", {"axis": 0, "kind": "mean"}),
    )


_ELEMENTS: Callable[[Site], Any] = flops_per_element(1)

LOSSES: tuple[Operation, ...] = (
    Operation(
        name="reduce_all",
        family=FAMILY,
        form="reduce_all[k] a",
        doc="Reduces every axis.",
        noun="reduced",
        operands=("a",),
        infer=_reduce_all,
        torch=_spell_reduce_all,
        numpy=_reduce_all_meaning,
        flops=_ELEMENTS,
        attributes=(_REDUCTION,),
        samples=_reduction_samples(),
    ),
    Operation(
        name="cross_entropy",
        family=FAMILY,
        form="cross_entropy[k, axis=n] logits ids ignored smoothing",
        doc=(
            "The mean or sum of the negative log-probabilities that the softmax of `logits` along "
            "the axis gives the classes `ids`, without those that are `ignored`, a share "
            "`smoothing` of each spread over all classes. Both may be left out from the end."
        ),
        noun="loss",
        operands=("logits", "ids", "ignored", "smoothing"),
        infer=_cross_entropy,
        torch=_spell_cross_entropy,
        numpy=_cross_entropy_meaning,
        flops=flops_per_element(5),
        attributes=(_REDUCTION, AttributeSpec("axis", AttributeKind.AXIS)),
        variadic=True,
        ids=1,
        numbers=lambda site: tuple(range(2, len(site.operands))),
        samples=_cross_entropy_samples(),
    ),
    Operation(
        name="mse_loss",
        family=FAMILY,
        form="mse_loss x target",
        doc="The mean of the squared differences.",
        noun="loss",
        operands=("x", "target"),
        infer=_mse_loss,
        torch=lambda site: Spelling("F.mse_loss({0}, {1})"),
        numpy=computed(lambda np, x, target: np.mean((x - target) ** 2)),
        flops=flops_per_element(3),
        samples=(
            Sample((tensor("F32", B, D), tensor("F32", B, D)), tensor("F32")),
            Sample((tensor("F32"), tensor("F32")), tensor("F32")),
            Sample((tensor("I32", B), tensor("I32", B)), "P0302"),
            Sample((tensor("F32", B), tensor("F64", B)), "P0301"),
            Sample((tensor("F32", B, D), tensor("F32", 1, D)), "P0401"),
        ),
    ),
)
