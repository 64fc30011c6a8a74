"""P1102: a broadcast that could as well have meant another axis of the same size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from p0trans.checker.warnings.subject import Subject, listed
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Fix
from p0trans.ir.program import Alias, Apply, Value
from p0trans.ir.provenance import Axis
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Facts
from p0trans.types import Shape, shape_text


class _Choice(NamedTuple):
    """Axis `source` of the operand, aligned with axis `bound` of the target where `other`
    would do as well."""

    source: int
    bound: int
    other: int


def alignment(subject: Subject) -> Iterator[Diagnostic]:
    for value, node in subject.applied():
        if node.operation != "broadcast":
            continue
        operand = node.operands[0]
        found, target = subject.shape_of(operand).shape, subject.shape_of(value).shape
        choice = _choice(subject.analysis.facts, found, target)
        if choice is None:
            continue
        axis = subject.analysis.provenance.axes(operand)[choice.source]
        if not any(factor.carries_data for factor in axis):
            # The same number all along the axis, or a count that is put where it is wanted.
            continue
        verdict = _verdict(subject, value, axis, choice)
        if verdict is None:
            continue
        yield diagnose(
            "P1102",
            subject.place(subject.step(value).span),
            label=f"{found[choice.source]} goes to axis {choice.bound}",
            secondary=subject.axis_labels(axis),
            fixes=_pinned(subject, value, found, target, choice, elsewhere=bool(verdict)),
            dim=found[choice.source],
            found=shape_text(found),
            target=shape_text(target),
            bound=choice.bound,
            other=choice.other,
            verdict=verdict,
        )


def _choice(facts: Facts, found: Shape, target: Shape) -> _Choice | None:
    """An axis of `found` with a second place in `target`, the order of the axes kept.

    Alignment to the right gives each axis its last place, so the first place is compared.
    A literal 1 in `found` fits everywhere and pins those before it.
    """
    new = len(target) - len(found)
    if new == 0:
        return None
    place = -1
    for source, dim in enumerate(found):
        bound = source + new
        place += 1
        if dim.as_integer() == 1:
            continue
        # The place to which the axis is bound is one, if there is none before it.
        while place < bound and not facts.equal(dim, target[place]):
            place += 1
        if place < bound:
            return _Choice(source, bound, place)
    return None


def _verdict(subject: Subject, value: Value, axis: Axis, choice: _Choice) -> str | None:
    """What the operands that the result meets say of the choice: None when it is right."""
    provenance = subject.analysis.provenance
    mine = {factor.key for factor in axis}
    elsewhere = ""
    for partner in _partners(subject, value):
        axes = provenance.axes(partner)
        if not mine.isdisjoint(factor.key for factor in axes[choice.bound]):
            return None
        if not mine.isdisjoint(factor.key for factor in axes[choice.other]):
            name = subject.name(partner)
            elsewhere = f"; the values come from axis {choice.other} of {name}"
    return elsewhere


def _partners(subject: Subject, value: Value) -> Iterator[Value]:
    """What the result of a broadcast is combined with, element by element."""
    rank = subject.shape_of(value).rank
    pending = [value]
    while pending:
        here = pending.pop()
        for user in subject.analysis.users[here]:
            node = subject.step(user).node
            if isinstance(node, Alias):
                pending.append(user)
            elif isinstance(node, Apply) and OPERATIONS[node.operation].family == "elementwise":
                for operand in node.operands:
                    if operand != here and subject.shape_of(operand).rank == rank:
                        yield operand


def _pinned(
    subject: Subject, value: Value, found: Shape, target: Shape, choice: _Choice, *, elsewhere: bool
) -> tuple[Fix, ...]:
    """Say in writing which axis is meant: the one that it is, or the other one.

    The likelier one is first: the other one, when the values come from `elsewhere`. Neither is
    for a machine, which does not know.
    """
    application = subject.application(value)
    if application is None or len(found) != 1:
        return ()
    operand = subject.argument_text(application, 0)
    written = subject.source.slice(application.arguments[1].span)
    fixes: list[Fix] = []
    places = (choice.other, choice.bound) if elsewhere else (choice.bound, choice.other)
    for axis in places:
        shape = listed(target[i] if i == axis else 1 for i in range(len(target)))
        text = f"broadcast (reshape {operand} {shape}) {written}"
        fixes.append(
            subject.replace(f"along axis {axis}: `reshape … {shape}`", application.span, text)
        )
    return tuple(fixes)
