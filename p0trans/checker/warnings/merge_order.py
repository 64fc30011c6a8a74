"""P1107 and P1108: axes merged in one order and taken, or paired, in another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from p0trans.checker.warnings.subject import Subject, listed
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Apply, Value
from p0trans.ir.provenance import Axes, Axis, Origin, orders_differ
from p0trans.ir.regrouping import runs


def merge_order(subject: Subject) -> Iterator[Diagnostic]:
    for value, node in subject.applied():
        if node.operation == "reshape":
            yield from _split(subject, value, node)
        elif len(node.operands) > 1:
            yield from _combined(subject, value, node)


def _split(subject: Subject, value: Value, node: Apply) -> Iterator[Diagnostic]:
    """An axis taken apart in another order than it was put together in."""
    provenance = subject.analysis.provenance
    regrouping = provenance.regroupings.get(value)
    if regrouping is None:
        return
    operand = node.operands[0]
    found = subject.shape_of(operand).shape
    for source, parts in regrouping.reordered:
        merged = provenance.axes(operand)[source]
        first = listed(factor.dim for factor in merged)
        second = listed(parts)
        yield diagnose(
            "P1107",
            subject.place(subject.step(value).span),
            label=f"{found[source]} is split into {second} here",
            secondary=subject.axis_labels(merged),
            first=first,
            second=second,
            situation=f"{found[source]} of {subject.name(operand)} was merged from {first}",
        )


def _combined(subject: Subject, value: Value, node: Apply) -> Iterator[Diagnostic]:
    """Operands whose axes meet element by element, or are summed over together."""
    provenance = subject.analysis.provenance
    operands = [provenance.axes(operand) for operand in node.operands]
    for left, right in _meeting(node, operands):
        if len(left) > 1 and len(right) > 1 and orders_differ(left, right):
            first, second = (listed(factor.dim for factor in axis) for axis in (left, right))
            yield diagnose(
                "P1107",
                subject.place(subject.step(value).span),
                label=f"{first} meets {second} here",
                secondary=subject.axis_labels((*left, *right)),
                first=first,
                second=second,
                situation=f"the operands of `{node.operation}` were merged in these orders",
            )
            return
    if node.operation == "matmul" and len(operands[0]) == 3:
        yield from _tiled(subject, value, operands[0][0], operands[1][0])


def _meeting(node: Apply, operands: Sequence[Axes]) -> Iterator[tuple[Axis, Axis]]:
    first, *others = operands
    if node.operation == "matmul":
        right = others[0]
        yield from zip(first[:-2], right[:-2], strict=True)
        yield first[-1], right[-2]
        return
    for other in others:
        if len(other) == len(first):
            yield from zip(first, other, strict=True)


def _tiled(subject: Subject, value: Value, left: Axis, right: Axis) -> Iterator[Diagnostic]:
    """A batch axis in which one operand has `H` and the other `[G, KV]` with `G` a repetition.

    A repetition in front of everything is a batch that an operand lacks, and is fine; one
    between real axes is a tiling of heads.
    """
    for single, merged in ((left, right), (right, left)):
        for run in (
            runs(subject.analysis.facts, tuple(f.dim for f in single), tuple(f.dim for f in merged))
            or ()
        ):
            part = merged[run.target_start : run.target_end]
            one = single[run.start : run.end]
            if len(one) != 1 or len(part) != 2 or run.target_start == 0:
                continue
            repeated, real = part
            if (
                one[0].carries_data
                and repeated.origin is Origin.REPEATED
                and real.carries_data
                and any(factor.carries_data for factor in merged[: run.target_start])
            ):
                yield diagnose(
                    "P1108",
                    subject.place(subject.step(value).span),
                    label=f"{one[0].dim} meets {listed(f.dim for f in part)} here",
                    secondary=subject.axis_labels((one[0], *part)),
                    single=one[0].dim,
                    merged=listed(f.dim for f in part),
                    repeated=repeated.dim,
                    real=real.dim,
                )
                return
