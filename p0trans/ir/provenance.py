"""Axis provenance: what each axis of each value is made of, in the order of memory.

An axis is a sequence of factors, the slowest-running one first. Merging axes by `reshape` joins
their factors, splitting takes them apart again, `transpose` moves them; so that an axis `H` that
was merged from `[G, KV]` is known not to be the `H` that was merged from `[KV, G]`, although both
have the same size. A literal 1 has no factors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from p0trans.ir.program import Alias, Apply, Call, Definition, Pack, Project, Reference, Value
from p0trans.ir.regrouping import Run, mixes, proper, rearranged, runs, split_and_merged
from p0trans.shapes.dim import Dim, DimLimitError
from p0trans.shapes.facts import Facts
from p0trans.types import Shape, TensorType, TupleType, Type

# Beyond this an axis counts as new: more is no program of a person, and would cost a square.
_MAX_FACTORS = 16


class Origin(Enum):
    """How a factor came into being; `REPEATED` and `INDEX` say that no data runs along it."""

    DECLARED = "declared"  # an axis of a parameter
    MADE = "made"  # an axis that a step made
    REPEATED = "repeated"  # a new axis of a broadcast: the same data over and over
    INDEX = "index"  # the axis that an iota counts


class Factor(NamedTuple):
    """Axis `axis` of `value`, `dim` long, as it came into being there.

    `path` says which item of a tuple it is in, and which part of an axis that a call returned
    merged.
    """

    dim: Dim
    value: Value
    axis: int
    path: tuple[int, ...] = ()
    origin: Origin = Origin.MADE

    @property
    def key(self) -> tuple[Value, int, tuple[int, ...]]:
        """The same for two factors exactly when they are the same axis."""
        return self.value, self.axis, self.path

    @property
    def carries_data(self) -> bool:
        return self.origin not in (Origin.REPEATED, Origin.INDEX)


Axis: TypeAlias = tuple[Factor, ...]
Axes: TypeAlias = tuple[Axis, ...]


class TupleAxes(NamedTuple):
    items: tuple[Traced, ...]


Traced: TypeAlias = "Axes | TupleAxes"


class Regrouping(NamedTuple):
    """What a reshape does with the axes of its operand.

    `mixed` are the runs in which several axes become several others, and not by splitting axes
    and merging what then are neighbours. `reordered` are the axes that are split otherwise than
    they were merged, as (axis of the operand, what it is split into).
    """

    mixed: tuple[Run, ...] = ()
    reordered: tuple[tuple[int, Shape], ...] = ()


class Provenance(NamedTuple):
    """The axes of every value of one definition, by value, and its reshapes that are not clean."""

    shape_parameters: tuple[str, ...]
    values: tuple[Traced, ...]
    regroupings: Mapping[Value, Regrouping]
    result: Traced

    def axes(self, value: Value) -> Axes:
        """The axes of a tensor; none for a tuple."""
        traced = self.values[value]
        return () if isinstance(traced, TupleAxes) else traced


def trace(
    definition: Definition, facts: Facts, known: Callable[[Reference], Provenance | None]
) -> Provenance:
    """The provenance of every value of `definition`, in one walk over its steps.

    `facts` are those of the definition; `known` gives the provenance of a definition that it
    calls. An axis that a call returns is traced to the caller's operands.
    """
    values: list[Traced] = [
        _fresh(value, parameter.type, Origin.DECLARED)
        for value, parameter in enumerate(definition.parameters)
    ]
    regroupings: dict[Value, Regrouping] = {}

    reshapes = _Reshapes(facts)
    for value, step in definition.numbered_steps():
        operands = [values[operand] for operand in step.node.operands]
        match step.node:
            case Alias():
                traced = operands[0]
            case Pack():
                traced = TupleAxes(tuple(operands))
            case Project(index=index):
                packed = operands[0]
                assert isinstance(packed, TupleAxes), "only a tuple is taken apart"
                traced = packed.items[index]
            case Call():
                called = known(step.node.definition)
                if called is None:
                    traced = _fresh(value, step.type)
                else:
                    arguments = step.node.shape_arguments
                    dims = dict(zip(called.shape_parameters, arguments, strict=True))
                    site = _CallSite(value, tuple(operands), dims)
                    traced = _through_call(site, step.type, called.result)
            case Apply():
                assert isinstance(step.type, TensorType), "operations give tensors"
                types = [definition.type_of(operand) for operand in step.node.operands]
                shapes = tuple(t.shape if isinstance(t, TensorType) else () for t in types)
                axes = tuple(() if isinstance(item, TupleAxes) else item for item in operands)
                if step.node.operation == "reshape":
                    traced, regrouping = reshapes.trace(value, axes[0], shapes[0], step.type.shape)
                    if regrouping.mixed or regrouping.reordered:
                        regroupings[value] = regrouping
                else:
                    traced = _apply(value, step.node, shapes, axes, step.type.shape)
        values.append(_bounded(value, step.type, traced))
    return Provenance(
        definition.shape_parameters, tuple(values), regroupings, values[definition.result]
    )


def _fresh_axis(value: Value, axis: int, dim: Dim, origin: Origin = Origin.MADE) -> Axis:
    return () if dim.as_integer() == 1 else (Factor(dim, value, axis, origin=origin),)


def _fresh_axes(value: Value, shape: Shape, origin: Origin = Origin.MADE) -> Axes:
    return tuple(_fresh_axis(value, axis, dim, origin) for axis, dim in enumerate(shape))


def _fresh(
    value: Value, type_: Type, origin: Origin = Origin.MADE, path: tuple[int, ...] = ()
) -> Traced:
    if isinstance(type_, TupleType):
        # Tuples nest no deeper than the checker allows.
        return TupleAxes(
            tuple(
                _fresh(value, item, origin, (*path, index))
                for index, item in enumerate(type_.items)
            )
        )
    return tuple(
        () if dim.as_integer() == 1 else (Factor(dim, value, axis, path, origin),)
        for axis, dim in enumerate(type_.shape)
    )


def _bounded(value: Value, type_: Type, traced: Traced) -> Traced:
    if isinstance(traced, TupleAxes) or not isinstance(type_, TensorType):
        return traced
    if all(len(axis) <= _MAX_FACTORS for axis in traced):
        return traced
    return tuple(
        axis if len(axis) <= _MAX_FACTORS else _fresh_axis(value, index, type_.shape[index])
        for index, axis in enumerate(traced)
    )


# --- operations -------------------------------------------------------------------------


def _apply(
    value: Value,
    node: Apply,
    shapes: tuple[Shape, ...],
    axes: tuple[Axes, ...],
    result: Shape,
) -> Axes:
    """The axes of what an operation other than `reshape` gives."""
    axis = node.attributes.get("axis")
    at = axis if isinstance(axis, int) else 0
    match node.operation:
        case "broadcast":
            new = len(result) - len(axes[0])
            return tuple(
                (
                    _fresh_axis(value, index, dim, Origin.REPEATED)
                    if index < new or shapes[0][index - new].as_integer() == 1
                    else axes[0][index - new]
                )
                for index, dim in enumerate(result)
            )
        case "transpose":
            perm = node.attributes["perm"]
            assert isinstance(perm, tuple)
            return tuple(axes[0][index] for index in perm if isinstance(index, int))
        case "reduce":
            return (*axes[0][:at], *axes[0][at + 1 :])
        case "reduce_keep":
            return (*axes[0][:at], (), *axes[0][at + 1 :])
        case "matmul":
            left, right = axes
            batch = tuple(_joined((a, b)) for a, b in zip(left[:-2], right[:-2], strict=True))
            return (*batch, left[-2], right[-1])
        case "take":
            return (*axes[0][:at], *axes[1], *axes[0][at + 1 :])
        case "gather":
            return tuple(
                axes[1][index] if index == at else _joined((axes[0][index], axes[1][index]))
                for index in range(len(result))
            )
        case "slice" | "concat" | "pad":
            whole = node.operation == "slice" and shapes[0][at] is result[at]
            tensors = [operand for operand in axes if len(operand) == len(result)]
            return tuple(
                (
                    _fresh_axis(value, index, dim)
                    if index == at and not whole
                    else _joined([operand[index] for operand in tensors])
                )
                for index, dim in enumerate(result)
            )
        case "iota":
            return tuple(
                _fresh_axis(value, index, dim, Origin.INDEX if index == at else Origin.REPEATED)
                for index, dim in enumerate(result)
            )
    if axes and all(len(shape) == len(result) for shape in shapes):
        # Elementwise: every operand has the shape of the result.
        return tuple(_joined([operand[index] for operand in axes]) for index in range(len(result)))
    return _fresh_axes(value, result)


def _joined(axes: Sequence[Axis]) -> Axis:
    """One axis of operands that are combined element by element.

    Data counts more than what is repeated, and the finer account of an axis more than the
    coarser one. What is repeated in one operand is data where the other has data.
    """
    first = axes[0]
    if all(axis == first for axis in axes):
        return first
    best = max(axes, key=lambda axis: (any(f.carries_data for f in axis), len(axis)))
    if any(any(f.carries_data for f in axis) for axis in axes if axis != best):
        return tuple(
            factor if factor.carries_data else factor._replace(origin=Origin.MADE)
            for factor in best
        )
    return best


class _CallSite(NamedTuple):
    """A call while its result is traced; `dims` are its shape arguments by name."""

    value: Value
    operands: tuple[Traced, ...]
    dims: Mapping[str, Dim]


def _through_call(
    site: _CallSite, type_: Type, returned: Traced, path: tuple[int, ...] = ()
) -> Traced:
    """The axes of a call's result: those of parameters are the caller's operands', those that
    the definition made start at the call."""
    if isinstance(returned, TupleAxes):
        assert isinstance(type_, TupleType), "a call gives what its definition gives"
        pairs = enumerate(zip(type_.items, returned.items, strict=True))
        return TupleAxes(
            tuple(_through_call(site, t, item, (*path, index)) for index, (t, item) in pairs)
        )
    assert isinstance(type_, TensorType), "a call gives what its definition gives"
    return tuple(
        _axis_through_call(site, index, dim, axis, path)
        for index, (dim, axis) in enumerate(zip(type_.shape, returned, strict=True))
    )


def _axis_through_call(
    site: _CallSite, index: int, dim: Dim, axis: Axis, path: tuple[int, ...]
) -> Axis:
    factors: list[Factor] = []
    for part, factor in enumerate(axis):
        operand = site.operands[factor.value] if factor.value < len(site.operands) else None
        if operand is not None and not isinstance(operand, TupleAxes):
            factors += operand[factor.axis]
            continue
        try:
            size = factor.dim.substitute(site.dims)
        except DimLimitError:
            return _fresh_axis(site.value, index, dim)
        if size.as_integer() != 1:
            factors.append(Factor(size, site.value, index, (*path, part), factor.origin))
    return tuple(factors)


def _common_origin(axis: Axis) -> Origin:
    origins = {factor.origin for factor in axis}
    return Origin.REPEATED if origins == {Origin.REPEATED} else Origin.MADE


# --- reshape ----------------------------------------------------------------------------


class _Reshapes:
    """The reshapes of one definition; what two shapes have to do with each other is asked once."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._runs: dict[tuple[Shape, Shape], tuple[Run, ...] | None] = {}

    def trace(
        self, value: Value, axes: Axes, found: Shape, target: Shape
    ) -> tuple[Axes, Regrouping]:
        """The axes of a reshape, and what is not clean about it."""
        traced, regrouping = self._directly(value, axes, found, target)
        if not regrouping.mixed:
            return traced, regrouping
        # Part of an axis may go with its neighbours, as part of the channels in a group norm.
        between: list[Dim] = []
        place = 0
        mixed = []
        for run in regrouping.mixed:
            parts = split_and_merged(
                self._facts,
                found[run.start : run.end],
                target[run.target_start : run.target_end],
            )
            if parts is None:
                mixed.append(run)
            else:
                between += (*target[place : run.target_start], *parts)
                place = run.target_end
        if mixed:
            return traced, Regrouping(tuple(mixed), regrouping.reordered)
        shape = (*between, *target[place:])
        split, regrouping = self._directly(value, axes, found, shape)
        merged, _ = self._directly(value, split, shape, target)
        return merged, regrouping

    def _directly(
        self, value: Value, axes: Axes, found: Shape, target: Shape
    ) -> tuple[Axes, Regrouping]:
        if found == target:
            return axes, Regrouping()
        pieces = [factor for axis in axes for factor in axis]
        dims = tuple(factor.dim for factor in pieces)
        fine = self._cut(dims, target)
        if fine is not None and not any(mixes(dims, target, run) for run in fine):
            return _regrouped(value, pieces, target, fine), Regrouping()
        coarse = self._cut(found, target)
        if coarse is None:
            return _fresh_axes(value, target), Regrouping()
        result: list[Axis] = list(_fresh_axes(value, target))
        mixed: list[Run] = []
        reordered: list[tuple[int, Shape]] = []
        for run in coarse:
            sources = proper(found, run.start, run.end)
            targets = proper(target, run.target_start, run.target_end)
            if len(sources) > 1 and len(targets) > 1:
                mixed.append(run)
            elif len(targets) == 1:
                result[targets[0]] = tuple(factor for i in sources for factor in axes[i])
            elif len(sources) == 1:
                (source,) = sources
                whole = tuple(factor.dim for factor in axes[source])
                parts = tuple(target[axis] for axis in targets)
                if rearranged(self._facts, whole, parts):
                    reordered.append((source, parts))
        return tuple(result), Regrouping(tuple(mixed), tuple(reordered))

    def _cut(self, found: Shape, target: Shape) -> tuple[Run, ...] | None:
        key = found, target
        if key not in self._runs:
            self._runs[key] = runs(self._facts, found, target)
        return self._runs[key]


def _regrouped(value: Value, pieces: Sequence[Factor], target: Shape, found: Sequence[Run]) -> Axes:
    """The axes of a clean reshape: merged factors in their order, a split factor's parts new."""
    result: list[Axis] = [()] * len(target)
    for run in found:
        targets = proper(target, run.target_start, run.target_end)
        factors = tuple(pieces[run.start : run.end])
        if len(targets) == 1:
            result[targets[0]] = factors
            continue
        for index in targets:
            result[index] = _fresh_axis(value, index, target[index], _common_origin(factors))
    return tuple(result)


def _same_otherwise(one: Sequence[Dim], other: Sequence[Dim]) -> bool:
    """Whether both have the same dims in different orders."""
    return list(one) != list(other) and Counter(one) == Counter(other)


def orders_differ(left: Axis, right: Axis) -> bool:
    """Whether two axes of one size were merged from the same dims in different orders."""
    return _same_otherwise([f.dim for f in left], [f.dim for f in right])
