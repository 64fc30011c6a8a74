"""What sizes must satisfy for a definition to run, its calls included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from p0trans.ir.program import Call, Program, Reference
from p0trans.shapes.dim import Constraint, DimLimitError, constant, variable
from p0trans.shapes.orient import System, orient
from p0trans.shapes.relation import relation_of


class SizesError(Exception):
    """Why there are no such sizes: what is needed, as the end of a sentence."""


def constraints(program: Program) -> Mapping[Reference, tuple[Constraint, ...]]:
    """Each definition's own facts and those that are checked where it calls another.

    Facts that hold at all sizes are left out: `B*H == B*H`, as a call may make of `BH == B*H`.
    """
    known: dict[Reference, tuple[Constraint, ...]] = {}
    for definition in (each for unit in program.units for each in unit.definitions):
        needed = [*definition.where, *definition.assume]
        for step in definition.steps:
            if isinstance(step.node, Call):
                called = program.definition(step.node.definition)
                sizes = dict(zip(called.shape_parameters, step.node.shape_arguments, strict=True))
                needed += (fact.substitute(sizes) for fact in known[called.reference])
        kept = (fact for fact in dict.fromkeys(needed) if _truth(fact) is not True)
        known[definition.reference] = tuple(kept)
    return known


def known_sizes(
    names: Sequence[str], stated: Sequence[Constraint], given: Mapping[str, int]
) -> Mapping[str, int]:
    """The sizes of those of `names`, in their order, that `given` has or that follow by `stated`.

    With `BH == B * H`, B and H give BH. Raises SizesError for sizes that cannot be.
    """
    given = {name: given[name] for name in names if name in given}
    _require_each(stated, given)
    system = _system(names, stated, given)
    found = {name: given.get(name, _size(system, name)) for name in names}
    sizes = {name: size for name, size in found.items() if size is not None}
    for name, size in sizes.items():
        if size < 1:
            raise SizesError(f"{name} >= 1, and it is {size} for {_listed(given)}")
    _require_each(stated, sizes)
    if _is_false(system):
        listed = " and ".join(str(fact) for fact in stated if not fact.variables() <= given.keys())
        raise SizesError(f"{listed}, which nothing satisfies for {_listed(given)}")
    return sizes


def _require_each(stated: Sequence[Constraint], sizes: Mapping[str, int]) -> None:
    """Raise SizesError for the first fact that, alone, cannot be at these sizes."""
    numbers = {name: constant(size) for name, size in sizes.items()}
    for fact in stated:
        at = fact.substitute(numbers)
        unknown = sorted(at.variables())
        if not unknown and not fact.evaluate(sizes):
            used = {name: size for name, size in sizes.items() if name in fact.variables()}
            raise SizesError(f"{fact}, which is false for {_listed(used)}")
        if unknown and _is_false(orient(unknown, (at,))):
            raise SizesError(f"{fact}, and no {' and '.join(unknown)} makes {at} true")


def _system(names: Sequence[str], stated: Sequence[Constraint], given: Mapping[str, int]) -> System:
    """`stated` solved at the sizes of `given`."""
    facts = (Constraint(variable(name), "==", constant(size)) for name, size in given.items())
    return orient(names, (*facts, *stated))


def _is_false(system: System) -> bool:
    """What is left over has variables, or is false: `2*K == 5` has no solution."""
    return any(relation.truth() is False for relation in system.relations)


def _truth(fact: Constraint) -> bool | None:
    try:
        return relation_of(fact).truth()
    except DimLimitError:
        return None


def _size(system: System, name: str) -> int | None:
    try:
        return system.reduce_dim(variable(name)).as_integer()
    except DimLimitError:
        return None


def _listed(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())
