"""What the rules look at: one definition with the provenance of its axes and its softmaxes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from p0trans.checker.warnings.softmax import (
    Returned,
    Softmax,
    Weights,
    follow_weights,
    returned_weights,
)
from p0trans.ir.program import Call, Definition, Reference, Value
from p0trans.ir.provenance import Provenance, trace
from p0trans.shapes.facts import Facts


class Analysis(NamedTuple):
    """One definition, and what follows from its steps.

    `users` has the values whose steps use each value; `softmaxes` are in the order of the steps;
    `weights` has the values that sum to 1 along an axis, as a softmax made them; `returned` is
    what a caller has to know of that.
    """

    definition: Definition
    facts: Facts
    provenance: Provenance
    users: tuple[tuple[Value, ...], ...]
    softmaxes: tuple[Softmax, ...]
    weights: Mapping[Value, Weights]
    returned: Returned | None


def analyse(definition: Definition, earlier: Mapping[Reference, Analysis]) -> Analysis:
    """Walk over the steps of `definition`; `earlier` has the definitions that it may call."""
    facts = Facts(definition.shape_parameters, (*definition.where, *definition.assume))

    def provenance_of(reference: Reference) -> Provenance | None:
        return earlier[reference].provenance if reference in earlier else None

    def returned_by(call: Call) -> Returned | None:
        return earlier[call.definition].returned if call.definition in earlier else None

    provenance = trace(definition, facts, provenance_of)
    softmaxes, weights = follow_weights(definition, provenance, returned_by)
    returned = returned_weights(definition, softmaxes, weights)
    return Analysis(definition, facts, provenance, _users(definition), softmaxes, weights, returned)


def _users(definition: Definition) -> tuple[tuple[Value, ...], ...]:
    users: list[list[Value]] = [[] for _ in (*definition.parameters, *definition.steps)]
    for value, step in definition.numbered_steps():
        for operand in dict.fromkeys(step.node.operands):
            users[operand].append(value)
    return tuple(map(tuple, users))
