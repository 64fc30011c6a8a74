"""P1112: a parameter that a definition never uses."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.subject import Subject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Definition
from p0trans.shapes.solve import Given, solve
from p0trans.types import tensors


def unused_parameter(subject: Subject) -> Iterator[Diagnostic]:
    # No fix: the callers pass it, and which of the two is wrong is theirs to say.
    for local in subject.survey.unused:
        name = local.name.text
        if local.binding is not None or name.startswith("_"):
            continue
        if not _gives_size(subject.definition, name):
            yield diagnose(
                "P1112",
                subject.place(local.name.span),
                label="never used",
                definition=subject.definition.name,
                name=name,
            )


def _gives_size(definition: Definition, name: str) -> bool:
    """Whether a size that is needed could not be read off the inputs without parameter `name`."""
    others = [each.type for each in definition.parameters if each.name != name]
    facts = (*definition.where, *definition.assume)
    equations = [fact for fact in facts if fact.relation == "=="]
    left = solve(definition.shape_parameters, others, equations)
    lost = {each.variable for each in left if isinstance(each, Given)}.difference(
        each.variable for each in definition.bindings if isinstance(each, Given)
    )
    types = (definition.result_type, *others, *(step.type for step in definition.steps))
    dims = (dim for type_ in types for tensor in tensors(type_) for dim in tensor.shape)
    needed = {size for dim in dims for size in dim.variables()}
    return not lost.isdisjoint(needed.union(*(fact.variables() for fact in facts)))
