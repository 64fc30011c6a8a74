"""Dims, shapes, types and numbers as the texts of an emitted file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set

from p0trans.dtypes import DType
from p0trans.shapes.dim import Constraint, Dim
from p0trans.types import Shape, TensorType, Type

_NEGATED = {"==": "!=", "!=": "==", "<=": ">", "<": ">=", ">=": "<", ">": "<="}


def code_dim(dim: Dim, names: Mapping[str, str]) -> str:
    """As a Python expression: `2 * K`, `D // 2`."""
    return dim.render(names.__getitem__, "//")


def prose_dim(dim: Dim, names: Mapping[str, str]) -> str:
    """As comments and messages show it, compact: `2*K`, `D//2`."""
    return dim.render(names.__getitem__, "/").replace(" / ", "//")


def prose_shape(shape: Shape, names: Mapping[str, str]) -> str:
    """`[B, S, 2*K]`."""
    return f"[{', '.join(prose_dim(dim, names) for dim in shape)}]"


def documented_type(type_: Type, names: Mapping[str, str]) -> str:
    """`[B, S]`, with the dtype before it where that is not PyTorch's default: `I64[B]`."""
    if isinstance(type_, TensorType):
        dtype = "" if type_.dtype.name == "F32" else type_.dtype.name
        return dtype + prose_shape(type_.shape, names)
    return f"({', '.join(documented_type(item, names) for item in type_.items)})"


def prose_types(type_: Type, dtypes: Set[DType], names: Mapping[str, str]) -> str:
    """The shape of a value, after its dtype where one of `dtypes`, those of what it is computed
    from, is another: `[B, S]`, `BF16[B, S]`; for a tuple those of its items, `[B], ([S], [S])`."""
    if isinstance(type_, TensorType):
        dtype = "" if dtypes <= {type_.dtype} else type_.dtype.name
        return dtype + prose_shape(type_.shape, names)
    texts = ((item, prose_types(item, dtypes, names)) for item in type_.items)
    return ", ".join(text if isinstance(item, TensorType) else f"({text})" for item, text in texts)


def annotation(type_: Type, names: Mapping[str, str], jaxtyping: bool) -> str:
    """`Tensor`, `Float32[Tensor, "B S"]` or a `tuple[…]` of them."""
    if not isinstance(type_, TensorType):
        items = ", ".join(annotation(item, names, jaxtyping) for item in type_.items)
        return f"tuple[{items}]"
    if not jaxtyping:
        return "Tensor"
    dims = " ".join(code_dim(dim, names).replace(" ", "") for dim in type_.shape)
    return f'{type_.dtype.jaxtyping}[Tensor, "{dims}"]'


def tuple_code(items: tuple[str, ...]) -> str:
    """A Python tuple display; `(x,)` for one item."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def number(value: float | int | bool) -> str:
    """As a Python expression; `1e-6` rather than `1e-06`."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value).replace("e-0", "e-")


def constraint_prose(constraint: Constraint, names: Mapping[str, str]) -> str:
    """`BH == B*H`."""
    left, right = prose_dim(constraint.left, names), prose_dim(constraint.right, names)
    return f"{left} {constraint.relation} {right}"


def negated_code(constraint: Constraint, names: Mapping[str, str]) -> str:
    """The Python condition that holds when `constraint` does not: `BH != B * H`."""
    left, right = code_dim(constraint.left, names), code_dim(constraint.right, names)
    return f"{left} {_NEGATED[constraint.relation]} {right}"


def numbers_text(variables: tuple[str, ...], names: Mapping[str, str]) -> str:
    """The values of variables, as part of an f-string: `B={B}, H={H}`."""
    return ", ".join(f"{names[name]}={{{names[name]}}}" for name in variables)
