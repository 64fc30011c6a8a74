"""Definitions as functions, and as the `forward` of a module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from p0trans.emit.body import Body, Callee, ChildCall, Surroundings, write_body
from p0trans.emit.boundary import BoundaryRequest, Level, write_boundary
from p0trans.emit.expressions import Fragment, applied_fragment, named_fragment
from p0trans.emit.lines import commented
from p0trans.emit.notation import annotation, prose_types
from p0trans.emit.options import Options
from p0trans.emit.plan import ClassPlan, Owned
from p0trans.emit.signatures import (
    LocalNames,
    docstring,
    first_tensor,
    given_variables,
    local_names,
    parameter_list,
)
from p0trans.emit.view import FunctionView
from p0trans.ir.program import Definition, Reference, Value
from p0trans.types import TensorType, Type

_FUNCTION_INDENT = 4
_METHOD_INDENT = 8


@dataclass(frozen=True, slots=True)
class FileScope:
    """The top-level names of one file that its code refers to; `taken` are all that a local
    name must avoid."""

    classes: Mapping[Reference, str]
    callees: Mapping[Reference, Callee]
    taken: frozenset[str]
    options: Options

    @property
    def jaxtyping(self) -> bool:
        return self.options.annotate == "jaxtyping"

    @property
    def checks(self) -> bool:
        return self.options.checks == "full"


def function_view(definition: Definition, scope: FileScope, public: bool) -> FunctionView:
    """A definition as a function; a `public` one checks its inputs."""
    names = local_names(definition, scope.taken)
    indices = tuple(range(len(definition.parameters)))
    types = tuple(
        (names.values[parameter.name], parameter.type) for parameter in definition.parameters
    )
    tensor = first_tensor(types)
    body = write_body(
        Surroundings(
            definition=definition,
            parameters=tuple(named_fragment(name, name, type_) for name, type_ in types),
            values=names.values,
            shapes=names.shapes,
            taken=scope.taken,
            callees=scope.callees,
            device=None if tensor is None else f"{tensor}.device",
            indent=_FUNCTION_INDENT,
            checks=scope.checks,
        )
    )
    level: Level = "none" if not scope.checks else "inputs" if public else "facts"
    given = given_variables(definition)
    keywords = ("*", *(f"{names.shapes[name]}: int" for name in given)) if given else ()
    return FunctionView(
        name=scope.callees[definition.reference].name,
        parameters=(
            *parameter_list(definition, indices, names, scope.jaxtyping),
            *keywords,
        ),
        returns=annotation(definition.result_type, names.shapes, scope.jaxtyping),
        doc=docstring(definition.doc, f"Compute `{definition.name}`.", definition, indices, names),
        boundary=write_boundary(
            BoundaryRequest(
                inputs=types,
                bindings=definition.bindings,
                constraints=(*(definition.where if public else ()), *definition.assume),
                names=names.shapes,
                used=body.variables,
                level=level,
            )
        ),
        body=body.lines,
    )


def forward_view(plan: ClassPlan, scope: FileScope, calls_function: bool) -> FunctionView:
    """The `forward` of a module: the definition's body, or a call of its function."""
    definition = plan.definition
    names = local_names(definition, scope.taken)
    types = tuple(
        (names.values[definition.parameters[index].name], definition.parameters[index].type)
        for index in plan.inputs
    )
    write = _call_of_function if calls_function else _inline_body
    body = write(plan, scope, names, types)
    constructor = frozenset(plan.constructor)
    return FunctionView(
        name="forward",
        parameters=("self", *parameter_list(definition, plan.inputs, names, scope.jaxtyping)),
        returns=annotation(definition.result_type, names.shapes, scope.jaxtyping),
        doc=(),
        boundary=write_boundary(
            BoundaryRequest(
                inputs=(("self", plan.known), *types),
                bindings=plan.bindings,
                constraints=tuple(
                    constraint
                    for constraint in (*definition.where, *definition.assume)
                    # What is only about the constructor's variables was checked there.
                    if not constraint.variables() <= constructor
                ),
                names=names.shapes,
                used=body.variables,
                level="inputs" if scope.checks else "none",
                attributes={name: f"self.{plan.variables[name]}" for name in plan.constructor},
            )
        ),
        body=body.lines,
    )


def _inline_body(
    plan: ClassPlan,
    scope: FileScope,
    names: LocalNames,
    inputs: tuple[tuple[str, Type], ...],
) -> Body:
    """The body of the definition, with the module's state and child modules in it."""
    definition = plan.definition
    device = _device(plan, inputs)
    return write_body(
        Surroundings(
            definition=definition,
            parameters=_parameters(plan, names),
            values=names.values,
            shapes=names.shapes,
            taken=scope.taken,
            callees=scope.callees,
            device=device,
            indent=_METHOD_INDENT,
            checks=scope.checks,
            children=_child_calls(plan),
            openings={
                index: _number_as_tensor(definition, index, owned, device)
                for index, owned in plan.owned.items()
                if owned.number
            },
        )
    )


def _call_of_function(
    plan: ClassPlan,
    scope: FileScope,
    names: LocalNames,
    inputs: tuple[tuple[str, Type], ...],
) -> Body:
    """A call of the function that the file has for the definition anyway."""
    definition = plan.definition
    callee = scope.callees[definition.reference]
    keywords = [
        f"{keyword}=self.{plan.variables[definition.shape_parameters[index]]}"
        for index, keyword in callee.keywords
    ]
    call = applied_fragment(callee.name, _parameters(plan, names), keywords, callee.name)
    comment = prose_types(definition.result_type, call.dtypes, names.shapes)
    return Body((commented(f"return {call.text}", comment, _METHOD_INDENT),), frozenset())


def _parameters(plan: ClassPlan, names: LocalNames) -> tuple[Fragment, ...]:
    fragments = []
    for index, parameter in enumerate(plan.definition.parameters):
        name = names.values[parameter.name]
        text = f"self.{plan.owned[index].path}" if index in plan.owned else name
        fragments.append(named_fragment(text, name, parameter.type))
    return tuple(fragments)


def _child_calls(plan: ClassPlan) -> Mapping[Value, ChildCall]:
    calls: dict[Value, ChildCall] = {}
    for sub in plan.module.subs:
        bound = {theirs for theirs, _ in sub.bound}
        for call in sub.calls:
            step = plan.definition.step_of(call)
            assert step is not None
            inputs = tuple(i for i in range(len(step.node.operands)) if i not in bound)
            calls[call] = ChildCall(plan.children[sub.name], inputs)
    return calls


def _device(plan: ClassPlan, inputs: tuple[tuple[str, Type], ...]) -> str | None:
    """Of the first tensor that goes in; without one, of the first tensor that the module owns."""
    owned = (f"self.{owned.path}" for owned in plan.owned.values() if not owned.number)
    tensor = first_tensor(inputs) or next(owned, None)
    return None if tensor is None else f"{tensor}.device"


def _number_as_tensor(definition: Definition, index: int, owned: Owned, device: str | None) -> str:
    type_ = definition.parameters[index].type
    assert isinstance(type_, TensorType)
    where = "" if device is None else f", device={device}"
    return f"torch.tensor(self.{owned.path}, dtype=torch.{type_.dtype.torch}{where})"
