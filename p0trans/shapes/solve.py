"""How each shape variable of a definition gets its number when the definition runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

from p0trans.shapes.bounds import interval, is_nonnegative, substitute_within_limits
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, variable
from p0trans.shapes.facts import Facts
from p0trans.shapes.relation import relation_of
from p0trans.types import Shape, TensorType, Type

# The shape of an input as numbers; of a tuple input the shapes of its items.
Sizes: TypeAlias = "tuple[int, ...] | tuple[Sizes, ...]"


class FromInput(NamedTuple):
    """`variable` is read off axis `axis` of input `parameter` (`path` leads into a tuple input).

    There the dim is linear in the variable with coefficient `coefficient` and known rest:
    variable = (size - rest) // coefficient. For a bare dim the coefficient is 1 and the rest 0.
    """

    variable: str
    parameter: int
    axis: int
    coefficient: int
    rest: Dim
    path: tuple[int, ...] = ()

    @property
    def sources(self) -> frozenset[str]:
        """The variables that have to be bound before."""
        return self.rest.variables()


class FromEquation(NamedTuple):
    """`variable` = numerator // denominator, over variables bound before it.

    The denominator is a number times variables, so it is not 0 when those are >= 1; it is 1
    when nothing is divided.
    """

    variable: str
    numerator: Dim
    denominator: Dim

    @property
    def sources(self) -> frozenset[str]:
        """The variables that have to be bound before."""
        return self.numerator.variables() | self.denominator.variables()


class Given(NamedTuple):
    """Nothing determines `variable`: the caller passes it as an integer."""

    variable: str

    @property
    def sources(self) -> frozenset[str]:
        """The variables that have to be bound before: none."""
        return frozenset()


ShapeBinding: TypeAlias = FromInput | FromEquation | Given


class InputTensor(NamedTuple):
    """One tensor among the inputs: input `parameter`, or the item of it that `path` leads to."""

    parameter: int
    path: tuple[int, ...]
    type: TensorType


def input_tensors(inputs: Sequence[Type]) -> tuple[InputTensor, ...]:
    """The tensors of the inputs in order, those inside tuples included."""
    found: list[InputTensor] = []
    pending: list[tuple[int, tuple[int, ...], Type]] = [
        (index, (), type_) for index, type_ in reversed(list(enumerate(inputs)))
    ]
    while pending:
        parameter, path, type_ = pending.pop()
        if isinstance(type_, TensorType):
            found.append(InputTensor(parameter, path, type_))
        else:
            pending.extend(
                (parameter, (*path, index), item)
                for index, item in reversed(list(enumerate(type_.items)))
            )
    return tuple(found)


def solve(
    shape_parameters: Sequence[str],
    inputs: Sequence[Type],
    equations: Sequence[Constraint],
) -> tuple[ShapeBinding, ...]:
    """One binding for each shape parameter, in an order in which each uses only earlier ones.

    A bare dim of the first input that has it is preferred, then a linear dim, then an equation
    that gives the variable without a division, then one with. When none of them gives another
    variable, the first open one in declaration order is given by the caller.
    """
    unknown = dict.fromkeys(shape_parameters)
    bindings: list[ShapeBinding] = []
    sources = _Sources(input_tensors(inputs), tuple(_polynomials(equations)), unknown)
    while unknown:
        binding = sources.next() or Given(next(iter(unknown)))
        bindings.append(binding)
        del unknown[binding.variable]
        sources.known(binding.variable)
    return tuple(bindings)


class _Sources:
    """The dims and equations that can still give a variable.

    Each is looked at again only when one of its variables has become known, so that a system of
    thousands of equations takes time in proportion to its size.
    """

    def __init__(
        self, tensors: Sequence[InputTensor], polynomials: Sequence[Dim], unknown: Iterable[str]
    ) -> None:
        axes = [(tensor, axis) for tensor in tensors for axis in range(len(tensor.type.shape))]
        dims = [*(tensor.type.shape[axis] for tensor, axis in axes), *polynomials]
        self._axes = axes
        self._dims = dims
        self._open = [set(dim.variables()) for dim in dims]
        self._uses: dict[str, list[int]] = {name: [] for name in unknown}
        self._ready: list[tuple[int, int, ShapeBinding]] = []
        for index, names in enumerate(self._open):
            names &= self._uses.keys()
            for name in names:
                self._uses[name].append(index)
        for index in range(len(dims)):
            self._consider(index)

    def next(self) -> ShapeBinding | None:
        """The best binding of a variable that is not known yet."""
        while self._ready:
            _, index, binding = heappop(self._ready)
            if self._open[index]:
                return binding
        return None

    def known(self, name: str) -> None:
        for index in self._uses[name]:
            self._open[index].discard(name)
            self._consider(index)

    def _consider(self, index: int) -> None:
        """Note the binding that dim `index` gives, when it has one unknown left."""
        if len(self._open[index]) != 1:
            return
        name = next(iter(self._open[index]))
        dim = self._dims[index]
        if index < len(self._axes):
            read = _from_input(*self._axes[index], name)
            if read is not None:
                rank = 0 if dim.as_variable() is not None else 1
                heappush(self._ready, (rank, index, read))
            return
        computed = _from_equation(dim, name)
        if computed is not None:
            rank = 2 if computed.denominator is constant(1) else 3
            heappush(self._ready, (rank, index, computed))


def _polynomials(constraints: Sequence[Constraint]) -> Iterator[Dim]:
    """The polynomials that the equations among `constraints` set to zero."""
    for constraint in constraints:
        if constraint.relation == "==":
            try:
                yield relation_of(constraint).polynomial
            except DimLimitError:
                continue


def _from_input(tensor: InputTensor, axis: int, name: str) -> FromInput | None:
    """`name` read off an axis whose dim is linear in it."""
    factor, rest = split(tensor.type.shape[axis], name)
    coefficient = None if factor is None else factor.as_integer()
    if coefficient is None:
        return None
    return FromInput(name, tensor.parameter, axis, coefficient, rest, tensor.path)


def _from_equation(polynomial: Dim, name: str) -> FromEquation | None:
    """`name` = -rest / factor where `polynomial` is factor * name + rest and set to zero."""
    factor, rest = split(polynomial, name)
    # A sum as factor could be 0.
    if factor is None or len(factor.terms) != 1 or factor.has_division:
        return None
    if factor.terms[0][1] < 0:
        return FromEquation(name, rest, -factor)
    return FromEquation(name, -rest, factor)


def split(dim: Dim, name: str) -> tuple[Dim | None, Dim]:
    """`factor` and `rest`, both free of `name`, with dim = factor * name + rest.

    The factor is None when there is no such form, as in `K*K` and `K / 2`.
    """
    rest = dim.substitute({name: constant(0)})
    factor = dim.substitute({name: constant(1)}) - rest
    return (factor if factor * variable(name) + rest is dim else None), rest


def bind(
    bindings: Sequence[ShapeBinding], shapes: Sequence[Sizes], given: Mapping[str, int]
) -> dict[str, int]:
    """The number of each shape variable, for inputs of these shapes and of the right ranks.

    Divisions are floored and nothing is checked: `boundary_conditions` are what must hold of
    the result. A division by a variable that is 0, which they reject, gives 0.
    """
    values: dict[str, int] = {}
    for binding in bindings:
        match binding:
            case FromInput(name, parameter, axis, coefficient, rest, path):
                size = size_at(shapes, parameter, path)[axis]
                values[name] = (size - rest.evaluate(values)) // coefficient
            case FromEquation(name, numerator, denominator):
                divisor = denominator.evaluate(values)
                values[name] = numerator.evaluate(values) // divisor if divisor else 0
            case Given(name):
                values[name] = given[name]
    return values


def size_at(shapes: Sequence[Sizes], parameter: int, path: Sequence[int] = ()) -> tuple[int, ...]:
    """The shape of one tensor among the inputs."""
    sizes = shapes[parameter]
    for index in path:
        item = sizes[index]
        assert isinstance(item, tuple)
        sizes = item
    return tuple(size for size in sizes if isinstance(size, int))


class ShapeCondition(NamedTuple):
    """A tensor among the inputs has the rank and the dims of `shape`.

    `axes` are those to compare: on the others the size is the variable by its binding. The rank
    has to be looked at before sizes are read, the dims once all variables are bound.
    """

    parameter: int
    path: tuple[int, ...]
    shape: Shape
    axes: tuple[int, ...]


class PositiveCondition(NamedTuple):
    """`variable` is at least 1. It has to be looked at before anything is divided by it."""

    variable: str


class ConstraintCondition(NamedTuple):
    """A `where` or `assume` that the bindings do not make true."""

    constraint: Constraint


BoundaryCondition: TypeAlias = ShapeCondition | PositiveCondition | ConstraintCondition


def boundary_conditions(
    bindings: Sequence[ShapeBinding],
    inputs: Sequence[Type],
    constraints: Sequence[Constraint],
) -> tuple[BoundaryCondition, ...]:
    """What remains to be checked at run time, in the order in which it is best reported.

    First one ShapeCondition for each tensor, in order; then the variables that could be 0 or
    less, in the order of `bindings`; then the constraints. Together they hold exactly when the
    inputs have the declared shapes with every variable >= 1 and satisfy all `constraints`.
    """
    exact = frozenset(
        (binding.parameter, binding.path, binding.axis)
        for binding in bindings
        if isinstance(binding, FromInput) and abs(binding.coefficient) == 1
    )
    shapes = (
        ShapeCondition(
            tensor.parameter,
            tensor.path,
            tensor.type.shape,
            tuple(
                axis
                for axis in range(tensor.type.rank)
                if (tensor.parameter, tensor.path, axis) not in exact
            ),
        )
        for tensor in input_tensors(inputs)
    )
    positive = (
        PositiveCondition(binding.variable) for binding in bindings if not _is_positive(binding)
    )
    defined = _defined_dims(bindings)
    nothing_assumed = Facts(tuple(binding.variable for binding in bindings))
    remaining = (
        ConstraintCondition(constraint)
        for constraint in dict.fromkeys(constraints)
        if not _holds_once_defined(constraint, defined, nothing_assumed)
    )
    return (*shapes, *positive, *remaining)


def _is_positive(binding: ShapeBinding) -> bool:
    """Whether the variable is >= 1 because those bound before it are, and sizes are >= 0.

    That a division is exact counts as known: its constraint is among the conditions.
    """
    match binding:
        case FromInput(_, _, _, coefficient, rest):
            high = interval(rest, {}).high
            return coefficient == 1 and high is not None and high < 0
        case FromEquation(_, numerator):
            return is_nonnegative(numerator - constant(1), {})
        case Given():
            return False


def _defined_dims(bindings: Sequence[ShapeBinding]) -> dict[str, Dim]:
    """The variables that an equation gives without a division, as dims over the others."""
    defined: dict[str, Dim] = {}
    for binding in bindings:
        if isinstance(binding, FromEquation) and binding.denominator is constant(1):
            try:
                value = substitute_within_limits(binding.numerator, defined)
            except DimLimitError:
                continue
            defined[binding.variable] = value
    return defined


def _holds_once_defined(constraint: Constraint, defined: Mapping[str, Dim], facts: Facts) -> bool:
    try:
        left = substitute_within_limits(constraint.left, defined)
        right = substitute_within_limits(constraint.right, defined)
    except DimLimitError:
        return False
    return facts.holds(Constraint(left, constraint.relation, right))
