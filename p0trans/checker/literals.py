"""Whether a literal is a value of a dtype."""

from __future__ import annotations

import math
from typing import Final

from p0trans.checker.context import Context
from p0trans.diagnostics.model import Fix
from p0trans.dtypes import DTYPES, DType
from p0trans.syntax import tree

# The largest finite value plus half a unit in its last place: what reaches it rounds to infinity.
_ROUNDS_TO_INFINITY: Final = {
    "F16": 65520.0,
    "BF16": (2 - 2**-8) * 2.0**127,
    "F32": (2 - 2**-24) * 2.0**127,
}


def integer_range(dtype: DType) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    if dtype.name.startswith("U"):
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def check_literal(
    context: Context, expr: tree.Expr, value: float | int | bool, dtype: DType
) -> bool:
    """Report a literal that is not a value of `dtype`."""
    why = literal_trouble(value, dtype)
    if why is not None:
        literal = expr.arguments[0] if isinstance(expr, tree.Apply) else expr
        written = context.source.slice(literal.span)
        wider = DTYPES["F64" if isinstance(value, float) else "I64"]
        fixes: tuple[Fix, ...] = ()
        if literal is expr and literal_trouble(value, wider) is None:
            text = f"const[{wider}] {written if value >= 0 else f'({written})'}"
            fixes = (
                context.replace(
                    f"make it {wider}: `{text}`", expr.span, f"({text})", machine=False
                ),
            )
        context.report("P0304", literal.span, fixes=fixes, literal=written, dtype=dtype, why=why)
    return why is None


def literal_trouble(value: float | int | bool, dtype: DType) -> str | None:
    """Why the literal is not a value of `dtype`; None when it is one."""
    if isinstance(value, bool):
        return None if dtype.kind == "bool" else ": a truth value is Bool"
    if dtype.kind == "bool":
        return ": write `true` or `false`"
    if dtype.is_integer:
        if isinstance(value, float):
            return ": it is not an integer"
        low, high = integer_range(dtype)
        return None if low <= value <= high else f", which reaches from {low} to {high}"
    try:
        number = float(value)
    except OverflowError:
        return ": it is too large"
    limit = _ROUNDS_TO_INFINITY.get(dtype.name)
    if limit is not None and math.isfinite(number) and abs(number) >= limit:
        return ": it would round to infinity"
    return None
