"""Definitions as functions, and as the `forward` of a module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from p0trans.dtypes import DType
from p0trans.emit.body import write_body
from p0trans.emit.boundary import BoundaryRequest, write_boundary
from p0trans.emit.expressions import Fragment, applied_fragment, named_fragment
from p0trans.emit.lines import Trace, commented
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
from p0trans.emit.surroundings import Body, Callee, ChildCall, Surroundings
from p0trans.emit.view import FunctionView
from p0trans.ir.program import Definition, Reference, Unit, Value
from p0trans.source import Span
from p0trans.types import TensorType, Type

_FUNCTION_INDENT = 4
_METHOD_INDENT = 8
_DEVICE = "device"


@dataclass(frozen=True, slots=True)
class FileScope:
    """The top-level names of one file that its code refers to; `taken` are all that a local
    name must avoid."""

    classes: Mapping[Reference, str]
    callees: Mapping[Reference, Callee]
    taken: frozenset[str]
    options: Options
    units: Mapping[str, Unit]

    @property
    def jaxtyping(self) -> bool:
        return self.options.annotate == "jaxtyping"

    @property
    def checks(self) -> bool:
        return self.options.checks == "full"

    def cite(self, definition: Definition, spans: Sequence[Span]) -> str:
        """The lines of a definition's file that some spans cover, `norm.p0:12-15`; nothing for
        a single line."""
        unit = self.units[definition.unit]
        first, _ = unit.source.position(min(span.start for span in spans))
        last, _ = unit.source.position(max(span.end for span in spans))
        if first == last:
            return ""
        where = "lines " if unit.source.path is None else f"{unit.path}:"
        return f"{where}{first}-{last}"


def function_view(definition: Definition, scope: FileScope, public: bool) -> FunctionView:
    """A definition as a function; a `public` one checks its inputs. All others are called with
    what the checker has proved, or what is checked where the call stands."""
    callee = scope.callees[definition.reference]
    taken = scope.taken | {_DEVICE} if callee.device else scope.taken
    names = local_names(definition, taken)
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
            taken=taken,
            callees=scope.callees,
            device=_DEVICE if callee.device else None if tensor is None else f"{tensor}.device",
            indent=_FUNCTION_INDENT,
            checks=scope.checks,
            cite=partial(scope.cite, definition),
        )
    )
    keywords = [f"{names.shapes[name]}: int" for name in given_variables(definition)]
    if callee.device:
        keywords.append(f"{_DEVICE}: torch.device | None = None")
    return FunctionView(
        definition=definition,
        inputs=indices,
        name=callee.name,
        parameters=(
            *parameter_list(definition, indices, names, scope.jaxtyping),
            *(("*", *keywords) if keywords else ()),
        ),
        returns=annotation(definition.result_type, names.shapes, scope.jaxtyping),
        doc=docstring(definition.doc, f"Compute `{definition.name}`.", definition, indices, names),
        boundary=write_boundary(
            BoundaryRequest(
                inputs=types,
                values=indices,
                bindings=definition.bindings,
                constraints=(*definition.where, *definition.assume),
                names=names.shapes,
                used=body.variables,
                checked=scope.checks and public,
            )
        ),
        body=body.lines,
    )


def forward_view(
    plan: ClassPlan, scope: FileScope, calls_function: bool, public: bool
) -> FunctionView:
    """The `forward` of a module: the definition's body, or a call of its function. A `public` one
    checks its inputs."""
    definition = plan.definition
    names = local_names(definition, scope.taken)
    types = tuple(
        (names.values[definition.parameters[index].name], definition.parameters[index].type)
        for index in plan.inputs
    )
    write = _call_of_function if calls_function else _inline_body
    body = write(plan, scope, names, types)
    return FunctionView(
        definition=definition,
        inputs=plan.inputs,
        name="forward",
        parameters=("self", *parameter_list(definition, plan.inputs, names, scope.jaxtyping)),
        returns=annotation(definition.result_type, names.shapes, scope.jaxtyping),
        doc=(),
        boundary=write_boundary(
            BoundaryRequest(
                inputs=(("self", plan.known), *types),
                values=plan.inputs,
                bindings=plan.bindings,
                constraints=plan.open_facts,
                names=names.shapes,
                used=body.variables,
                checked=scope.checks and public,
                attributes={name: f"self.{plan.variables[name]}" for name in plan.constructor},
                dtypes=_converted_dtypes(plan),
                taken=scope.taken.union(names.values.values()),
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
            cite=partial(scope.cite, definition),
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
    # All of the definition is in the function.
    trace = Trace(spans=(plan.module.span,))
    line = commented(f"return {call.text}", comment, _METHOD_INDENT, trace=trace)
    return Body((line,), frozenset())


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


def _converted_dtypes(plan: ClassPlan) -> Mapping[DType, str]:
    """The float dtypes that the module's state is declared with, as the state has them now: an
    input goes with the state when `.to(torch.bfloat16)` converts that."""
    found: dict[DType, str] = {}
    for index, owned in sorted(plan.owned.items()):
        type_ = plan.definition.parameters[index].type
        if isinstance(type_, TensorType) and type_.dtype.is_float and not owned.number:
            found.setdefault(type_.dtype, f"self.{owned.path}.dtype")
    return found


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
