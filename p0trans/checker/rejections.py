"""What a typing rule rejected, told to a person: the place, the reason and what mends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from p0trans.checker.attributes import axes_text
from p0trans.checker.case import Case, fact_type, factor_text
from p0trans.checker.context import ONE, breaking_numbers, numbers_text
from p0trans.checker.contraction import report_batch, report_inner, report_ranks
from p0trans.checker.edits import subject
from p0trans.checker.mismatch import (
    cast_fix,
    report_broadcast,
    report_dtype,
    report_shape,
    report_stretched,
    reshape_fix,
)
from p0trans.checker.shapes import broadcasts, joint, placement, same_shape
from p0trans.diagnostics.model import Fix
from p0trans.dtypes import DTYPES, DType
from p0trans.shapes.dim import Constraint, Dim, product
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import Shape, TensorType, shape_text

if TYPE_CHECKING:
    pass


def report(case: Case) -> None:
    """Report why an operation does not take its operands."""
    match case.rejection.code:
        case "P0301":
            _dtypes_differ(case)
        case "P0302" | "P0303":
            _dtype_not_taken(case)
        case "P0401":
            _shapes_differ(case)
        case "P0403":
            report_inner(case)
        case "P0404":
            report_ranks(case)
        case "P0405":
            report_batch(case)
        case "P0501":
            _not_broadcast(case)
        case "P0702" | "P0703":
            _volume(case)
        case "P0802":
            _bound(case)
        case _:
            _plain(case)


# --- dtypes -----------------------------------------------------------------------------


def _dtypes_differ(case: Case) -> None:
    right = case.blamed
    left = next(
        (k for k, t in enumerate(case.types) if k != right and t == fact_type(case, "expected")), 0
    )
    blamed, wanted = right, case.types[left].dtype
    if _prefer_left(case, left, right):
        as_right = TensorType(case.types[right].dtype, case.types[left].shape)
        others_agree = all(t.dtype is as_right.dtype for k, t in enumerate(case.types) if k != left)
        if others_agree:
            blamed, wanted = left, as_right.dtype
    operand = case.operand(blamed)
    certain = _is_decided(case, left, right)
    report_dtype(case.context, operand, case.types[blamed].dtype, wanted, certain=certain)


def _is_decided(case: Case, left: int, right: int) -> bool:
    """Whether it is known which operand is to be cast: by what is needed around, because only
    one is a literal, or because the wider of two dtypes of one kind has room for both."""
    dtypes = case.types[left].dtype, case.types[right].dtype
    literals = [_is_literal(case.parts[k].expr) for k in (left, right)]
    return (
        (case.hint is not None and case.hint.dtype in dtypes)
        or literals[0] != literals[1]
        or dtypes[0].kind == dtypes[1].kind
    )


def _prefer_left(case: Case, left: int, right: int) -> bool:
    """Whether the left operand is to be cast: to the dtype needed around, or to the wider one."""
    left_dtype, right_dtype = case.types[left].dtype, case.types[right].dtype
    if case.hint is not None and case.hint.dtype in (left_dtype, right_dtype):
        return case.hint.dtype is right_dtype
    literal = [_is_literal(case.parts[k].expr) for k in (left, right)]
    if literal[0] != literal[1]:
        return literal[0]
    return _width(left_dtype) < _width(right_dtype)


def _is_literal(expr: tree.Expr) -> bool:
    return isinstance(expr, tree.Literal) or (
        isinstance(expr, tree.Unary) and isinstance(expr.operand, tree.Literal)
    )


def _width(dtype: DType) -> tuple[int, int, int]:
    return ("bool", "integer", "float").index(dtype.kind), dtype.bits, dtype.precision


_CAST_TO = {"float": "F32", "Bool": "Bool", "I32 or I64": "I64", "numeric": "I32"}
_PLURAL = {"float": "floats", "integer": "integers", "numeric": "numbers"}


def _dtype_not_taken(case: Case) -> None:
    index = case.blamed
    wanted = str(case.rejection.facts.get("wanted", ""))
    if case.rejection.attribute is not None:
        case.context.report(
            case.rejection.code,
            _attribute_span(case),
            operation=case.symbol,
            subject="its dtype",
            found=case.rejection.facts["found"],
            wanted=_PLURAL.get(wanted, wanted),
        )
        return
    operand = case.operand(index)
    found, kind = case.rejection.facts["found"], case.attributes.get("kind")
    fixes: tuple[Fix, ...] = ()
    if case.rejection.code == "P0303":
        fixes = _floor_division_fix(case)
    elif wanted in _CAST_TO:
        hinted = case.hint.dtype if case.hint is not None else None
        target = hinted if hinted is not None and wanted == "float" and hinted.is_float else None
        dtype = target or DTYPES[_CAST_TO[wanted]]
        if case.accepts(index, TensorType(dtype, case.types[index].shape)):
            # Which float dtype is meant, only the type around can tell.
            certain = target is not None or wanted not in ("float", "numeric")
            fixes = (cast_fix(case.context, operand, dtype)._replace(machine=certain),)
    case.context.report(
        case.rejection.code,
        operand.expr.span,
        label=f"this is {found}",
        secondary=operand.labels,
        fixes=fixes,
        operation=case.symbol if kind is None else f"{case.symbol}[{kind}]",
        subject=subject(case.context.source, operand.expr),
        found=found,
        wanted=_PLURAL.get(wanted, wanted),
    )


def _floor_division_fix(case: Case) -> tuple[Fix, ...]:
    """`a / b` as `floordiv a b`; not for a machine, which cannot know that flooring is meant."""
    source = case.context.source
    texts = []
    for part in case.parts:
        text = source.slice(part.expr.span)
        texts.append(text if isinstance(part.expr, tree.Name | tree.Literal) else f"({text})")
    written = f"floordiv {' '.join(texts)}"
    return (
        case.context.replace(
            f"floor division: `{written}`", case.expr.span, written, machine=False
        ),
    )


# --- shapes -----------------------------------------------------------------------------


def _shapes_differ(case: Case) -> None:
    right = case.blamed
    expected = fact_type(case, "expected")
    left = next(
        (k for k, t in enumerate(case.types) if k != right and t.shape == expected.shape), 0
    )
    target = _both_stretched(case, left, right)
    narrow = _narrow(case)
    if target is not None:
        both = case.operand(left), case.operand(right)
        report_stretched(case.context, both, 1, case.types[right], target)
    elif len(narrow) > 1:
        operands = [case.operand(index) for index in narrow]
        wide = next(t.shape for k, t in enumerate(case.types) if k not in narrow)
        report_stretched(case.context, operands, 0, case.types[narrow[0]], wide)
    elif _blame_left(case, left, right):
        found = case.types[left]
        wanted = TensorType(found.dtype, case.types[right].shape)
        report_shape(case.context, case.operand(left), found, wanted)
    else:
        found = case.types[right]
        wanted = TensorType(found.dtype, expected.shape)
        report_shape(case.context, case.operand(right), found, wanted)


def _blame_left(case: Case, left: int, right: int) -> bool:
    facts = case.body.facts
    left_shape, right_shape = case.types[left].shape, case.types[right].shape
    if not case.accepts(left, TensorType(case.types[left].dtype, right_shape)):
        return False
    if case.hint is not None:
        for wanted, other in ((left, right), (right, left)):
            shape = case.types[wanted].shape
            if same_shape(facts, case.hint.shape, shape) and (
                _mendable(case, other, shape)
                or not _stretches(case, wanted, case.types[other].shape)
            ):
                return other == left
    if _stretches(case, right, left_shape):
        return False
    return _stretches(case, left, right_shape)


def _both_stretched(case: Case, left: int, right: int) -> Shape | None:
    """The shape that PyTorch would stretch both operands to, when that is what was meant: it is
    the one needed around, or neither operand is the other one with its axes rearranged."""
    facts = case.body.facts
    shapes = case.types[left].shape, case.types[right].shape
    target = joint(facts, *shapes)
    if target is None:
        return None
    if case.hint is not None and same_shape(facts, case.hint.shape, target):
        return None if len(shapes[0]) != len(shapes[1]) and facts.equal_volume(*shapes) else target
    return None if facts.equal_volume(*shapes) else target


def _narrow(case: Case) -> list[int]:
    """The operands that would be stretched to the shape of the others; empty when there is none
    to which all others would be."""
    facts = case.body.facts
    for type_ in case.types:
        narrow = [
            k for k, t in enumerate(case.types) if not same_shape(facts, t.shape, type_.shape)
        ]
        if all(broadcasts(facts, case.types[k].shape, type_.shape) for k in narrow):
            return narrow
    return []


def _mendable(case: Case, index: int, target: Shape) -> bool:
    """Whether one step makes one operand a `target`."""
    return case.body.facts.equal_volume(case.types[index].shape, target) or _stretches(
        case, index, target
    )


def _stretches(case: Case, index: int, target: Shape) -> bool:
    """Whether one operand was meant to be stretched to `target`."""
    facts = case.body.facts
    shape = case.types[index].shape
    if broadcasts(facts, shape, target):
        return True
    if len(shape) < len(target) and placement(facts, shape, target) is not None:
        return True
    value = case.parts[index].value
    reduced = None if value is None else case.body.reduced(value)
    return reduced is not None and broadcasts(facts, reduced.kept.shape, target)


def _not_broadcast(case: Case) -> None:
    facts = case.rejection.facts
    target = facts["target"]
    assert isinstance(target, tuple)
    found = fact_type(case, "found")
    source_axis, target_axis = facts["source_axis"], facts["target_axis"]
    assert isinstance(source_axis, int)
    assert isinstance(target_axis, int)
    operand = case.operand(case.blamed)
    report_broadcast(
        case.context, operand, found, target, found.shape[source_axis], target[target_axis]
    )


# --- numbers of elements and bounds -----------------------------------------------------


def _volume(case: Case) -> None:
    context = case.context
    found = fact_type(case, "found")
    target = case.rejection.facts["target"]
    assert isinstance(target, tuple)
    operand = case.operand(0)
    name = subject(context.source, operand.expr)
    if case.rejection.code == "P0703":
        context.report(
            "P0703",
            operand.expr.span,
            label=f"this is {found}",
            secondary=operand.labels,
            subject=name,
            elements=product(found.shape),
            target=shape_text(target),
            target_elements=product(target),
        )
        return
    left, right = _without_common(found.shape, target)
    left, right = _without_known(context.facts.constraints, left, right)
    equation = _equation(left, right)
    numbers = numbers_text(context.facts.volume_counterexample(found.shape, target))
    context.report(
        "P0702",
        operand.expr.span,
        label=f"this is {found}",
        secondary=operand.labels,
        fixes=(
            context.assume_fix(
                equation, machine=_names_product(context.facts.constraints, left, right)
            ),
        ),
        subject=name,
        target=shape_text(target),
        numbers=numbers,
    )
    context.prove(Constraint(product(found.shape), "==", product(target)))


def _without_common(left: Shape, right: Shape) -> tuple[list[Dim], list[Dim]]:
    """Both lists of factors without those that stand in both, and without ones."""
    rest = [dim for dim in right if dim.as_integer() != 1]
    kept: list[Dim] = []
    for dim in left:
        if dim in rest:
            rest.remove(dim)
        elif dim.as_integer() != 1:
            kept.append(dim)
    return kept, rest


def _without_known(
    facts: Sequence[Constraint], left: list[Dim], right: list[Dim]
) -> tuple[list[Dim], list[Dim]]:
    """Both lists of factors without a variable on one side and, on the other, what a fact says
    that it is the product of."""
    for fact in facts:
        for name, whole in ((fact.left, fact.right), (fact.right, fact.left)):
            factors = whole.factors()
            if fact.relation != "==" or name.as_variable() is None or factors is None:
                continue
            for one, other in ((left, right), (right, left)):
                rest = _without_all(other, factors)
                if name in one and rest is not None:
                    one.remove(name)
                    other[:] = rest
    return left, right


def _without_all(dims: Sequence[Dim], taken: Sequence[Dim]) -> list[Dim] | None:
    """`dims` without those of `taken`; None when some are not among them."""
    rest = list(dims)
    for dim in taken:
        if dim not in rest:
            return None
        rest.remove(dim)
    return rest


def _names_product(facts: Sequence[Constraint], left: Sequence[Dim], right: Sequence[Dim]) -> bool:
    """Whether the equation of the two products gives a name to one of them, as `BH == B * H` does.

    Any other equation narrows what the definition is for: `H == G` is more likely a step that is
    missing, and so is a second equation for a variable that has one.
    """
    name, factors = (left, right) if len(left) == 1 else (right, left)
    if len(name) != 1 or name[0].as_variable() is None or len(factors) < 2:
        return False
    if any(name[0].variables() & factor.variables() for factor in factors):
        return False
    equations = [fact for fact in facts if fact.relation == "=="]
    return all(name[0].variables().isdisjoint(fact.variables()) for fact in equations)


def _equation(left: Sequence[Dim], right: Sequence[Dim]) -> str:
    """`BH == B * H`: the equation of two products, with a lone variable in front."""

    def text(dims: Sequence[Dim]) -> str:
        return " * ".join(map(factor_text, dims)) if dims else "1"

    if len(right) == 1 and right[0].as_variable():
        return f"{text(right)} == {text(left)}"
    return f"{text(left)} == {text(right)}"


def _bound(case: Case) -> None:
    context = case.context
    constraint = case.rejection.facts["constraint"]
    assert isinstance(constraint, Constraint)
    numbers = breaking_numbers(context.facts, constraint)
    linear = constraint.left.is_linear and constraint.right.is_linear
    if context.prove(constraint) or not linear:
        # A product in a bound is reported as one.
        return
    span = _attribute_span(case)
    context.report(
        "P0802",
        span,
        secondary=case.operand(0).labels,
        fixes=context.where_fix(constraint),
        operation=case.symbol,
        attribute=context.source.slice(span),
        constraint=constraint,
        truth="not proved" if constraint.variables() else "false",
        numbers=numbers,
    )


def _attribute_span(case: Case) -> Span:
    """Where the attribute at fault is written, by its name or in its place."""
    if isinstance(case.expr, tree.Apply):
        in_place = [spec.name for spec in case.operation.attributes if spec.positional]
        for index, attribute in enumerate(case.expr.attributes or ()):
            name = in_place[index] if attribute.name is None else attribute.name.text
            if name == case.rejection.attribute:
                return attribute.span
    return case.expr.span


# --- the rest ---------------------------------------------------------------------------


def _plain(case: Case) -> None:
    """A rejection whose words need no more than its own facts."""
    context = case.context
    operand = case.operand(case.blamed)
    found = case.types[case.blamed]
    facts: dict[str, Any] = {
        "subject": subject(context.source, operand.expr),
        "rank": found.rank,
        "axes": axes_text(found.rank),
        "along": case.attributes.get("axis"),
        **case.rejection.facts,
    }
    of_attribute = case.rejection.attribute is not None
    span = _attribute_span(case) if of_attribute else operand.expr.span
    fixes: tuple[Fix, ...] = ()
    for name, fact in facts.items():
        if isinstance(fact, TensorType):
            facts[name] = shape_text(fact.shape)
    if case.rejection.code == "P0408":
        first = subject(context.source, case.parts[0].expr)
        facts["why"] = f", as {first} has" if facts["wanted"] else " (a scalar)"
        shape = _of_wanted_rank(case, facts["wanted"])
        fixes = () if shape is None else (reshape_fix(context, operand, shape),)
    perm, target = facts.get("perm"), facts.get("target")
    if isinstance(perm, tuple):
        facts["perm"] = list(perm)
    if isinstance(target, tuple):
        facts |= {"target_rank": len(target), "target": shape_text(target)}
    context.report(
        case.rejection.code,
        span,
        label="" if of_attribute else f"this is {found}",
        secondary=operand.labels,
        fixes=fixes,
        operation=case.symbol,
        **facts,
    )


def _of_wanted_rank(case: Case, wanted: int) -> Shape | None:
    """The shape of the operand at fault with an axis of 1 at the operation's axis, or without
    axes, when the operation takes that."""
    found = case.types[case.blamed]
    axis = case.attributes.get("axis")
    shape: Shape = ()
    if wanted == found.rank + 1 and isinstance(axis, int):
        shape = (*found.shape[:axis], ONE, *found.shape[axis:])
    elif wanted > 0 or product(found.shape).as_integer() != 1:
        return None
    return shape if case.accepts(case.blamed, TensorType(found.dtype, shape)) else None
