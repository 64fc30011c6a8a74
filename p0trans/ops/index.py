"""Operations that pick elements by number."""

from __future__ import annotations

from typing import Any

from p0trans.ops.rules import (
    RECEIVER,
    Operands,
    Outcome,
    axis_attribute,
    differing_other_dim,
    unwanted_dtype,
    wrong_rank,
)
from p0trans.ops.samples import B, D, K, S, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Operation,
    Precedence,
    Sample,
    Site,
    Spelling,
    no_flops,
)
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType


def _take(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    table, ids = operands
    axis = axis_attribute(attributes)
    shape = (*table.shape[:axis], *ids.shape, *table.shape[axis + 1 :])
    return unwanted_dtype(ids.dtype, "I32 or I64", 1) or TensorType(table.dtype, shape)


def _gather(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    table, ids = operands
    return (
        unwanted_dtype(ids.dtype, "I32 or I64", 1)
        or wrong_rank(ids, table.rank, 1)
        or differing_other_dim(table, ids, axis_attribute(attributes), facts, 1)
        or TensorType(table.dtype, ids.shape)
    )


def _take_torch(site: Site) -> Spelling:
    axis, ids = site.axis(), site.operands[1]
    if ids.rank == 0:
        # Indexing by a tensor of rank 0 reads its number on the host and splits a compiled graph.
        template = "torch.index_select({0}, dim={axis}, index={1}).squeeze({axis})"
        return Spelling(template, fields={"axis": axis})
    template = "{0}[" + ":, " * axis + "{1}]"
    return Spelling(template, operands=(*RECEIVER, Precedence.ANY))


def _gather_torch(site: Site) -> Spelling:
    fields = {"axis": site.axis()}
    if site.operands[1].dtype.name == "I64":
        return Spelling("torch.gather({0}, dim={axis}, index={1})", fields=fields)
    # torch.gather takes no other index dtype.
    template = "torch.gather({0}, dim={axis}, index={1}.long())"
    return Spelling(template, operands=(Precedence.ANY, *RECEIVER), fields=fields)


def _in_range(ids: Any, size: int) -> None:
    """Raises IndexError for a number that PyTorch would refuse, or count from the end."""
    if ids.min() < 0 or ids.max() >= size:
        raise IndexError(f"an id is out of range: [{ids.min()}, {ids.max()}] in [0, {size})")


def _take_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    table, ids = operands
    axis = evaluation.attributes["axis"]
    _in_range(ids, table.shape[axis])
    return np.asarray(np.take(table, ids, axis=axis))


def _gather_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    table, ids = operands
    axis = evaluation.attributes["axis"]
    _in_range(ids, table.shape[axis])
    return np.take_along_axis(table, ids.astype(np.int64), axis=axis)


def _bytes(site: Site) -> Dim:
    """The ids, and each element that is picked: once read and once written."""
    ids, result = site.operands[1], site.result
    read = product(ids.shape) * constant(ids.dtype.bytes)
    return read + constant(2 * result.dtype.bytes) * product(result.shape)


_AXIS = AttributeSpec("axis", AttributeKind.AXIS)
_RANGE = "An id outside of the axis is an error in the reference and unspecified in PyTorch."

INDEXING: tuple[Operation, ...] = (
    Operation(
        name="take",
        family="indexing",
        form="take[axis=n] table ids",
        doc=(
            "The slices of `table` that the I32 or I64 `ids` name, in place of the axis: at axis "
            f"0 an embedding lookup. {_RANGE}"
        ),
        noun="taken",
        operands=("table", "ids"),
        infer=_take,
        torch=_take_torch,
        numpy=_take_meaning,
        flops=no_flops,
        bytes=_bytes,
        attributes=(_AXIS,),
        ids=1,
        samples=(
            Sample((tensor("F32", K, D), tensor("I64", B, S)), tensor("F32", B, S, D), {"axis": 0}),
            Sample((tensor("F32", K, D), tensor("I32", B)), tensor("F32", K, B), {"axis": 1}),
            Sample((tensor("F32", K, D), tensor("I32")), tensor("F32", D), {"axis": 0}),
            Sample((tensor("F32", B, K, D), tensor("I64")), tensor("F32", B, D), {"axis": 1}),
            Sample((tensor("F32", K), tensor("I64", 1)), tensor("F32", 1), {"axis": 0}),
            Sample((tensor("F32", K, D), tensor("F32", B)), "P0302", {"axis": 0}),
            Sample((tensor("F32", K, D), tensor("U8", B)), "P0302", {"axis": 0}),
        ),
    ),
    Operation(
        name="gather",
        family="indexing",
        form="gather[axis=n] a ids",
        doc=(
            "At each place the element of `a` that the I32 or I64 `ids` names along the axis; the "
            f"other dims are those of `a`. {_RANGE}"
        ),
        noun="picked",
        operands=("a", "ids"),
        infer=_gather,
        torch=_gather_torch,
        numpy=_gather_meaning,
        flops=no_flops,
        bytes=_bytes,
        attributes=(_AXIS,),
        ids=1,
        samples=(
            Sample((tensor("F32", B, K), tensor("I64", B, 1)), tensor("F32", B, 1), {"axis": 1}),
            Sample((tensor("F32", B, K), tensor("I32", B, S)), tensor("F32", B, S), {"axis": 1}),
            Sample((tensor("F32", K, D), tensor("I64", S, D)), tensor("F32", S, D), {"axis": 0}),
            Sample((tensor("F32", B, K), tensor("I16", B, 1)), "P0302", {"axis": 1}),
            Sample((tensor("F32", B, K), tensor("I64", B)), "P0408", {"axis": 1}),
            Sample((tensor("F32", B, K), tensor("I64", 1, K)), "P0407", {"axis": 1}),
        ),
    ),
)
