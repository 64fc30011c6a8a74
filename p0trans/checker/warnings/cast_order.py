"""P1106: in a norm that is computed in a wider dtype, the weight before or after the cast back."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.steps import RESTORED, applied, made_by, origin, tensor
from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.dtypes import DType
from p0trans.ir.program import Apply, Definition, Value

_FARTHEST = 8


def cast_order(subject: Subject) -> Iterator[Diagnostic]:
    for value, node in subject.applied():
        if node.operation == "mul":
            yield from _weighted(subject, value, node)


def _weighted(subject: Subject, value: Value, node: Apply) -> Iterator[Diagnostic]:
    definition = subject.definition
    for normed, weight in (node.operands, node.operands[::-1]):
        if not _is_weight(definition, weight, subject.shape_of(value).rank):
            continue
        cast = made_by(definition, normed, ("cast",))
        if cast is not None:
            # The cast back stands before the weight, if what it casts is a norm.
            inner = cast[1].operands[0]
            narrow = _upcast_from(definition, inner)
            if narrow is subject.shape_of(value).dtype:
                yield _note(subject, value, "after", narrow, cast[0])
                return
        narrow = _upcast_from(definition, normed)
        back = None if narrow is None else _cast_back(subject, value, narrow)
        if narrow is not None and back is not None:
            yield _note(subject, value, "before", narrow, back)
            return


def _note(subject: Subject, value: Value, order: str, narrow: DType, cast: Value) -> Diagnostic:
    return diagnose(
        "P1106",
        subject.place(subject.step(value).span),
        label="the weight",
        secondary=(subject.label(subject.span(cast), f"the cast back to {narrow}"),),
        order=order,
        narrow=narrow,
    )


def _is_weight(definition: Definition, value: Value, rank: int) -> bool:
    """Whether `value` is a parameter stretched to `rank`."""
    behind = origin(definition, value, RESTORED)
    if behind >= len(definition.parameters):
        return False
    type_ = tensor(definition, behind)
    return type_ is not None and 0 < type_.rank < rank


def _upcast_from(definition: Definition, value: Value) -> DType | None:
    """The dtype that a normalised value was widened from; None when `value` is no such norm."""
    behind = origin(definition, value)
    node = applied(definition, behind)
    if node is None or node.operation not in ("mul", "div"):
        return None
    scales = ("rsqrt", "reciprocal") if node.operation == "mul" else ("sqrt",)
    pairs = [node.operands] if node.operation == "div" else [node.operands, node.operands[::-1]]
    for normed, scale in pairs:
        if made_by(definition, scale, scales, RESTORED) is not None:
            return _widened_from(definition, normed)
    return None


def _widened_from(definition: Definition, value: Value) -> DType | None:
    """The narrower float that `value` is cast from, a mean subtracted or not."""
    for _ in range(_FARTHEST):
        value = origin(definition, value)
        node = applied(definition, value)
        if node is None or node.operation not in ("sub", "cast"):
            return None
        inner = node.operands[0]
        if node.operation == "cast":
            wide, narrow = tensor(definition, value), tensor(definition, inner)
            if wide is None or narrow is None or not narrow.dtype.is_float:
                return None
            return narrow.dtype if narrow.dtype.bits < wide.dtype.bits else None
        value = inner
    return None


def _cast_back(subject: Subject, value: Value, narrow: DType) -> Value | None:
    """The cast to `narrow` that `value` goes into, a bias added or not."""
    for _ in range(_FARTHEST):
        users = subject.analysis.users[value]
        for user in users:
            node = applied(subject.definition, user)
            if node is not None and node.operation == "cast" and node.attributes["dtype"] is narrow:
                return user
        if len(users) != 1:
            return None
        node = applied(subject.definition, users[0])
        if origin(subject.definition, users[0]) != origin(subject.definition, value) and (
            node is None or node.operation != "add"
        ):
            return None
        value = users[0]
    return None
