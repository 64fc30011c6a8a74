"""Softmax as Phase 0 writes it, found in the steps: exponentials divided by their sum.

The forms are those that people write: with or without the maximum subtracted, with `reduce_keep`
or with `reduce` and a `reshape`, divided or multiplied by the reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from p0trans.checker.warnings.steps import RESTORED, applied, axis_of, made_by, origin
from p0trans.ir.program import Alias, Apply, Call, Definition, Node, Value
from p0trans.ir.provenance import Provenance

_REDUCTIONS = ("reduce", "reduce_keep")


class Softmax(NamedTuple):
    """A softmax over axis `axis` of `logits`: `value` is the quotient, `total` the sum, and
    `maximum` the maximum that was subtracted, if one was.

    For a call, whose definition has the steps, `total` and `value` are the call.
    """

    value: Value
    axis: int
    logits: Value
    total: Value
    maximum: Value | None = None


class Weights(NamedTuple):
    """Values that sum to 1 along `axis`, as `softmax` made them.

    `moved` says that the axis has another number there.
    """

    axis: int
    softmax: Softmax
    moved: bool = False


class Returned(NamedTuple):
    """A definition's result that sums to 1 along `axis`.

    `logits` is its parameter that the softmax is taken of, when it is taken of one as it comes.
    """

    axis: int
    logits: Value | None


def follow_weights(
    definition: Definition, provenance: Provenance, returned_by: Callable[[Call], Returned | None]
) -> tuple[tuple[Softmax, ...], dict[Value, Weights]]:
    """Every softmax, and the values that still sum to 1 along its axis."""
    softmaxes: list[Softmax] = []
    weights: dict[Value, Weights] = {}
    for value, step in definition.numbered_steps():
        found = _softmax_at(definition, value, step.node, returned_by)
        if found is not None:
            softmaxes.append(found)
            weights[value] = Weights(found.axis, found)
        elif weights and (followed := _followed(definition, provenance, value, step.node, weights)):
            weights[value] = followed
    return tuple(softmaxes), weights


def returned_weights(
    definition: Definition, softmaxes: tuple[Softmax, ...], weights: dict[Value, Weights]
) -> Returned | None:
    """What the result of `definition` is to its callers."""
    result = weights.get(definition.result)
    if result is None:
        return None
    logits = origin(definition, result.softmax.logits)
    is_parameter = logits < len(definition.parameters)
    return Returned(result.axis, logits if is_parameter and not result.moved else None)


def _softmax_at(
    definition: Definition,
    value: Value,
    node: Node,
    returned_by: Callable[[Call], Returned | None],
) -> Softmax | None:
    if isinstance(node, Call):
        returned = returned_by(node)
        if returned is None:
            return None
        logits = value if returned.logits is None else node.operands[returned.logits]
        return Softmax(value, returned.axis, logits, value)
    if not isinstance(node, Apply) or node.operation not in ("div", "mul"):
        return None
    total = _total(definition, node)
    if total is None:
        return None
    numerator, sum_value, axis = total
    exponential = applied(definition, numerator)
    if exponential is None or exponential.operation != "exp":
        return None
    exponent = origin(definition, exponential.operands[0], ("cast",))
    shifted = applied(definition, exponent)
    if shifted is not None and shifted.operation == "sub":
        logits, subtracted = shifted.operands
        maximum = made_by(definition, subtracted, _REDUCTIONS, RESTORED)
        if maximum is not None and maximum[1].attributes["kind"] == "max":
            return Softmax(value, axis, logits, sum_value, maximum[0])
    return Softmax(value, axis, exponent, sum_value)


def _total(definition: Definition, node: Apply) -> tuple[Value, Value, int] | None:
    """For a quotient of a value by its own sum: the value, the sum, and the axis summed over."""
    pairs = [node.operands]
    if node.operation == "mul":
        pairs.append(node.operands[::-1])
    for numerator, denominator in pairs:
        if node.operation == "mul":
            inverse = made_by(definition, denominator, ("reciprocal",), RESTORED)
            if inverse is None:
                continue
            denominator = inverse[1].operands[0]
        made = made_by(definition, denominator, _REDUCTIONS, RESTORED)
        if made is None or made[1].attributes["kind"] != "sum":
            continue
        total, reduction = made
        summed = origin(definition, reduction.operands[0], ("cast",))
        if summed == origin(definition, numerator, ("cast",)):
            return summed, total, axis_of(reduction)
    return None


def _followed(
    definition: Definition,
    provenance: Provenance,
    value: Value,
    node: Node,
    weights: dict[Value, Weights],
) -> Weights | None:
    """The weights that `value` is, when its step keeps the sums of weights that go into it."""
    if isinstance(node, Alias):
        return weights.get(node.operand)
    if not isinstance(node, Apply):
        return None
    having = [operand for operand in node.operands if operand in weights]
    if len(having) != 1:
        return None
    operand = having[0]
    before = weights[operand]
    match node.operation:
        case "cast" | "select":
            return before
        case "mul":
            # Scaled or dropped out: what the rows are meant to be is the same.
            return before if _total(definition, node) is None else None
        case "div":
            mine = operand == node.operands[0]
            return before if mine and _total(definition, node) is None else None
        case "transpose":
            perm = node.attributes["perm"]
            assert isinstance(perm, tuple)
            axes = [axis for axis in perm if isinstance(axis, int)]
            return Weights(axes.index(before.axis), before.softmax, True)
        case "broadcast":
            new = len(provenance.axes(value)) - len(provenance.axes(operand))
            return Weights(before.axis + new, before.softmax, before.moved or new > 0)
        case "reshape":
            axis = provenance.axes(operand)[before.axis]
            after = provenance.axes(value)
            if axis and axis in after:
                return Weights(after.index(axis), before.softmax, True)
    return None
