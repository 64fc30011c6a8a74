"""One definition: its header, made into a signature, and its body, made into steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from p0trans.checker.body import Argument, Body
from p0trans.checker.context import Context
from p0trans.checker.dims import lower_constraint, lower_type, require_positive_dims
from p0trans.checker.names import Scope, Signature
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Definition, Parameter, Reference, Step
from p0trans.shapes.dim import Constraint
from p0trans.shapes.facts import Facts
from p0trans.shapes.solve import solve
from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.types import Type


class CheckedDefinition(NamedTuple):
    """`signature` is None when the header is wrong, `definition` when anything is.

    `parameters` and `steps` are what could be given a type even so.
    """

    signature: Signature | None
    definition: Definition | None
    diagnostics: tuple[Diagnostic, ...]
    parameters: tuple[Parameter, ...]
    steps: tuple[Step, ...]


def check_definition(
    source: Source, unit: str, definition: tree.Definition, scope: Scope
) -> CheckedDefinition:
    """Check one definition under the definitions that `scope` holds."""
    context = Context(source, definition)
    _report_repeated(context, "the shape parameter", definition.shape_parameters)
    _report_repeated(context, "the parameter", [p.name for p in definition.parameters])
    types = [lower_type(context, parameter.type) for parameter in definition.parameters]
    result = lower_type(context, definition.result)
    where = _constraints(context, definition.where, products="`where`")
    assume = _constraints(context, definition.assume, products=None)
    context.facts = Facts(context.shape_names, (*where, *assume))
    if (where or assume) and not context.facts.satisfiable():
        written = (*definition.where, *definition.assume)
        context.report(
            "P0804",
            written[0].span.to(written[-1].span),
            facts=" and ".join(map(str, (*where, *assume))),
            name=definition.name.text,
        )
    for index, parameter in enumerate(definition.parameters):
        type_ = types[index]
        if type_ is not None and not require_positive_dims(context, parameter.type, type_):
            types[index] = None
    if result is not None and not require_positive_dims(context, definition.result, result):
        result = None
    parameters = [
        None if type_ is None else Parameter(parameter.name.text, type_, parameter.span)
        for parameter, type_ in zip(definition.parameters, types, strict=True)
    ]
    body = Body(context, scope, parameters)
    value = body.value_of(definition.body, result)
    if value is not None and result is not None:
        body.require_type(Argument(definition.body, value), result, definition.result.span)
    context.finish()
    known = tuple(parameter for parameter in parameters if parameter is not None)
    found, steps = tuple(context.diagnostics), body.steps()
    if result is None or len(known) < len(parameters):
        return CheckedDefinition(None, None, found, known, steps)
    reference = Reference(unit, definition.name.text)
    signature = Signature(
        reference,
        source,
        definition,
        context.shape_names,
        tuple((parameter.name, parameter.type) for parameter in known),
        result,
        where,
        assume,
    )
    if found or value is None or body.recovered:
        return CheckedDefinition(signature, None, found, known, steps)
    equations = [c for c in (*where, *assume) if c.relation == "=="]
    checked = Definition(
        name=reference.name,
        unit=unit,
        span=definition.span,
        doc=definition.doc,
        shape_parameters=context.shape_names,
        parameters=known,
        result_type=result,
        where=where,
        assume=assume,
        bindings=solve(context.shape_names, _types(known), equations),
        steps=steps,
        result=value,
    )
    return CheckedDefinition(signature, checked, (), known, steps)


def _types(parameters: Sequence[Parameter]) -> list[Type]:
    return [parameter.type for parameter in parameters]


def _constraints(
    context: Context, written: Sequence[tree.Constraint], *, products: str | None
) -> tuple[Constraint, ...]:
    lowered = [lower_constraint(context, constraint, products=products) for constraint in written]
    return tuple(constraint for constraint in lowered if constraint is not None)


def _report_repeated(context: Context, what: str, names: Sequence[tree.Identifier]) -> None:
    seen: dict[str, tree.Identifier] = {}
    for name in names:
        if name.text in seen:
            context.report(
                "P0103",
                name.span,
                label="again here",
                secondary=(context.label(seen[name.text].span, "first declared here"),),
                what=what,
                name=name.text,
            )
        else:
            seen[name.text] = name
