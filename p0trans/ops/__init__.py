"""The operation table: every operation of the language, by name and by symbol.

Costs follow one convention. Work is counted in operations on elements: one for each element that
an elementwise operation gives, one for each element that a reduction reads, 2 M K N for a matrix
product; a cast, a literal and what only moves elements do none. Traffic is counted in bytes, as
if nothing were fused or cached: what an operation reads and what it writes; a view moves none,
and looking up elements moves the ids and each element twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from p0trans.ops.contract import CONTRACTIONS
from p0trans.ops.create import CREATIONS
from p0trans.ops.elementwise import FUNCTIONS, INFIX_ARITHMETIC
from p0trans.ops.extent import EXTENTS
from p0trans.ops.index import INDEXING
from p0trans.ops.layout import VIEWS
from p0trans.ops.logical import LOGICAL, SELECT
from p0trans.ops.reduce import REDUCTIONS
from p0trans.ops.table import Notation, Operation

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            *INFIX_ARITHMETIC,
            *LOGICAL,
            *FUNCTIONS,
            *VIEWS,
            *REDUCTIONS,
            *CONTRACTIONS,
            SELECT,
            *EXTENTS,
            *INDEXING,
            *CREATIONS,
        )
    }
)
"""Every operation by its name, in the order in which the documentation shows them."""


def _by_symbol(notation: Notation) -> Mapping[str, Operation]:
    return MappingProxyType(
        {
            operation.symbol: operation
            for operation in OPERATIONS.values()
            if operation.notation is notation and operation.symbol is not None
        }
    )


INFIX: Mapping[str, Operation] = _by_symbol(Notation.INFIX)
"""The operations that stand between their operands, by symbol (`+`, `&&`)."""

PREFIX: Mapping[str, Operation] = _by_symbol(Notation.PREFIX)
"""The operations that stand before their one operand, by symbol (`-`, `not`)."""

CALLABLE: Mapping[str, Operation] = MappingProxyType(
    {
        name: operation
        for name, operation in OPERATIONS.items()
        if operation.notation is Notation.CALL
    }
)
"""The operations that are applied by name."""
