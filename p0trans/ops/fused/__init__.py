"""Operations that a rewrite puts in place of several: what PyTorch has in one call.

They are declared like the others, and no source can name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from p0trans.ops import OPERATIONS
from p0trans.ops.fused.attention import ATTENTION
from p0trans.ops.fused.contract import CONTRACTIONS
from p0trans.ops.fused.create import SIZE
from p0trans.ops.fused.index import EMBEDDING
from p0trans.ops.fused.layout import LAYOUT
from p0trans.ops.fused.loss import LOSSES
from p0trans.ops.fused.norm import NORMS
from p0trans.ops.fused.pointwise import POINTWISE
from p0trans.ops.fused.softmax import SOFTMAX
from p0trans.ops.table import Operation

FUSED: Mapping[str, Operation] = MappingProxyType(
    {
        operation.name: operation
        for operation in (
            *POINTWISE,
            *SOFTMAX,
            *NORMS,
            *LOSSES,
            *CONTRACTIONS,
            ATTENTION,
            *LAYOUT,
            EMBEDDING,
            SIZE,
        )
    }
)
"""Every fused operation by its name."""

EVERY: Mapping[str, Operation] = MappingProxyType({**OPERATIONS, **FUSED})
"""The operations that a rewritten definition may use."""
