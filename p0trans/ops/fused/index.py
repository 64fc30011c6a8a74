"""Looking rows up."""

from __future__ import annotations

from p0trans.ops.fused.rules import FAMILY, spelled
from p0trans.ops.index import INDEXING
from p0trans.ops.rules import Operands, Outcome, unwanted_dtype, wrong_rank
from p0trans.ops.samples import B, D, K, S, tensor
from p0trans.ops.table import Attributes, Facts, Layer, Operation, Sample
from p0trans.types import TensorType

_TAKE = next(operation for operation in INDEXING if operation.name == "take")
_FROM_START: Attributes = {"axis": 0}


def _embedding(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    ids, weight = operands
    return (
        unwanted_dtype(ids.dtype, "I32 or I64", 0)
        or unwanted_dtype(weight.dtype, "float", 1)
        or wrong_rank(weight, 2, 1)
        or TensorType(weight.dtype, (*ids.shape, weight.shape[1]))
    )


EMBEDDING = Operation(
    name="embedding",
    family=FAMILY,
    form="embedding ids weight",
    doc="The rows of a table that the I32 or I64 `ids` name.",
    noun="embedded",
    operands=("ids", "weight"),
    infer=_embedding,
    torch=spelled("F.embedding({0}, {1})"),
    numpy=lambda np, operands, evaluation: _TAKE.numpy(
        np, operands[::-1], evaluation._replace(attributes=_FROM_START)
    ),
    flops=_TAKE.flops,
    bytes=lambda site: _TAKE.bytes(site._replace(operands=site.operands[::-1])),
    ids=0,
    layer=Layer("Embedding", lambda types: types[1].shape, ("weight",), (("normal", (1.0,)),)),
    samples=(
        Sample((tensor("I64", B, S), tensor("F32", K, D)), tensor("F32", B, S, D)),
        Sample((tensor("I32", B), tensor("BF16", K, D)), tensor("BF16", B, D)),
        Sample((tensor("I64"), tensor("F32", K, D)), tensor("F32", D)),
        Sample((tensor("I16", B), tensor("F32", K, D)), "P0302"),
        Sample((tensor("I64", B), tensor("I32", K, D)), "P0302"),
        Sample((tensor("I64", B), tensor("F32", K)), "P0408"),
    ),
)
