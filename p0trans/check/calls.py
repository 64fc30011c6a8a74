"""A definition applied: its shape arguments, what it demands of them, its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from p0trans.check.application import counted, juxtaposed_fix, stray_shape
from p0trans.check.context import breaking_numbers
from p0trans.check.dims import lower_dim
from p0trans.check.mismatch import Operand, report_mismatch
from p0trans.check.names import Signature
from p0trans.check.shapes import same_type
from p0trans.diagnostics.model import Label
from p0trans.ir.program import Call, Value
from p0trans.shapes.dim import Constraint, Dim, variable
from p0trans.shapes.solve import FromEquation, FromInput, Given, solve
from p0trans.source import Place, Span
from p0trans.syntax import tree
from p0trans.types import TensorType, TupleType, Type

if TYPE_CHECKING:
    from p0trans.check.body import Argument, Body


def check_call(
    body: Body,
    signature: Signature,
    expr: tree.Expr,
    head: Span,
    attributes: tuple[tree.Attribute, ...] | None,
    parts: tuple[Argument, ...],
) -> Value | None:
    """The value of a definition applied to shape arguments and operands."""
    if not _operands_fit(body, signature, expr, head, parts):
        return None
    dims = _shape_arguments(body, signature, head, attributes, parts)
    if dims is None:
        return None
    replacements = signature.replacements(dims)
    assumptions = _preconditions(body, signature, head, replacements)
    if assumptions is None:
        return body.recover(signature.result.substitute(replacements), expr)
    result = signature.result.substitute(replacements)
    fits = True
    for part, (name, type_) in zip(parts, signature.parameters, strict=True):
        if part.value is None:
            fits = False
            continue
        expected = type_.substitute(replacements)
        found = body.type_of(part.value)
        if not same_type(body.facts, found, expected):
            _report_argument(body, signature, part, name, found, expected)
            fits = False
    if not fits:
        # The result's type does not depend on the operands, so that checking can go on.
        return body.recover(result, expr)
    operands = tuple(part.value for part in parts if part.value is not None)
    return body.call(Call(signature.reference, dims, operands, assumptions), result, expr)


def _operands_fit(
    body: Body,
    signature: Signature,
    expr: tree.Expr,
    head: Span,
    parts: tuple[Argument, ...],
) -> bool:
    if stray_shape(body.context, signature.name, parts):
        return False
    wanted = len(signature.parameters)
    if len(parts) == wanted:
        return True
    if any(part.value is None and body.is_function(part.expr) for part in parts):
        return False
    names = " ".join(name for name, _ in signature.parameters)
    body.context.report(
        "P0201",
        parts[wanted].expr.span if len(parts) > wanted else head,
        fixes=juxtaposed_fix(body.context, [part.expr for part in parts], wanted),
        secondary=(_declared_here(signature),),
        name=signature.name,
        wanted=f"{counted(wanted, 'argument')}{f' ({names})' if names else ''}",
        found=str(len(parts)),
    )
    return False


def _declared_here(signature: Signature) -> Label:
    return Label(Place(signature.source, signature.tree.name.span), "declared here")


def _stated_here(signature: Signature, clause: Sequence[tree.Constraint], index: int) -> Label:
    """Where constraint `index` of a clause stands; a clause with a mistake in it lacks some."""
    constraints = signature.where if clause is signature.tree.where else signature.assume
    if len(clause) != len(constraints):
        return _declared_here(signature)
    return Label(Place(signature.source, clause[index].span), f"`{signature.name}` states it here")


def _shape_arguments(
    body: Body,
    signature: Signature,
    head: Span,
    attributes: tuple[tree.Attribute, ...] | None,
    parts: tuple[Argument, ...],
) -> tuple[Dim, ...] | None:
    context = body.context
    parameters = ", ".join(signature.shape_parameters)
    if attributes is None:
        if not signature.shape_parameters:
            return ()
        inferred = infer_shape_arguments(body, signature, parts)
        written = None if inferred is None else f"{signature.name}[{', '.join(map(str, inferred))}]"
        context.report(
            "P0202",
            head,
            label="no `[…]` after the name",
            secondary=(_declared_here(signature),),
            fixes=(
                ()
                if written is None
                else (context.replace(f"write them: `{written}`", head, written),)
            ),
            name=signature.name,
            parameters=parameters,
            inferred="" if written is None else f", here `{written}`",
        )
        return inferred
    named = next((a for a in attributes if a.name is not None), None)
    if named is not None and named.name is not None:
        context.report(
            "P0205",
            named.span,
            operation=signature.name,
            name=named.name.text,
            near="",
            form=f"{signature.name}[{parameters}]",
        )
        return None
    if len(attributes) != len(signature.shape_parameters):
        span = head if not attributes else attributes[0].span.to(attributes[-1].span)
        inferred = infer_shape_arguments(body, signature, parts) if attributes else None
        written = None if inferred is None else ", ".join(map(str, inferred))
        context.report(
            "P0203",
            span,
            secondary=(_declared_here(signature),),
            fixes=(
                ()
                if written is None
                else (context.replace(f"write `{signature.name}[{written}]`", span, written),)
            ),
            name=signature.name,
            wanted=counted(len(signature.shape_parameters), "shape parameter"),
            parameters=parameters or "none",
            found=str(len(attributes)),
        )
        return None
    dims: list[Dim] = []
    for attribute in attributes:
        if isinstance(attribute.value, tree.DimList):
            context.report(
                "P0210",
                attribute.span,
                name=signature.shape_parameters[len(dims)],
                operation=signature.name,
                wanted="a dim",
                form=f"{signature.name}[{parameters}]",
            )
            return None
        dim = lower_dim(context, attribute.value, products="shape argument")
        if dim is None:
            return None
        context.require_positive(dim, attribute.span)
        dims.append(dim)
    return tuple(dims)


def infer_shape_arguments(
    body: Body, signature: Signature, parts: tuple[Argument, ...]
) -> tuple[Dim, ...] | None:
    """The shape arguments that the operands' types settle, or None when some are not settled."""
    if any(part.value is None for part in parts):
        return None
    types = [body.type_of(part.value) for part in parts if part.value is not None]
    equations = [c for c in (*signature.where, *signature.assume) if c.relation == "=="]
    values: dict[str, Dim] = {}
    for binding in solve(
        signature.shape_parameters, [type_ for _, type_ in signature.parameters], equations
    ):
        match binding:
            case FromInput():
                size = _size_at(types[binding.parameter], binding.path, binding.axis)
                dim = None if size is None else size - binding.rest.substitute(values)
                dim = dim if dim is None or binding.coefficient == 1 else dim // binding.coefficient
            case FromEquation():
                divisor = binding.denominator.substitute(values).as_integer()
                numerator = binding.numerator.substitute(values)
                dim = numerator // divisor if divisor else _named_like(body, binding.variable)
            case Given():
                dim = _named_like(body, binding.variable)
        if dim is None:
            return None
        values[binding.variable] = dim if dim.is_linear else _named_equal(body, dim) or dim
    dims = tuple(values[name] for name in signature.shape_parameters)
    return dims if all(dim.is_linear for dim in dims) else None


def _size_at(type_: Type, path: tuple[int, ...], axis: int) -> Dim | None:
    for index in path:
        if not isinstance(type_, TupleType) or index >= len(type_.items):
            return None
        type_ = type_.items[index]
    if not isinstance(type_, TensorType) or axis >= type_.rank:
        return None
    return type_.shape[axis]


def _named_like(body: Body, name: str) -> Dim | None:
    return variable(name) if name in body.context.shape_names else None


def _named_equal(body: Body, dim: Dim) -> Dim | None:
    """A shape variable of the caller that is provably `dim`."""
    names = map(variable, body.context.shape_names)
    return next((name for name in names if body.facts.equal(name, dim)), None)


def _preconditions(
    body: Body, signature: Signature, head: Span, replacements: dict[str, Dim]
) -> tuple[Constraint, ...] | None:
    """Prove what the definition demands; the assumptions that are left for run time.

    None when a demand is not met, which is then reported.
    """
    context = body.context
    met = True
    for index, written in enumerate(signature.where):
        constraint = written.substitute(replacements)
        numbers = (
            "" if context.facts.holds(constraint) else breaking_numbers(context.facts, constraint)
        )
        if not context.prove(constraint):
            context.report(
                "P0801",
                head,
                secondary=(_stated_here(signature, signature.tree.where, index),),
                fixes=context.where_fix(constraint),
                name=signature.name,
                written=written,
                constraint=constraint,
                numbers=numbers,
            )
            met = False
    left: list[Constraint] = []
    for index, written in enumerate(signature.assume):
        constraint = written.substitute(replacements)
        if context.facts.holds(constraint):
            continue
        if not constraint.variables():
            context.report(
                "P0805",
                head,
                secondary=(_stated_here(signature, signature.tree.assume, index),),
                name=signature.name,
                written=written,
                constraint=constraint,
            )
            met = False
        else:
            left.append(constraint)
    return tuple(left) if met else None


def _report_argument(
    body: Body, signature: Signature, part: Argument, name: str, found: Type, expected: Type
) -> None:
    operand = body.operand(part, in_application=True)
    place = next(p for p in signature.tree.parameters if p.name.text == name)
    label = Label(Place(signature.source, place.span), f"`{signature.name}` takes {name} here")
    report_mismatch(
        body.context,
        Operand(operand.expr, True, (*operand.labels, label), operand.reduced),
        found,
        expected,
    )
