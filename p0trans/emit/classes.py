"""Modules as `torch.nn.Module` classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from p0trans.dtypes import DTYPES, DType
from p0trans.emit.boundary import BoundaryRequest, write_boundary
from p0trans.emit.dynamic_shapes import dynamic_shapes_view
from p0trans.emit.functions import FileScope, forward_view
from p0trans.emit.lines import Line, Trace, size_guard
from p0trans.emit.names import allocate
from p0trans.emit.notation import code_dim, documented_type, number
from p0trans.emit.plan import ClassPlan, child_dims
from p0trans.emit.signatures import docstring, local_names
from p0trans.emit.view import ClassView, ConstructorView
from p0trans.ir.program import Initializer, Reference, State, Sub
from p0trans.types import TensorType

_FACTORY = {
    "device": "device: torch.device | str | None = None",
    "dtype": "dtype: torch.dtype | None = None",
}
_NUMBER_TYPES: Mapping[str, type[float] | type[int] | type[bool]] = {
    "float": float,
    "integer": int,
    "bool": bool,
}
# Argument lists as in `torch.nn.init`; He's initialization keeps that function's defaults.
_INITIALIZERS = {
    "ones": "nn.init.ones_({0})",
    "zeros": "nn.init.zeros_({0})",
    "full": "nn.init.constant_({0}, {1})",
    "normal": "nn.init.normal_({0}, std={1})",
    "uniform": "nn.init.uniform_({0}, a={1}, b={2})",
    "xavier_uniform": "nn.init.xavier_uniform_({0})",
    "kaiming_uniform": "nn.init.kaiming_uniform_({0})",
}


def class_view(
    plan: ClassPlan,
    plans: Mapping[Reference, ClassPlan],
    scope: FileScope,
    calls_function: bool,
    public: bool,
) -> ClassView:
    """A module as a class; `plans` has those of its children. A `public` one checks what it is
    given."""
    names = local_names(plan.definition, scope.taken)
    summary = f"The computation `{plan.definition.name}` as a module."
    return ClassView(
        module=plan.module,
        name=scope.classes[Reference(plan.module.unit, plan.module.name)],
        doc=docstring(
            plan.module.doc,
            summary,
            plan.definition,
            plan.inputs,
            names,
            _attributes(plan, names.shapes),
        ),
        buffers=tuple(
            f"{plan.owned[state.parameter].path}: Tensor"
            for state in plan.module.states
            if state.kind == "buffer"
        ),
        constructor=_constructor(plan, plans, scope, public) if plan.has_constructor else None,
        forward=forward_view(plan, scope, calls_function, public),
        dynamic_shapes=(dynamic_shapes_view(plan, names) if scope.options.dynamic_shapes else None),
    )


def _attributes(plan: ClassPlan, names: Mapping[str, str]) -> tuple[str, ...]:
    lines = []
    for state in plan.module.states:
        type_ = documented_type(plan.definition.parameters[state.parameter].type, names)
        kind = "parameter" if state.kind == "param" else "buffer"
        lines.append(f"{plan.owned[state.parameter].path}: {type_}, {kind}")
    return tuple(lines)


def _constructor(
    plan: ClassPlan, plans: Mapping[Reference, ClassPlan], scope: FileScope, public: bool
) -> ConstructorView:
    signature = ["self", *(f"{plan.arguments[name]}: int" for name in plan.constructor)]
    for item in plan.numbers:
        type_ = _number_type(plan, item.parameter)
        signature.append(f"{item.name}: {type_.__name__} = {number(type_(item.default))}")
    kept = {const.parameter: const.span for const in plan.module.consts}
    for sub in plan.module.subs:
        kept |= {mine: sub.span for _, mine in sub.bound if mine in plan.copies}
    stored = [
        (plan.variables[name], plan.arguments[name], Trace(sizes=(name,)))
        for name in plan.constructor
    ]
    stored += [
        (plan.owned[item.parameter].path, item.name, Trace(spans=(kept[item.parameter],)))
        for item in plan.numbers
        if item.parameter in kept
    ]
    assignments = [Line(f"self.{path} = {name}", trace=trace) for path, name, trace in stored]
    assignments += [
        Line(_state_code(plan, state), trace=Trace(spans=(state.span,)))
        for state in plan.module.states
    ]
    assignments += [
        Line(_child_code(plan, sub, plans[sub.module], scope), trace=Trace(spans=(sub.span,)))
        for sub in plan.module.subs
    ]
    shown = ", ".join(f"{path}={{self.{path}}}" for path, _, _ in stored)
    return ConstructorView(
        parameters=(*signature, *(_FACTORY[name] for name in plan.factory)),
        guards=_guards(plan, scope) if scope.checks and public else (),
        assignments=tuple(assignments),
        resets=tuple(_resets(plan, plans)),
        representation=f'f"{shown}"' if shown else "",
    )


def _number_type(plan: ClassPlan, parameter: int) -> type[float] | type[int] | type[bool]:
    type_ = plan.definition.parameters[parameter].type
    assert isinstance(type_, TensorType)
    return _NUMBER_TYPES[type_.dtype.kind]


def _guards(plan: ClassPlan, scope: FileScope) -> tuple[Line, ...]:
    """The checks of the sizes that the constructor takes, and of what follows from these alone."""
    if not plan.constructor:
        return ()
    taken = {*plan.arguments.values(), *(item.name for item in plan.numbers), *_FACTORY}
    derived = (name for name in plan.definition.shape_parameters if name not in plan.arguments)
    locals_ = {**plan.arguments, **allocate(derived, scope.taken, taken)}
    boundary = write_boundary(
        BoundaryRequest(
            inputs=(("self", plan.known),),
            values=(),
            bindings=plan.settled,
            constraints=plan.settled_facts,
            names={name: locals_[name] for name in plan.definition.shape_parameters},
            used=frozenset(),
            checked=True,
            attributes=plan.arguments,
        )
    )
    sizes = size_guard(plan.constructor, plan.arguments)
    return (sizes, *boundary.bindings, *boundary.guards)


def _state_code(plan: ClassPlan, state: State) -> str:
    type_ = plan.definition.parameters[state.parameter].type
    assert isinstance(type_, TensorType)
    dims = ", ".join(code_dim(dim, plan.arguments) for dim in type_.shape) or "()"
    declared = f"torch.{type_.dtype.torch}"
    dtype = _dtype_argument(type_.dtype, plan) if type_.dtype.is_float else declared
    tensor = f"torch.empty({dims}, device=device, dtype={dtype})"
    path = plan.owned[state.parameter].path
    if state.kind == "param":
        return f"self.{path} = nn.Parameter({tensor})"
    return f'self.register_buffer("{path}", {tensor})'


def _child_code(plan: ClassPlan, sub: Sub, child: ClassPlan, scope: FileScope) -> str:
    layer = child.layer
    arguments = [code_dim(dim, plan.arguments) for dim in child_dims(sub, child)]
    ours = dict(sub.bound)
    names = {item.parameter: item.name for item in plan.numbers}
    for item in child.numbers:
        keyword = item.name if layer is None else layer.numbers[item.parameter]
        arguments.append(f"{keyword}={names[ours[item.parameter]]}")
    arguments += () if layer is None else layer.keywords
    arguments += ["device=device"] if child.factory else []
    if "dtype" in child.factory:
        (declared,) = child.floats
        passes_on = layer is None and "dtype" in plan.factory
        arguments.append(f"dtype={'dtype' if passes_on else _dtype_argument(declared, plan)}")
    class_ = scope.classes[sub.module] if layer is None else f"nn.{layer.name}"
    return f"self.{plan.children[sub.name]} = {class_}({', '.join(arguments)})"


def _dtype_argument(declared: DType, plan: ClassPlan) -> str:
    """The dtype of a tensor that is declared with a float dtype. With the argument `dtype` it is
    that, and float32 is what torch's own layers make of none, too."""
    if "dtype" not in plan.factory:
        return f"torch.{declared.torch}"
    return "dtype" if declared is DTYPES["F32"] else f"dtype or torch.{declared.torch}"


def _resets(plan: ClassPlan, plans: Mapping[Reference, ClassPlan]) -> Iterator[Line]:
    """What begins otherwise than as its own class has it: the module's state, and that of layers
    of torch.nn."""
    for state in plan.module.states:
        code = _reset_code(plan.owned[state.parameter].path, state.initializer)
        yield Line(code, trace=Trace(spans=(state.span,)))
    for sub in plan.module.subs:
        child = plans[sub.module]
        for state in () if child.layer is None else child.layer.resets:
            path = f"{plan.children[sub.name]}.{child.owned[state.parameter].path}"
            yield Line(_reset_code(path, state.initializer), trace=Trace(spans=(sub.span,)))


def _reset_code(path: str, initializer: Initializer) -> str:
    template = _INITIALIZERS[initializer.name]
    return template.format(f"self.{path}", *map(number, initializer.arguments))
