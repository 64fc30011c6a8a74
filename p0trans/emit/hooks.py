"""What a target adds for one module: a function that compiles it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from p0trans.emit.functions import FileScope
from p0trans.emit.notation import annotation, prose_dim, tuple_code
from p0trans.emit.options import OptionError, Options
from p0trans.emit.plan import ClassPlan
from p0trans.emit.signatures import local_names, parameter_list
from p0trans.emit.targets import HOOKS
from p0trans.emit.varying import Varying, varying
from p0trans.emit.view import HookView, MarkView
from p0trans.types import TensorType, Type

# What the templates of hooks name beside the inputs.
_LOCAL = frozenset({"compiled", "device"})


def require_dynamic(plans: Iterable[ClassPlan], options: Options) -> None:
    """Raises OptionError unless each of `options.dynamic` varies in one of the modules, on a
    target whose graphs may vary."""
    if not options.dynamic:
        return
    hooks = HOOKS[options.target]
    if hooks is None or not hooks.varying:
        names = ", ".join(name for name, item in HOOKS.items() if item and item.varying)
        raise OptionError(f"dynamic dims need target {names}, not {options.target}")
    found = tuple(dict.fromkeys(name for plan in plans for name in _declared(varying(plan))))
    for name in options.dynamic:
        if name not in found:
            choice = f"these do: {', '.join(found)}" if found else "nothing does"
            raise OptionError(f"`{name}` does not vary in the inputs of a module; {choice}")


def hook_view(name: str, class_name: str, plan: ClassPlan, scope: FileScope) -> HookView:
    """The hook called `name` for the module whose class is `class_name`."""
    definition = plan.definition
    names = local_names(definition, scope.taken | _LOCAL)
    inputs = [
        (names.values[definition.parameters[index].name], definition.parameters[index].type)
        for index in plan.inputs
    ]
    types = [annotation(type_, names.shapes, jaxtyping=False) for _, type_ in inputs]
    returns = annotation(definition.result_type, names.shapes, jaxtyping=False)
    dynamic = scope.options.dynamic
    marks = _marks(varying(plan), inputs, names.shapes, dynamic) if dynamic else ()
    return HookView(
        name=name,
        class_=class_name,
        callable=f"Callable[[{', '.join(types)}], {returns}]",
        parameters=parameter_list(definition, plan.inputs, names, jaxtyping=False),
        arguments=tuple(expression for expression, _ in inputs),
        moved=tuple(_moved(expression, type_) for expression, type_ in inputs),
        returns=returns,
        marks=marks,
        dynamic=_listed(tuple(dict.fromkeys(mark.dim for mark in marks))),
    )


def _declared(known: Varying) -> tuple[str, ...]:
    """The shape variables that make axes vary, as the source has them."""
    return tuple(
        name for axis in known.axes for name in sorted(axis.dim.variables() - known.constructor)
    )


def _marks(
    known: Varying,
    inputs: Sequence[tuple[str, Type]],
    names: Mapping[str, str],
    dynamic: Sequence[str],
) -> tuple[MarkView, ...]:
    chosen = (axis for axis in known.axes if not axis.dim.variables().isdisjoint(dynamic))
    return tuple(
        MarkView(
            inputs[axis.input][0] + "".join(f"[{index}]" for index in axis.path),
            axis.axis,
            prose_dim(axis.dim, names),
        )
        for axis in chosen
    )


def _moved(expression: str, type_: Type) -> str:
    """A value on the device that the template calls `device`."""
    if isinstance(type_, TensorType):
        return f"{expression}.to(device)"
    items = enumerate(type_.items)
    return tuple_code(tuple(_moved(f"{expression}[{index}]", item) for index, item in items))


def _listed(words: Sequence[str]) -> str:
    """`B, S and D`."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))
