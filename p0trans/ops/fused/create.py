"""Numbers that are known without computing them."""

from __future__ import annotations

from typing import Any

from p0trans.dtypes import DTYPES
from p0trans.ops.fused.rules import FAMILY
from p0trans.ops.reference import rounded
from p0trans.ops.rules import (
    Operands,
    Outcome,
    dim_attribute,
    dtype_attribute,
    unwanted_dtype_attribute,
)
from p0trans.ops.samples import tensor
from p0trans.ops.table import (
    Attributes,
    Evaluation,
    Facts,
    Operation,
    Sample,
    Site,
    Spelling,
    no_flops,
)
from p0trans.shapes.dim import constant
from p0trans.types import TensorType


def _size(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    dtype = dtype_attribute(attributes)
    return unwanted_dtype_attribute(dtype, "numeric", "dtype") or TensorType(dtype, ())


def _spell_size(site: Site) -> Spelling:
    fields = {"size": dim_attribute(site.attributes, "size")}
    return Spelling("torch.full((), {size}, dtype={dtype}, device={device})", fields=fields)


def _size_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    return rounded(np, np.float64(evaluation.attributes["size"]), evaluation.dtype)


SIZE = Operation(
    name="size",
    family=FAMILY,
    form="size[T, size=d]",
    doc="The number that a dim is, in a numeric dtype.",
    noun="size",
    operands=(),
    infer=_size,
    torch=_spell_size,
    numpy=_size_meaning,
    flops=no_flops,
    samples=(
        Sample((), tensor("F32"), {"dtype": DTYPES["F32"], "size": constant(7)}),
        Sample((), tensor("BF16"), {"dtype": DTYPES["BF16"], "size": constant(300)}),
        Sample((), tensor("I32"), {"dtype": DTYPES["I32"], "size": constant(7)}),
        Sample((), "P0302", {"dtype": DTYPES["Bool"], "size": constant(7)}),
    ),
)
