"""Axes of a module's inputs whose sizes may change from call to call, and how far they may."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from p0trans.emit.plan import ClassPlan
from p0trans.shapes.bounds import SHAPE_VARIABLE, Interval, is_nonnegative
from p0trans.shapes.dim import (
    Constraint,
    Dim,
    DimLimitError,
    Monomial,
    constant,
    variable,
)
from p0trans.shapes.facts import Facts
from p0trans.shapes.orient import System, orient
from p0trans.shapes.solve import input_tensors, split

_LARGEST_SIZE = 2**31


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of an input: `input` counts those of `forward`, `path` leads into a tuple. `dim`
    is its size as declared; in `solved` the equations between shape variables are used up, but for
    what a variable that the constructor takes says shorter."""

    input: int
    path: tuple[int, ...]
    axis: int
    dim: Dim
    solved: Dim


@dataclass(frozen=True, slots=True)
class Varying:
    """The axes that vary, in order, and what is known of their sizes.

    `fixed` are the variables of solved dims that the constructor's arguments determine, `tied`
    those of which they leave only some sizes, and `constructor` those that it takes.
    """

    axes: tuple[Axis, ...]
    fixed: frozenset[str]
    tied: frozenset[str]
    constructor: frozenset[str]
    facts: Facts
    system: System


@dataclass(frozen=True, slots=True)
class Multiple:
    """A dim that is a positive multiple of `variable` plus a rest, both over the variables that
    the constructor takes."""

    variable: str
    factor: Dim
    rest: Dim


@dataclass(frozen=True, slots=True)
class Range:
    """The sizes that a shape variable may have: no less than any of `lows`, no more than any of
    `highs`, which are dims over the variables that the constructor takes."""

    lows: tuple[Dim, ...]
    highs: tuple[Dim, ...]


def varying(plan: ClassPlan) -> Varying:
    """What varies in the inputs of a module once it is made."""
    definition = plan.definition
    facts = (*definition.where, *definition.assume)
    system = orient(definition.shape_parameters, facts)
    given = {name: _solved(system, variable(name)) for name in plan.constructor}
    fixed = _fixed(given)
    inputs = [definition.parameters[index].type for index in plan.inputs]
    axes = (
        Axis(tensor.parameter, tensor.path, axis, dim, _in_terms_of(given, _solved(system, dim)))
        for tensor in input_tensors(inputs)
        for axis, dim in enumerate(tensor.type.shape)
    )
    return Varying(
        axes=tuple(axis for axis in axes if not axis.solved.variables() <= fixed),
        fixed=fixed,
        tied=frozenset(name for dim in given.values() for name in dim.variables()) - fixed,
        constructor=frozenset(plan.constructor),
        facts=Facts(definition.shape_parameters, facts),
        system=system,
    )


def multiple_of(dim: Dim, known: Varying) -> Multiple | None:
    """A solved dim as a multiple of one variable that is neither fixed nor tied; None when it is
    none."""
    names = dim.variables() - known.constructor
    if len(names) != 1 or names <= known.fixed | known.tied:
        return None
    (name,) = names
    multiple = _multiple(dim, name)
    if multiple is None or not is_nonnegative(multiple.factor - constant(1), {}):
        return None
    return multiple


def range_of(name: str, known: Varying) -> Range:
    """The sizes that the facts allow a variable of the solved dims whatever the others are, but
    for those that the constructor takes."""
    low, high = _numbers(name, known)
    lows = [] if low is None else [constant(low)]
    highs = [] if high is None else [constant(high)]
    for operator, polynomial in known.system.relations:
        names = polynomial.variables()
        if operator != ">=" or names - known.constructor != {name} or len(names) == 1:
            continue
        multiple = _multiple(polynomial, name)
        factor = None if multiple is None else multiple.factor.as_integer()
        if multiple is None or factor is None:
            continue
        if factor > 0:
            lows.append(-(multiple.rest // factor))
        else:
            highs.append(multiple.rest // -factor)
    return Range(tuple(lows), tuple(highs))


def _fixed(given: Mapping[str, Dim]) -> frozenset[str]:
    """The constructor's variables, `given` with their solved dims, and each variable that is the
    only unknown in one of those."""
    fixed = frozenset(given)
    while True:
        unknown = [dim.variables() - fixed for dim in given.values()]
        found = frozenset(name for names in unknown if len(names) == 1 for name in names)
        if not found:
            return fixed
        fixed |= found


def _solved(system: System, dim: Dim) -> Dim:
    try:
        return system.reduce_dim(dim)
    except DimLimitError:
        return dim


def _in_terms_of(given: Mapping[str, Dim], dim: Dim) -> Dim:
    """A solved dim with a variable of `given` for its solved dim, where fewer others are left:
    `2*M*R` is `2*E` where E is `M*R`."""
    for name, solved in given.items():
        try:
            shorter = _divided(dim, solved, variable(name))
        except DimLimitError:
            continue
        if len(shorter.variables() - given.keys()) < len(dim.variables() - given.keys()):
            dim = shorter
    return dim


def _divided(dim: Dim, divisor: Dim, name: Dim) -> Dim:
    """`dim`, divided by the dim `divisor` as far as the leading term of that goes, as a multiple of
    its `name` and a rest."""
    leading, coefficient = divisor.terms[0]
    if not leading or divisor is name:
        return dim
    while True:
        quotient: dict[Monomial, int] = {}
        for monomial, factor in dim.terms:
            if factor % coefficient == 0 and not Counter(leading) - Counter(monomial):
                left = Counter(monomial) - Counter(leading)
                quotient[tuple(left.elements())] = factor // coefficient
        if not quotient:
            return dim
        dim += Dim.of(quotient) * (name - divisor)


def _multiple(dim: Dim, name: str) -> Multiple | None:
    """`dim` as a multiple of `name` and a rest that is free of it."""
    factor, rest = split(dim, name)
    return None if factor is None else Multiple(name, factor, rest)


def _numbers(name: str, known: Varying) -> Interval:
    """The least and the largest number that the facts leave, as far as they prove it."""
    facts = known.facts
    if name not in facts.variables:
        return known.system.bounds.get(name, SHAPE_VARIABLE)
    if not any(name in fact.variables() for fact in facts.constraints):
        return SHAPE_VARIABLE

    def holds(relation: str, size: int) -> bool:
        return facts.holds(Constraint(variable(name), relation, constant(size)))

    low = _last(1, lambda size: holds(">=", size))
    if not holds("<=", _LARGEST_SIZE):
        return Interval(low, None)
    # The largest size is the last one that is not proved to be above all of them.
    return Interval(low, _last(low, lambda size: not holds("<=", size - 1)))


def _last(first: int, true: Callable[[int], bool]) -> int:
    """The last number in a row from `first` that is `true`, as the first one is."""
    step = 1
    while first + step <= _LARGEST_SIZE and true(first + step):
        first, step = first + step, step * 2
    while step > 1:
        step //= 2
        if first + step <= _LARGEST_SIZE and true(first + step):
            first += step
    return first
