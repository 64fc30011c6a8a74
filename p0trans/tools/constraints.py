"""What sizes must satisfy for a definition to run, its calls included."""

from __future__ import annotations

from collections.abc import Mapping

from p0trans.ir.program import Call, Program, Reference
from p0trans.shapes.dim import Constraint


def constraints(program: Program) -> Mapping[Reference, tuple[Constraint, ...]]:
    """Each definition's own facts and those that are checked where it calls another."""
    known: dict[Reference, tuple[Constraint, ...]] = {}
    for definition in (each for unit in program.units for each in unit.definitions):
        needed = [*definition.where, *definition.assume]
        for step in definition.steps:
            if isinstance(step.node, Call):
                called = program.definition(step.node.definition)
                sizes = dict(zip(called.shape_parameters, step.node.shape_arguments, strict=True))
                needed += (fact.substitute(sizes) for fact in known[called.reference])
        known[definition.reference] = tuple(dict.fromkeys(needed))
    return known
