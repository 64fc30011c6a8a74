"""P1105: a softmax in which a whole row can be -inf, and is then NaN."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from p0trans.checker.warnings.elements import Coordinates, Elements, moved_back
from p0trans.checker.warnings.softmax import Softmax
from p0trans.checker.warnings.steps import literal
from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Alias, Apply, Value
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, variable
from p0trans.shapes.facts import Facts

_MINUS_INFINITY = float("-inf")
# Masks stand close to the softmax; the walk back to them ends after so many steps.
_MOST_STEPS = 40


class _Mask(NamedTuple):
    """Elements that are -inf unless `condition` is `kept`: a `select`, and where in it the
    element at given coordinates of the softmax is."""

    select: Value
    condition: Value
    kept: bool
    path: tuple[Value, ...]


def masked_row(subject: Subject) -> Iterator[Diagnostic]:
    for softmax in subject.analysis.softmaxes:
        masks = _masks(subject, softmax.logits)
        if not masks:
            continue
        # A dim at the limit of what is handled leaves no room for a coordinate in it.
        with suppress(DimLimitError):
            if _some_element_stays(subject, softmax, masks):
                continue
        first = masks[0]
        condition = subject.name(first.condition)
        yield diagnose(
            "P1105",
            subject.place(subject.step(first.select).span),
            label="-inf comes in here",
            secondary=(
                subject.label(subject.span(softmax.total), f"summed over axis {softmax.axis}"),
                *(subject.label(subject.span(m.select), "and here") for m in masks[1:]),
            ),
            reason=f"nothing proves that {condition} leaves an element in every row",
        )


def _masks(subject: Subject, logits: Value) -> tuple[_Mask, ...]:
    """The `select … (-inf)` that `logits` come from, by themselves or added."""
    found: list[_Mask] = []
    pending: list[tuple[Value, tuple[Value, ...]]] = [(logits, ())]
    for _ in range(_MOST_STEPS):
        if not pending:
            break
        value, path = pending.pop(0)
        step = subject.definition.step_of(value)
        if step is None:
            continue
        node = step.node
        if isinstance(node, Alias):
            pending.append((node.operand, path))
        if not isinstance(node, Apply):
            continue
        match node.operation:
            case "cast":
                pending.append((node.operands[0], path))
            case "broadcast" | "transpose" | "reshape":
                pending.append((node.operands[0], (*path, value)))
            case "add":
                pending += [(operand, path) for operand in node.operands]
            case "select":
                condition, *branches = node.operands
                for kept, branch in ((False, branches[0]), (True, branches[1])):
                    if literal(subject.definition, branch) == _MINUS_INFINITY:
                        found.append(_Mask(value, condition, kept, path))
                    else:
                        pending.append((branch, path))
    return tuple(found)


def _some_element_stays(subject: Subject, softmax: Softmax, masks: tuple[_Mask, ...]) -> bool:
    """Whether every row provably has an element that no mask hides.

    Rows are all coordinates but the softmax's. The element is looked for on the diagonals,
    at the beginning and at the end, where the masks that people use leave one.
    """
    shape = subject.shape_of(softmax.logits).shape
    one = constant(1)
    # A shape variable is at least 1, so a coordinate is a variable less 1.
    names = [f"@{axis}" for axis in range(len(shape))]
    known = subject.analysis.facts
    facts = Facts(
        (*known.variables, *names),
        (
            *known.constraints,
            *(Constraint(variable(n), "<=", dim) for n, dim in zip(names, shape, strict=True)),
        ),
    )
    rows: list[Dim] = [variable(name) - one for name in names]
    size = shape[softmax.axis]
    others = [row for axis, row in enumerate(rows) if axis != softmax.axis]
    elements = Elements(subject.definition, facts)
    for candidate in (*reversed(others), constant(0), size - one):
        if not facts.holds(Constraint(candidate, "<", size)):
            continue
        at = (*rows[: softmax.axis], candidate, *rows[softmax.axis + 1 :])
        if all(_stays(subject, facts, elements, mask, at) for mask in masks):
            return True
    return False


def _stays(
    subject: Subject, facts: Facts, elements: Elements, mask: _Mask, at: Coordinates
) -> bool:
    place: Coordinates | None = at
    for value in mask.path:
        node = subject.step(value).node
        assert isinstance(node, Apply), "a path has the steps that move elements"
        place = None if place is None else moved_back(subject.definition, facts, value, node, place)
    return place is not None and elements.surely(mask.condition, place, mask.kept)
