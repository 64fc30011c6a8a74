"""Reductions to a single number, and the losses that end in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from p0trans.ops.fused.rules import FAMILY, flops_per_element, not_scalar
from p0trans.ops.reference import computed, rounded, widened
from p0trans.ops.rules import (
    RECEIVER,
    Infer,
    Operands,
    Outcome,
    axis_attribute,
    differing_dtype,
    differing_shape,
    unwanted_dtype,
    wrong_rank,
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
_OF_A_LOSS = AttributeSpec(
    "kind", AttributeKind.WORD, positional=True, choices=("mean", "sum", "none")
)


def _reduce_all(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    return unwanted_dtype(operand.dtype, "float", 0) or TensorType(operand.dtype, ())


def _cross_entropy(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    logits, ids, *numbers = operands
    axis = axis_attribute(attributes)
    ignored, smoothing = _split(operands)
    if rejection := unwanted_dtype(logits.dtype, "float", 0):
        return rejection
    # PyTorch has the classes on axis 1; on the last one they get there when the rest is flat.
    if logits.rank < 2 or axis not in (1, logits.rank - 1):
        return Rejection("P0408", 0, facts={"wanted": 2, "found": logits})
    expected = TensorType(ids.dtype, (*logits.shape[:axis], *logits.shape[axis + 1 :]))
    return (
        unwanted_dtype(ids.dtype, "I32 or I64", 1)
        or differing_shape(expected, ids, facts, 1)
        or (differing_dtype((ids, ignored)) if ignored else None)
        or (differing_dtype((logits, smoothing)) if smoothing else None)
        or not_scalar(numbers, 2)
        or TensorType(logits.dtype, ids.shape if attributes["kind"] == "none" else ())
    )


def _split(operands: Operands) -> tuple[TensorType | None, TensorType | None]:
    """The ignored class and the smoothing, which are told apart by their dtype."""
    ignored = next((one for one in operands[2:] if not one.dtype.is_float), None)
    smoothing = next((one for one in operands[2:] if one.dtype.is_float), None)
    return ignored, smoothing


def _soft_cross_entropy(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    return wrong_rank(operands[0], 2, 0) or _of_pairs(operands, attributes, facts)


def _of_pairs(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
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
    kind = _kind(site.attributes)
    if site.axis() != 1 and kind == "none":
        logits = f"{logits}.movedim(-1, 1)"
    elif site.axis() != 1:
        logits, ids = f"{logits}.flatten(0, -2)", f"{ids}.flatten()"
    if site.operands[1].dtype.name != "I64":
        # torch takes no other dtype.
        ids = f"{ids}.long()"
    arguments = [logits, ids]
    for index, operand in enumerate(site.operands[2:], start=2):
        name = "label_smoothing" if operand.dtype.is_float else "ignore_index"
        arguments.append(f"{name}={{{index}}}")
    if kind != "mean":
        arguments.append(f'reduction="{kind}"')
    return Spelling(f"F.cross_entropy({', '.join(arguments)})")


def _reduce_all_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    function = getattr(np, evaluation.attributes["kind"])
    return rounded(np, function(widened(np, operands[0])), evaluation.dtype)


def _cross_entropy_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    logits, ids, *numbers = operands
    ignored = next((one for one in numbers if one.dtype.kind == "i"), None)
    smoothing = next((one for one in numbers if one.dtype.kind != "i"), None)
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
            # PyTorch takes what is negative for none.
            share = np.maximum(widened(np, smoothing), 0.0)
            losses = (1 - share) * losses - share * np.mean(log_probs, axis=axis)
        losses = np.where(counts, losses, 0.0)
        if evaluation.attributes["kind"] == "none":
            return rounded(np, losses, evaluation.dtype)
        total = np.sum(losses)
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
        outcome = TensorType(logits.dtype, ids.shape if kind == "none" else ())
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
        sample(tensor("F32", B, K), tensor("I64", B), 1, tensor("F32")),
        sample(tensor("F32", B, K), tensor("I64", B), 1, kind="none"),
        sample(tensor("F32", B, S, K), tensor("I64", B, S), 2, tensor("I64"), kind="none"),
        Sample((tensor("I32", B, K), tensor("I64", B)), "P0302", mean),
        Sample((tensor("F32", B, K), tensor("F32", B)), "P0302", mean),
        Sample((tensor("F32", B, K), tensor("I64", K)), "P0401", mean),
        Sample((tensor("F32", B, K), tensor("I64", B), tensor("I32")), "P0301", mean),
        Sample((tensor("F32", B, K), tensor("I64", B), tensor("I64", B)), "P0408", mean),
        Sample((tensor("F32", K), tensor("I64")), "P0408", {"axis": 0, "kind": "mean"}),
        Sample((tensor("F32", K, B), tensor("I64", B)), "P0408", {"axis": 0, "kind": "mean"}),
    )


_ELEMENTS: Callable[[Site], Any] = flops_per_element(1)

_PAIRS = (
    Sample((tensor("F32", B, D), tensor("F32", B, D)), tensor("F32")),
    Sample((tensor("F32"), tensor("F32")), tensor("F32")),
    Sample((tensor("I32", B), tensor("I32", B)), "P0302"),
    Sample((tensor("F32", B), tensor("F64", B)), "P0301"),
    Sample((tensor("F32", B, D), tensor("F32", 1, D)), "P0401"),
)


def _soft_meaning(np: Any, x: Any, target: Any) -> Any:
    log_probs = x - np.logaddexp.reduce(x, axis=1, keepdims=True)
    return -np.mean(np.sum(target * log_probs, axis=1))


def _pairwise(
    name: str,
    doc: str,
    torch: str,
    meaning: Callable[[Any, Any, Any], Any],
    flops: Callable[[Site], Any],
    infer: Infer = _of_pairs,
    samples: tuple[Sample, ...] = _PAIRS,
) -> Operation:
    """A mean over all elements, each with its target."""
    return Operation(
        name=name,
        family=FAMILY,
        form=f"{name} x target",
        doc=doc,
        noun="loss",
        operands=("x", "target"),
        infer=infer,
        torch=lambda site: Spelling(torch),
        numpy=computed(meaning),
        flops=flops,
        samples=samples,
    )


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
            "The negative log-probabilities that the softmax of `logits` along the axis gives the "
            "classes `ids`, their mean or their sum, without those that are `ignored`, a share "
            "`smoothing` of each spread over all classes: at most 1, none where it is negative. "
            "Both may be left out."
        ),
        noun="loss",
        operands=("logits", "ids", "ignored", "smoothing"),
        infer=_cross_entropy,
        torch=_spell_cross_entropy,
        numpy=_cross_entropy_meaning,
        flops=flops_per_element(5),
        attributes=(_OF_A_LOSS, AttributeSpec("axis", AttributeKind.AXIS)),
        variadic=True,
        ids=1,
        numbers=lambda site: tuple(range(2, len(site.operands))),
        samples=_cross_entropy_samples(),
    ),
    _pairwise(
        "soft_cross_entropy",
        "The mean over the rows of the cross-entropy of two distributions: that of `target` and "
        "the softmax of `x`.",
        "F.cross_entropy({0}, {1})",
        _soft_meaning,
        flops_per_element(7),
        _soft_cross_entropy,
        (
            Sample((tensor("F32", B, D), tensor("F32", B, D)), tensor("F32")),
            Sample((tensor("F32", B), tensor("F32", B)), "P0408"),
        ),
    ),
    _pairwise(
        "mse_loss",
        "The mean of the squared differences.",
        "F.mse_loss({0}, {1})",
        lambda np, x, target: np.mean((x - target) ** 2),
        flops_per_element(3),
    ),
    _pairwise(
        "l1_loss",
        "The mean of the absolute differences.",
        "F.l1_loss({0}, {1})",
        lambda np, x, target: np.mean(np.abs(x - target)),
        flops_per_element(3),
    ),
    _pairwise(
        "bce_with_logits",
        "The mean of `log(1 + exp(x)) - x target`: the cross-entropy of two classes.",
        "F.binary_cross_entropy_with_logits({0}, {1})",
        lambda np, x, target: np.mean(np.logaddexp(0, x) - x * target),
        flops_per_element(8),
    ),
)
