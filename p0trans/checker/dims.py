"""Written dims, constraints and types, made into what the checker reckons with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import add, floordiv, mod, mul
from operator import sub as subtract

from p0trans.checker.context import Context
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.dtypes import DTYPES, DType
from p0trans.shapes.dim import LARGEST_SIZE, Constraint, Dim, DimLimitError, constant, variable
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, TensorType, TupleType, Type

DEEPEST_TUPLE = 20
# PyTorch's own limit, and NumPy's.
HIGHEST_RANK = 64


def lower_dim(context: Context, root: tree.Dim, *, products: str | None) -> Dim | None:
    """The dim that `root` writes, or None when it is reported as wrong.

    `products` is None where a product of variables is allowed (an `assume`); otherwise it
    says where this dim stands, and a product is reported.
    """
    # An explicit stack: a sum may be nested deeper than Python recurses.
    done: list[Dim | None] = []
    todo: list[tuple[tree.Dim, bool]] = [(root, False)]
    while todo:
        node, ready = todo.pop()
        if isinstance(node, tree.DimInteger):
            done.append(_limited(context, node.span, partial(constant, node.value)))
        elif isinstance(node, tree.DimName):
            if node.text not in context.shape_names:
                context.unknown_shape_variable(node)
                done.append(None)
            else:
                done.append(variable(node.text))
        elif isinstance(node, tree.DimNegate):
            if ready:
                operand = done.pop()
                done.append(None if operand is None else -operand)
            else:
                todo += [(node, True), (node.operand, False)]
        elif ready:
            right, left = done.pop(), done.pop()
            done.append(_combine(context, node, left, right, products))
        else:
            todo += [(node, True), (node.right, False), (node.left, False)]
    return done.pop()


def _limited(context: Context, span: Span, make: Callable[[], Dim]) -> Dim | None:
    """The dim that `make` gives, or None when it is reported as too large."""
    try:
        dim = make()
    except DimLimitError:
        report_too_large(context, span, "has more terms than can be reckoned with")
        return None
    # What does not fit in a size is a slip of the pen.
    if any(abs(coefficient) > LARGEST_SIZE for _, coefficient in dim.terms):
        report_too_large(context, span, "has a number larger than 2^63 - 1, the largest size")
        return None
    return dim


def report_too_large(context: Context, span: Span, what: str) -> None:
    """Report a dim beyond the limits, once for each text."""
    if context.first_report("P0706", context.source.slice(span)):
        context.report("P0706", span, what=what)


def _combine(
    context: Context,
    node: tree.DimBinary,
    left: Dim | None,
    right: Dim | None,
    products: str | None,
) -> Dim | None:
    if left is None or right is None:
        return None
    if node.operator in "/%":
        divisor = right.as_integer()
        if divisor is None or divisor <= 0:
            _report_division(context, node, right)
            return None
        divide = floordiv if node.operator == "/" else mod
        return _limited(context, node.span, lambda: divide(left, divisor))
    combine = {"*": mul, "+": add, "-": subtract}[node.operator]
    result = _limited(context, node.span, lambda: combine(left, right))
    if result is None or products is None or result.is_linear:
        return result
    if left.is_linear and right.is_linear:
        context.product_found(result, node.span, products)
    return result


def _report_division(context: Context, node: tree.DimBinary, divisor: Dim) -> None:
    text = context.source.slice(node.span)
    code = "P0704" if divisor.as_integer() is None else "P0705"
    if not context.first_report(code, text):
        return
    if code == "P0705":
        context.report(code, node.right.span, text=text, divisor=divisor)
        return
    quotient = "Q"
    while quotient in context.shape_names:
        quotient += "_"
    numerator = context.source.slice(node.left.span)
    equation = f"{numerator} == {context.source.slice(node.right.span)} * {quotient}"
    context.report(code, node.right.span, label="not a literal", text=text, equation=equation)


def lower_constraint(
    context: Context, constraint: tree.Constraint, *, products: str | None
) -> Constraint | None:
    left = lower_dim(context, constraint.left, products=products)
    right = lower_dim(context, constraint.right, products=products)
    if left is None or right is None:
        return None
    return Constraint(left, constraint.relation, right)


def lower_shape(context: Context, dims: tuple[tree.Dim, ...]) -> Shape | None:
    """A written target shape; every dim must be provably at least 1."""
    if dims and not rank_fits(context, "this shape", len(dims), dims[0].span.to(dims[-1].span)):
        return None
    lowered = [lower_dim(context, dim, products="target shape") for dim in dims]
    known = [dim for dim in lowered if dim is not None]
    if len(known) < len(lowered):
        return None
    possible = [
        context.require_positive(dim, node.span) for dim, node in zip(known, dims, strict=True)
    ]
    return tuple(known) if all(possible) else None


def rank_fits(context: Context, subject: str, rank: int, span: Span) -> bool:
    """Report a rank that no tensor can have."""
    if rank > HIGHEST_RANK:
        context.report("P0410", span, subject=subject, rank=rank, highest=HIGHEST_RANK)
    return rank <= HIGHEST_RANK


def lower_dtype(context: Context, name: str, span: Span) -> DType | None:
    dtype = DTYPES.get(name)
    if dtype is None:
        near = nearest(name, DTYPES) or _FOREIGN_DTYPES.get(name.lower())
        fixes = (context.replace(f"write `{near}`", span, near),) if near else ()
        context.report(
            "P0105", span, fixes=fixes, name=name, near=did_you_mean(near), known=", ".join(DTYPES)
        )
    return dtype


_FOREIGN_DTYPES = {
    **{dtype.torch: dtype.name for dtype in DTYPES.values()},
    "float": "F32",
    "double": "F64",
    "half": "F16",
    "int": "I32",
    "long": "I64",
    "short": "I16",
    "byte": "U8",
}


def lower_type(context: Context, root: tree.Type) -> Type | None:
    """The type that `root` writes, or None when it is reported as wrong."""
    done: list[Type | None] = []
    todo: list[tuple[tree.Type, bool, int]] = [(root, False, 0)]
    while todo:
        node, ready, depth = todo.pop()
        if isinstance(node, tree.TensorType):
            done.append(_lower_tensor(context, node))
        elif depth >= DEEPEST_TUPLE:
            context.report("P0212", node.span, deepest=DEEPEST_TUPLE)
            done.append(None)
        elif not ready:
            todo.append((node, True, depth))
            todo += [(item, False, depth + 1) for item in reversed(node.items)]
        else:
            count = len(node.items)
            items = [item for item in done[-count:] if item is not None]
            del done[-count:]
            done.append(TupleType(tuple(items)) if len(items) == count else None)
    return done.pop()


def _lower_tensor(context: Context, node: tree.TensorType) -> TensorType | None:
    dtype = lower_dtype(context, node.dtype.text, node.dtype.span)
    if not rank_fits(context, "this type", len(node.dims), node.span):
        return None
    dims = [lower_dim(context, dim, products="type") for dim in node.dims]
    known = [dim for dim in dims if dim is not None]
    if dtype is None or len(known) < len(dims):
        return None
    return TensorType(dtype, tuple(known))


def require_positive_dims(context: Context, root: tree.Type, type_: Type) -> bool:
    """Report every dim of a declared type that is not provably at least 1.

    False when no value has the type, since a dim of it is a number below 1.
    """
    possible = True
    todo: list[tuple[tree.Type, Type]] = [(root, type_)]
    while todo:
        node, lowered = todo.pop()
        if isinstance(node, tree.TupleType) and isinstance(lowered, TupleType):
            todo += reversed(list(zip(node.items, lowered.items, strict=True)))
        elif isinstance(node, tree.TensorType) and isinstance(lowered, TensorType):
            for dim_node, dim in zip(node.dims, lowered.shape, strict=True):
                possible = context.require_positive(dim, dim_node.span) and possible
    return possible
