"""The `dynamic_shapes` of torch.export.export for a module, from its declared shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from p0trans.emit.names import RESERVED, free_name
from p0trans.emit.notation import code_dim, tuple_code
from p0trans.emit.plan import ClassPlan
from p0trans.emit.signatures import LocalNames
from p0trans.emit.varying import Axis, Varying, multiple_of, range_of, varying
from p0trans.emit.view import DynamicShapesView
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType, Type

_ANY_SIZE = "torch.export.Dim.DYNAMIC"


def dynamic_shapes_view(plan: ClassPlan, names: LocalNames) -> DynamicShapesView:
    """The method of a module whose arguments have these `names`.

    The size of an axis is derived from a shape variable where it is a multiple of one (`2*K`);
    any other (`A + B`, or a divisor of what the constructor takes) is left free, since torch.export
    has no word for it.
    """
    known = varying(plan)
    multiples = {axis: multiple_of(axis.solved, known) for axis in known.axes}
    variables = dict.fromkeys(item.variable for item in multiples.values() if item is not None)
    attributes = {name: f"self.{attribute}" for name, attribute in plan.variables.items()}
    spelled = {**attributes, **_identifiers(variables)}
    sizes = {
        axis: _ANY_SIZE if multiple is None else code_dim(axis.solved, spelled)
        for axis, multiple in multiples.items()
    }
    parameters = [plan.definition.parameters[index] for index in plan.inputs]
    return DynamicShapesView(
        dims=tuple(_dim_code(name, known, spelled) for name in variables),
        inputs=tuple(
            (
                names.values[parameter.name],
                _axes_code(parameter.type, [axis for axis in sizes if axis.input == index], sizes),
            )
            for index, parameter in enumerate(parameters)
        ),
    )


def _identifiers(variables: Iterable[str]) -> Mapping[str, str]:
    """Python names; a variable that solving the facts has made is no identifier yet."""
    found: dict[str, str] = {}
    for name in variables:
        found[name] = free_name(re.sub(r"\W+", "_", name), RESERVED, set(found.values()))
    return found


def _dim_code(name: str, known: Varying, spelled: Mapping[str, str]) -> str:
    """`K = torch.export.Dim("K", min=1, max=64)`."""
    limits = range_of(name, known)
    arguments = [f'"{spelled[name]}"', f"min={_limit('max', limits.lows, spelled)}"]
    if limits.highs:
        arguments.append(f"max={_limit('min', limits.highs, spelled)}")
    return f"{spelled[name]} = torch.export.Dim({', '.join(arguments)})"


def _limit(choose: str, dims: Sequence[Dim], spelled: Mapping[str, str]) -> str:
    texts = [code_dim(dim, spelled) for dim in dict.fromkeys(dims)]
    return texts[0] if len(texts) == 1 else f"{choose}({', '.join(texts)})"


def _axes_code(type_: Type, axes: Sequence[Axis], sizes: Mapping[Axis, str], depth: int = 0) -> str:
    """`{0: B, 1: 2 * K}` for a tensor, a tuple of these for a tuple."""
    if isinstance(type_, TensorType):
        return f"{{{', '.join(f'{axis.axis}: {sizes[axis]}' for axis in axes)}}}"
    return tuple_code(
        tuple(
            _axes_code(item, [axis for axis in axes if axis.path[depth] == index], sizes, depth + 1)
            for index, item in enumerate(type_.items)
        )
    )
