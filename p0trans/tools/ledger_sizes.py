"""Numbers for the shape variables of a definition, from those that are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from p0trans.ir.program import Definition
from p0trans.shapes.dim import Constraint
from p0trans.tools.constraints import SizesError, known_sizes
from p0trans.tools.ledger import LedgerError


def complete_sizes(
    definition: Definition, stated: Sequence[Constraint], given: Mapping[str, int]
) -> Mapping[str, int]:
    """The size of every shape variable of `definition`, in its order.

    Those that are not in `given` must follow from them by `stated`, what sizes have to satisfy.
    Names that are not its own are passed over. Raises LedgerError for sizes that are missing and
    for sizes at which the definition does not run.
    """
    try:
        sizes = known_sizes(definition.shape_parameters, stated, given)
    except SizesError as error:
        raise LedgerError(f"`{definition.name}` needs {error}") from error
    missing = [name for name in definition.shape_parameters if name not in sizes]
    if missing:
        raise LedgerError(f"`{definition.name}` also needs the size of {', '.join(missing)}")
    return sizes
