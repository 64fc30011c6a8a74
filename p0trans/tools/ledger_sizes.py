"""Numbers for the shape variables of a definition, from those that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from p0trans.ir.program import Definition
from p0trans.shapes.dim import Constraint, DimLimitError, constant, variable
from p0trans.shapes.orient import System, orient
from p0trans.tools.ledger import LedgerError


def complete_sizes(
    definition: Definition, stated: Sequence[Constraint], given: Mapping[str, int]
) -> Mapping[str, int]:
    """The size of every shape variable of `definition`, in its order.

    Those that are not in `given` must follow from them by `stated`, what sizes have to satisfy:
    with `BH == B * H`, B and H give BH. Names that are not its own are passed over. Raises
    LedgerError for sizes that are missing and for sizes at which the definition does not run.
    """
    names = definition.shape_parameters
    facts = tuple(
        Constraint(variable(name), "==", constant(given[name])) for name in names if name in given
    )
    system = orient(names, (*facts, *stated))
    found = {name: _size(system, name, given) for name in names}
    sizes = {name: size for name, size in found.items() if size is not None}
    for name, size in sizes.items():
        if size < 1:
            raise LedgerError(f"`{definition.name}` has no size {name} = {size}: it must be >= 1")
    for constraint in stated:
        if constraint.variables() <= sizes.keys() and not constraint.evaluate(sizes):
            at = ", ".join(f"{n} = {sizes[n]}" for n in names if n in constraint.variables())
            raise LedgerError(f"`{definition.name}` needs {constraint}, which is false for {at}")
    # What is left over has variables, or is false: `2*K == 5` has no solution.
    if any(relation.truth() is False for relation in system.relations):
        at = ", ".join(f"{name} = {given[name]}" for name in names if name in given)
        listed = " and ".join(map(str, stated))
        raise LedgerError(f"`{definition.name}` needs {listed}, which nothing satisfies for {at}")
    missing = [name for name in names if name not in sizes]
    if missing:
        raise LedgerError(f"`{definition.name}` also needs the size of {', '.join(missing)}")
    return sizes


def _size(system: System, name: str, given: Mapping[str, int]) -> int | None:
    if name in given:
        return given[name]
    try:
        return system.reduce_dim(variable(name)).as_integer()
    except DimLimitError:
        return None
