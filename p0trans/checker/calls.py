"""A definition applied: its shape arguments, what it demands of them, its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from p0trans.checker.application import counted, juxtaposed_fix, stray_shape
from p0trans.checker.context import Context, breaking_numbers
from p0trans.checker.dims import lower_dim
from p0trans.checker.names import Signature
from p0trans.checker.operand import Operand
from p0trans.checker.shapes import same_type
from p0trans.diagnostics.model import Fix, Label
from p0trans.ir.program import Call, Value
from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.shapes.solve import FromEquation, FromInput, Given, solve
from p0trans.source import Place, Span
from p0trans.syntax import tree
from p0trans.types import TensorType, TupleType, Type

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body


def check_call(
    body: Body,
    signature: Signature,
    expr: tree.Name | tree.Apply,
    parts: tuple[Argument, ...],
) -> Value | None:
    """The value of a definition applied to shape arguments and operands."""
    head = expr.head.span if isinstance(expr, tree.Apply) else expr.span
    if not _operands_fit(body, signature, head, parts):
        return None
    dims = _shape_arguments(body, signature, expr, parts)
    if dims is None:
        return None
    replacements = signature.replacements(dims)
    assumptions = _preconditions(body, signature, head, replacements)
    if assumptions is None:
        return body.recover(signature.result.substitute(replacements), expr)
    result = signature.result.substitute(replacements)
    operands = tuple(part.value for part in parts if part.value is not None)
    wrong = _wrong_arguments(body, signature, replacements, parts)
    if wrong and not _report_exchanged(body, signature, wrong):
        for argument in wrong:
            _report_argument(body, signature, argument)
    if wrong or len(operands) < len(parts):
        # The result's type does not depend on the operands, so that checking can go on; where
        # the operands fit other shape arguments, these may be the mistake.
        inferred = infer_shape_arguments(body, signature, parts) if wrong else None
        doubtful = (
            inferred is not None
            and inferred.settled
            and not _wrong_arguments(body, signature, signature.replacements(inferred.dims), parts)
        )
        if doubtful:
            _offer(body, _bracket_fix(body, signature, expr, parts))
        return body.recover(result, expr, doubtful=doubtful)
    return body.call(Call(signature.reference, dims, operands, assumptions), result, expr)


def _operands_fit(
    body: Body,
    signature: Signature,
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
    expr: tree.Name | tree.Apply,
    parts: tuple[Argument, ...],
) -> tuple[Dim, ...] | None:
    context = body.context
    attributes = expr.attributes if isinstance(expr, tree.Apply) else None
    head = expr.head.span if isinstance(expr, tree.Apply) else expr.span
    parameters = ", ".join(signature.shape_parameters)
    if attributes is None:
        if not signature.shape_parameters:
            return ()
        inferred = infer_shape_arguments(body, signature, parts)
        written = None if inferred is None else signature.name + context.spelled(inferred.dims)
        context.report(
            "P0202",
            head,
            label="no `[…]` after the name",
            secondary=(_declared_here(signature),),
            fixes=(
                ()
                if inferred is None or written is None
                else (
                    context.replace(
                        f"write them: `{written}`", head, written, machine=inferred.settled
                    ),
                )
            ),
            name=signature.name,
            parameters=parameters,
            inferred="" if written is None else f", here `{written}`",
        )
        return None if inferred is None else inferred.dims
    named = next((a for a in attributes if a.name is not None), None)
    if named is not None and named.name is not None:
        context.report(
            "P0205",
            named.span,
            fixes=_bracket_fix(body, signature, expr, parts),
            operation=signature.name,
            name=named.name.text,
            near=": shape arguments stand in order, without names",
            form=f"{signature.name}[{parameters}]",
        )
        return None
    if len(attributes) != len(signature.shape_parameters):
        span = head if not attributes else attributes[0].span.to(attributes[-1].span)
        context.report(
            "P0203",
            span,
            secondary=(_declared_here(signature),),
            fixes=_bracket_fix(body, signature, expr, parts),
            name=signature.name,
            wanted=counted(len(signature.shape_parameters), "shape parameter"),
            parameters=parameters or "none",
            found=str(len(attributes)),
        )
        return None
    internal = signature.internal_parameters()
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
        may_be_product = signature.shape_parameters[len(dims)] in internal
        where = None if may_be_product else "shape argument"
        dim = lower_dim(context, attribute.value, products=where)
        if dim is None:
            return None
        if not context.require_positive(dim, attribute.span):
            return None
        dims.append(dim)
    return tuple(dims)


def _bracket_fix(
    body: Body,
    signature: Signature,
    expr: tree.Name | tree.Apply,
    parts: tuple[Argument, ...],
) -> tuple[Fix, ...]:
    """The name with the shape arguments that fit, for the one with a wrong bracket."""
    inferred = infer_shape_arguments(body, signature, parts)
    if inferred is None or not isinstance(expr, tree.Apply):
        return ()
    span = expr.head.span.to(expr.attributes_span or expr.head.span)
    brackets = body.context.spelled(inferred.dims) if inferred.dims else ""
    written = signature.name + brackets
    return (body.context.replace(f"write `{written}`", span, written, machine=inferred.settled),)


class Inferred(NamedTuple):
    """Shape arguments for a call. They are `settled` when the operands leave no other choice;
    otherwise one of them is the caller's variable of the same name, which is only likely."""

    dims: tuple[Dim, ...]
    settled: bool


def infer_shape_arguments(
    body: Body, signature: Signature, parts: tuple[Argument, ...]
) -> Inferred | None:
    """The shape arguments that fit the operands' types, or None when some are not known."""
    if any(part.value is None for part in parts):
        return None
    types = [body.type_of(part.value) for part in parts if part.value is not None]
    equations = [c for c in (*signature.where, *signature.assume) if c.relation == "=="]
    values: dict[str, Dim] = {}
    settled = True
    for binding in solve(
        signature.shape_parameters, [type_ for _, type_ in signature.parameters], equations
    ):
        match binding:
            case FromInput():
                size = _size_at(types[binding.parameter], binding.path, binding.axis)
                dim = None if size is None else size - binding.rest.substitute(values)
                dim = None if dim is None else _divided(dim, binding.coefficient)
            case FromEquation():
                divisor = binding.denominator.substitute(values).as_integer()
                numerator = binding.numerator.substitute(values)
                dim = (
                    _divided(numerator, divisor) if divisor else _named_like(body, binding.variable)
                )
                settled = settled and bool(divisor)
            case Given():
                dim = _named_like(body, binding.variable)
                settled = False
        if dim is None:
            return None
        values[binding.variable] = dim if dim.is_linear else _named_equal(body, dim) or dim
    internal = signature.internal_parameters()
    fits = all(
        (dim.is_linear or name in internal) and body.facts.holds(Constraint(dim, ">=", constant(1)))
        for name, dim in values.items()
    )
    dims = tuple(values[name] for name in signature.shape_parameters)
    return Inferred(dims, settled) if fits else None


def _divided(dim: Dim, divisor: int) -> Dim:
    """The floor of `dim / divisor` for a divisor of either sign."""
    return dim // divisor if divisor > 0 else -dim // -divisor


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
                here=_here(written, constraint),
                truth="not proved" if constraint.variables() else "false",
                numbers=numbers,
            )
            met = False
    left: list[Constraint] = []
    for index, written in enumerate(signature.assume):
        constraint = written.substitute(replacements)
        if context.facts.holds(constraint):
            continue
        if _never_holds(context, constraint):
            context.report(
                "P0805",
                head,
                secondary=(_stated_here(signature, signature.tree.assume, index),),
                name=signature.name,
                written=written,
                here=_here(written, constraint),
            )
            met = False
        else:
            left.append(constraint)
    return tuple(left) if met else None


def _offer(body: Body, fixes: tuple[Fix, ...]) -> None:
    """Add another way to mend what was reported last; which one is meant, a person has to say."""
    last = body.context.diagnostics[-1]
    others = tuple(fix._replace(machine=False) for fix in fixes)
    body.context.diagnostics[-1] = last._replace(fixes=(*last.fixes, *others))


def _never_holds(context: Context, constraint: Constraint) -> bool:
    """Whether no sizes of the caller satisfy `constraint`, where arithmetic can tell."""
    if (constraint.left - constraint.right).as_integer() is not None:
        return True  # It is not proved, and does not depend on the sizes.
    linear = constraint.left.is_linear and constraint.right.is_linear
    return linear and not context.facts.assuming(constraint).satisfiable()


def _here(written: Constraint, constraint: Constraint) -> str:
    """What a demand is in the caller's terms, where these differ."""
    return "" if str(written) == str(constraint) else f", here {constraint}"


class _Wrong(NamedTuple):
    """An argument of another type than the parameter's."""

    part: Argument
    name: str
    found: Type
    expected: Type


def _wrong_arguments(
    body: Body, signature: Signature, replacements: dict[str, Dim], parts: tuple[Argument, ...]
) -> list[_Wrong]:
    wrong: list[_Wrong] = []
    for part, (name, type_) in zip(parts, signature.parameters, strict=True):
        if part.value is None or body.is_doubtful(part.value):
            continue
        expected = type_.substitute(replacements)
        found = body.type_of(part.value)
        if not same_type(body.facts, found, expected):
            wrong.append(_Wrong(part, name, found, expected))
    return wrong


def _operand(body: Body, signature: Signature, wrong: _Wrong) -> Operand:
    operand = body.operand(wrong.part, in_application=True)
    place = next(p for p in signature.tree.parameters if p.name.text == wrong.name)
    label = Label(
        Place(signature.source, place.span), f"`{signature.name}` takes {wrong.name} here"
    )
    return operand._replace(labels=(*operand.labels, label))


def _report_argument(body: Body, signature: Signature, wrong: _Wrong) -> None:
    from p0trans.checker.mismatch import report_mismatch

    report_mismatch(body.context, _operand(body, signature, wrong), wrong.found, wrong.expected)


def _report_exchanged(body: Body, signature: Signature, wrong: Sequence[_Wrong]) -> bool:
    """Whether the two arguments that are wrong stand in each other's places; report it."""
    if len(wrong) != 2:
        return False
    first, second = wrong
    if not (
        same_type(body.facts, first.found, second.expected)
        and same_type(body.facts, second.found, first.expected)
    ):
        return False
    from p0trans.checker.mismatch import report_exchanged

    report_exchanged(
        body.context,
        _operand(body, signature, first),
        second.part.expr,
        first.found,
        first.expected,
    )
    return True
