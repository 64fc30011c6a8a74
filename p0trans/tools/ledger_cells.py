"""A ledger as the cells of a table, which the text, Markdown and HTML renderers lay out."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from p0trans.dtypes import DType
from p0trans.ir.printer import type_text
from p0trans.shapes.dim import Atom, Dim, Monomial
from p0trans.tools.ledger import INPUT, INTERMEDIATE, Cost, Ledger, Row
from p0trans.types import TensorType, Type, shape_text


class Column(NamedTuple):
    """`numeric` cells are aligned at their ends; `code` is Phase 0 text."""

    heading: str
    numeric: bool = False
    code: bool = True


class Table(NamedTuple):
    """The total is the last of `rows`; `depths` says how far the name of each is indented."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    depths: tuple[int, ...]


NAME = 1
"""The column of a row's name."""

_COLUMNS = (
    Column("", code=False),
    Column("step"),
    Column("operation"),
    Column("inputs"),
    Column("output"),
    Column("dtype"),
    Column("FLOPs"),
    Column("bytes"),
    Column("FLOPs/byte"),
)
_NUMBERS = (
    Column("output =", code=False),
    Column("FLOPs =", numeric=True, code=False),
    Column("bytes =", numeric=True, code=False),
    Column("FLOPs/byte =", numeric=True, code=False),
)
_SOURCE = (Column("source"),)


def table(ledger: Ledger, sources: bool) -> Table:
    """The cells of a ledger; with `sources` each row says where it stands."""
    sizes = ledger.sizes
    columns = (
        *_COLUMNS,
        *(_NUMBERS if sizes is not None else ()),
        *(_SOURCE if sources else ()),
    )
    rows = [_cells(row, sizes, sources) for row in ledger.rows]
    total: tuple[str, ...] = ("total", "", "", "", "", "", *_costs(ledger.total))
    if sizes is not None:
        total = (*total, "", *_numbers(ledger.total, sizes))
    rows.append((*total, "") if sources else total)
    return Table(columns, tuple(rows), (*(row.depth for row in ledger.rows), 0))


def heading(ledger: Ledger) -> str:
    """`rmsnorm [B, S, D]`."""
    names = ledger.shape_parameters
    return f"{ledger.name} {_listed(names)}" if names else ledger.name


def facts(ledger: Ledger) -> Iterator[str]:
    """What the definition states of its sizes, and the sizes that were asked for."""
    for word, constraints in (("where", ledger.where), ("assume", ledger.assume)):
        if constraints:
            yield f"{word} {', '.join(map(str, constraints))}"
    if ledger.sizes:
        yield f"at {', '.join(f'{name} = {size}' for name, size in ledger.sizes.items())}"


def ratio_text(cost: Cost) -> str:
    """FLOPs over bytes, without the factors that all their terms share; `-` where no byte moves."""
    if not cost.bytes.terms:
        return "-"
    if not cost.flops.terms:
        return "0"
    shared, divisor = _shared((*cost.flops.terms, *cost.bytes.terms))
    above, below = (_divided(dim, shared, divisor) for dim in cost)
    if below.as_integer() == 1:
        return str(above)
    left = str(above) if len(above.terms) == 1 else f"({above})"
    simple = below.as_integer() is not None or below.as_variable() is not None
    return f"{left} / {below if simple else f'({below})'}"


def ratio(cost: Cost, sizes: Mapping[str, int]) -> float | None:
    """FLOPs over bytes as a number; None where no byte moves, or where it is beyond a float."""
    moved = cost.bytes.evaluate(sizes)
    try:
        return cost.flops.evaluate(sizes) / moved if moved else None
    except OverflowError:
        return None


def shape_cell(type_: Type) -> str:
    """`[B, S]`; for a tuple `([B, S], [B])`."""
    if not isinstance(type_, TensorType):
        return f"({', '.join(map(shape_cell, type_.items))})"
    return shape_text(type_.shape)


def inputs_cell(row: Row) -> str:
    """The shapes of what goes in, with their dtypes where these are not that of the output."""
    dtypes = set(_dtypes(row.output))
    return ", ".join(
        (
            shape_cell(type_)
            if set(_dtypes(type_)) == dtypes and len(dtypes) == 1
            else type_text(type_)
        )
        for type_ in row.inputs
    )


def dtype_cell(type_: Type) -> str:
    """`F32`; for a tuple the dtypes of its items, once where they are one."""
    found = tuple(_dtypes(type_))
    return ", ".join(dtype.name for dtype in (found if len(set(found)) > 1 else found[:1]))


def _cells(row: Row, sizes: Mapping[str, int] | None, sources: bool) -> tuple[str, ...]:
    costs = ("", "", "") if row.operation == INPUT else _costs(row.cost)
    cells: tuple[str, ...] = (
        "" if row.role == INTERMEDIATE else row.role,
        row.name,
        row.expression,
        inputs_cell(row),
        shape_cell(row.output),
        dtype_cell(row.output),
        *costs,
    )
    if sizes is not None:
        numbers = ("", "", "") if row.operation == INPUT else _numbers(row.cost, sizes)
        cells = (*cells, _sizes_cell(row.output, sizes), *numbers)
    return (*cells, f"{row.source.name}:{row.line}") if sources else cells


def _costs(cost: Cost) -> tuple[str, str, str]:
    return str(cost.flops), str(cost.bytes), ratio_text(cost)


def _numbers(cost: Cost, sizes: Mapping[str, int]) -> tuple[str, str, str]:
    intensity = ratio(cost, sizes)
    return (
        f"{cost.flops.evaluate(sizes):,}",
        f"{cost.bytes.evaluate(sizes):,}",
        "-" if intensity is None else f"{intensity:,.3f}",
    )


def _sizes_cell(type_: Type, sizes: Mapping[str, int]) -> str:
    if not isinstance(type_, TensorType):
        return f"({', '.join(_sizes_cell(item, sizes) for item in type_.items)})"
    return _listed([str(dim.evaluate(sizes)) for dim in type_.shape])


def _listed(words: Sequence[str]) -> str:
    return f"[{', '.join(words)}]"


def _dtypes(root: Type) -> Iterator[DType]:
    pending = [root]
    while pending:
        type_ = pending.pop()
        if isinstance(type_, TensorType):
            yield type_.dtype
        else:
            pending += reversed(type_.items)


def _shared(terms: Sequence[tuple[Monomial, int]]) -> tuple[Counter[Atom], int]:
    """The shape variables and the number that divide every term."""
    shared = Counter(atom for atom in terms[0][0] if isinstance(atom, str))
    for monomial, _ in terms[1:]:
        shared &= Counter(atom for atom in monomial if isinstance(atom, str))
    return Counter[Atom](shared), math.gcd(*(coefficient for _, coefficient in terms))


def _divided(dim: Dim, shared: Counter[Atom], divisor: int) -> Dim:
    quotients: dict[Monomial, int] = {}
    for monomial, coefficient in dim.terms:
        rest = list(monomial)
        for atom in shared.elements():
            rest.remove(atom)
        quotients[tuple(rest)] = coefficient // divisor
    return Dim.of(quotients)
