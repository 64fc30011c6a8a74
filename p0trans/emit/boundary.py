"""Where a function begins: its inputs are checked and its shape variables get their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from p0trans.dtypes import DType
from p0trans.emit.lines import Line, Trace, constraint_guard, size_guard
from p0trans.emit.names import free_name
from p0trans.emit.notation import code_dim, prose_dim, tuple_code
from p0trans.emit.view import Boundary, InputCheck, ShapeCheck, TupleCheck
from p0trans.ir.program import Value
from p0trans.shapes.dim import Constraint, variable
from p0trans.shapes.solve import (
    ConstraintCondition,
    FromEquation,
    FromInput,
    Given,
    ShapeBinding,
    ShapeCondition,
    boundary_conditions,
)
from p0trans.types import TensorType, Type

DTYPE = "dtype"
"""The local that holds the dtype which several inputs of a module are compared with, where the
function has no other of that name."""

_MOST_UNPACKED = 4
_SIZE = ""


@dataclass(frozen=True, slots=True)
class BoundaryRequest:
    """What a boundary is written from.

    `inputs` are the expressions of the inputs with their types and `values` what they are in the
    definition; `bindings` refer to them by index. `used` are the shape variables that the body
    uses. In a method, input 0 stands for the constructor, has no value, and `attributes` are the
    expressions of its shape variables; `dtypes` are expressions for what becomes of declared dtypes
    when the module is converted. Nothing is checked unless `checked`. `taken` are names that a new
    local must avoid.
    """

    inputs: Sequence[tuple[str, Type]]
    values: Sequence[Value]
    bindings: tuple[ShapeBinding, ...]
    constraints: tuple[Constraint, ...]
    names: Mapping[str, str]
    used: frozenset[str]
    checked: bool
    attributes: Mapping[str, str] | None = None
    dtypes: Mapping[DType, str] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()

    def trace(self, index: int, *variables: str) -> Trace:
        """What a statement about input `index` and shape variables is made of."""
        first = 0 if self.attributes is None else 1
        values = () if index < first else (self.values[index - first],)
        return Trace(values, variables)


def write_boundary(request: BoundaryRequest) -> Boundary:
    """The statements between a signature and its body, in the order inputs, numbers, facts."""
    types = [type_ for _, type_ in request.inputs]
    conditions = (
        boundary_conditions(request.bindings, types, request.constraints) if request.checked else ()
    )
    tensors: list[_Tensor] = []
    sizes: set[str] = set()
    facts: list[Constraint] = []
    for condition in conditions:
        if isinstance(condition, ConstraintCondition):
            facts.append(condition.constraint)
        elif isinstance(condition, ShapeCondition):
            if condition.parameter or request.attributes is None:
                tensors.append(_tensor(condition, request))
        else:
            sizes.add(condition.variable)
    compared = [tensor for tensor in tensors if tensor.condition.axes]
    sizes -= {b.variable for b in request.bindings if _is_read_off_a_full_axis(b)}
    needed = {*request.used, *sizes}
    for tensor in compared:
        needed.update(name for dim in tensor.type.shape for name in dim.variables())
    for constraint in facts:
        needed |= constraint.variables()
    wanted = _wanted(request.bindings, needed)
    sizes |= _fallible_divisors(wanted) if request.checked else set()
    bindings, late = _bindings(request, wanted, sizes, facts)
    dtypes = {t.type.dtype: _dtype_code(t.type.dtype, request) for t in tensors}
    shared = _shared_dtype(tensors, request)
    dtype = free_name(DTYPE, request.taken, request.names.values())
    if shared is not None:
        dtypes[shared] = dtype
    return Boundary(
        tuples=tuple(_tuple_checks(request)) if request.checked else (),
        dtype="" if shared is None else f"{dtype} = {request.dtypes[shared]}",
        inputs=tuple(
            InputCheck(
                tensor.expression,
                dtypes[tensor.type.dtype],
                _dims_code(tensor.type, request.names),
                request.trace(tensor.condition.parameter),
            )
            for tensor in tensors
        ),
        bindings=bindings,
        shapes=tuple(
            ShapeCheck(
                tensor.expression,
                _dims_code(tensor.type, request.names),
                tuple_code(tuple(code_dim(dim, request.names) for dim in tensor.type.shape)),
                request.trace(tensor.condition.parameter),
            )
            for tensor in compared
        ),
        guards=tuple(constraint_guard(constraint, request.names) for constraint in late),
    )


def _tuple_checks(request: BoundaryRequest) -> Iterator[TupleCheck]:
    """Of every tuple among the inputs, before those in it."""
    for index, (name, input_) in enumerate(request.inputs):
        pending = [(name, input_)]
        while pending:
            expression, type_ = pending.pop()
            if isinstance(type_, TensorType):
                continue
            yield TupleCheck(expression, len(type_.items), request.trace(index))
            items = [(f"{expression}[{i}]", item) for i, item in enumerate(type_.items)]
            pending += reversed(items)


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor input, or one in a tuple input, and what its shape has to be."""

    expression: str
    type: TensorType
    condition: ShapeCondition


def _dtype_code(dtype: DType, request: BoundaryRequest) -> str:
    return request.dtypes.get(dtype, f"torch.{dtype.torch}")


def _shared_dtype(tensors: Sequence[_Tensor], request: BoundaryRequest) -> DType | None:
    """The first dtype that follows the module's state and that several inputs have."""
    dtypes = [tensor.type.dtype for tensor in tensors]
    return next((dtype for dtype in request.dtypes if dtypes.count(dtype) > 1), None)


def _tensor(condition: ShapeCondition, request: BoundaryRequest) -> _Tensor:
    expression, type_ = _item(*request.inputs[condition.parameter], condition.path)
    return _Tensor(expression, type_, condition)


def _item(expression: str, type_: Type, path: Sequence[int]) -> tuple[str, TensorType]:
    """The tensor that `path` leads to."""
    for index in path:
        assert not isinstance(type_, TensorType)
        expression, type_ = f"{expression}[{index}]", type_.items[index]
    assert isinstance(type_, TensorType)
    return expression, type_


def _is_read_off_a_full_axis(binding: ShapeBinding) -> bool:
    """Whether the variable is at least 1 because no input has an empty axis, or because the
    constructor has checked it."""
    if not isinstance(binding, FromInput) or binding.coefficient < 1:
        return False
    rest = binding.rest.as_integer()
    return rest is not None and rest <= 0


def _is_bare(binding: FromInput) -> bool:
    return binding.coefficient == 1 and binding.rest.as_integer() == 0


def _dims_code(type_: TensorType, names: Mapping[str, str]) -> str:
    return tuple_code(tuple(f'"{prose_dim(dim, names)}"' for dim in type_.shape))


def _wanted(bindings: Sequence[ShapeBinding], needed: set[str]) -> tuple[ShapeBinding, ...]:
    """The bindings of the variables of `needed` and of those that they are computed from."""
    wanted: list[ShapeBinding] = []
    sought = set(needed)
    for binding in reversed(bindings):
        if binding.variable in sought:
            wanted.append(binding)
            sought |= binding.sources
    return tuple(reversed(wanted))


def _fallible_divisors(wanted: Sequence[ShapeBinding]) -> set[str]:
    """The divisors among the variables that are 0 where an inexact division gave them."""
    divisors: set[str] = set()
    for binding in wanted:
        if isinstance(binding, FromEquation):
            divisors |= binding.denominator.variables()
    return {binding.variable for binding in wanted if _divides(binding)} & divisors


def _divides(binding: ShapeBinding) -> bool:
    if isinstance(binding, FromInput):
        return abs(binding.coefficient) > 1
    return isinstance(binding, FromEquation) and binding.denominator.as_integer() != 1


def _bindings(
    request: BoundaryRequest,
    wanted: Sequence[ShapeBinding],
    sizes: Set[str],
    facts: Sequence[Constraint],
) -> tuple[tuple[Line, ...], tuple[Constraint, ...]]:
    """The assignments of `wanted`, and those of `facts` that are still to be checked.

    A variable of `sizes` may be a divisor after its line: that it is at least 1 is checked there,
    by the facts about it where they are decided by then.
    """
    lines: list[Line] = []
    late = list(facts)
    bound = {binding.variable for binding in wanted if isinstance(binding, Given)}
    if given := tuple(b.variable for b in wanted if b.variable in bound & sizes):
        lines.append(size_guard(given, request.names))
    unpacked: set[tuple[int, tuple[int, ...]]] = set()
    for binding in wanted:
        if isinstance(binding, Given):
            continue
        lines += _assignments(binding, wanted, request, unpacked)
        bound.add(binding.variable)
        if binding.variable not in sizes:
            continue
        decided = [fact for fact in late if binding.variable in fact.variables() <= bound]
        if _divides(binding) and decided:
            lines += [constraint_guard(fact, request.names) for fact in decided]
            late = [fact for fact in late if fact not in decided]
        else:
            lines.append(size_guard((binding.variable,), request.names))
    return tuple(lines), tuple(late)


def _assignments(
    binding: FromInput | FromEquation,
    wanted: Sequence[ShapeBinding],
    request: BoundaryRequest,
    unpacked: set[tuple[int, tuple[int, ...]]],
) -> Iterator[Line]:
    """The lines of one binding: none where it was unpacked from a shape together with another."""
    if isinstance(binding, FromEquation):
        code = _equation_code(binding, request.names)
        yield Line(code, trace=Trace(sizes=(binding.variable,)))
    elif binding.parameter == 0 and request.attributes is not None:
        name, attribute = request.names[binding.variable], request.attributes[binding.variable]
        if name != attribute:
            yield Line(f"{name} = {attribute}", trace=request.trace(0, binding.variable))
    elif not _is_bare(binding):
        code = _linear_code(binding, request)
        yield Line(code, trace=request.trace(binding.parameter, binding.variable))
    elif (binding.parameter, binding.path) not in unpacked:
        unpacked.add((binding.parameter, binding.path))
        yield from _shape_lines(binding, wanted, request)


def _shape_lines(
    first: FromInput, wanted: Sequence[ShapeBinding], request: BoundaryRequest
) -> Iterator[Line]:
    """All variables that are plain axes of one input: `B, S, _ = x.shape`, or `S = x.shape[1]`
    for one alone and for few of many axes."""
    expression, type_ = _item(*request.inputs[first.parameter], first.path)
    axes = {
        binding.axis: binding.variable
        for binding in wanted
        if isinstance(binding, FromInput)
        and _is_bare(binding)
        and (binding.parameter, binding.path) == (first.parameter, first.path)
    }
    if len(axes) == 1 or (type_.rank > _MOST_UNPACKED and len(axes) < type_.rank - 1):
        for axis, name in sorted(axes.items()):
            code = f"{request.names[name]} = {expression}.shape[{axis}]"
            yield Line(code, trace=request.trace(first.parameter, name))
    else:
        names = (request.names[axes[axis]] if axis in axes else "_" for axis in range(type_.rank))
        code = f"{', '.join(names)} = {expression}.shape"
        yield Line(code, trace=request.trace(first.parameter, *axes.values()))


def _linear_code(binding: FromInput, request: BoundaryRequest) -> str:
    expression, _ = _item(*request.inputs[binding.parameter], binding.path)
    size = variable(_SIZE) - binding.rest
    dim = size // binding.coefficient if binding.coefficient > 0 else -size // -binding.coefficient
    names = {**request.names, _SIZE: f"{expression}.shape[{binding.axis}]"}
    return f"{request.names[binding.variable]} = {code_dim(dim, names)}"


def _equation_code(binding: FromEquation, names: Mapping[str, str]) -> str:
    numerator = code_dim(binding.numerator, names)
    if binding.denominator.as_integer() == 1:
        return f"{names[binding.variable]} = {numerator}"
    parts = [
        text if dim.as_variable() is not None or dim.as_integer() is not None else f"({text})"
        for dim, text in (
            (binding.numerator, numerator),
            (binding.denominator, code_dim(binding.denominator, names)),
        )
    ]
    return f"{names[binding.variable]} = {' // '.join(parts)}"
