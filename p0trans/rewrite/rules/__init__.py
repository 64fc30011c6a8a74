"""The rules in the order in which they apply: each phase to its fixed point, then the next."""

from __future__ import annotations

from p0trans.rewrite.rule import Rule
from p0trans.rewrite.rules.activation import ACTIVATION
from p0trans.rewrite.rules.algebra import ALGEBRA, VIEWS
from p0trans.rewrite.rules.attention import ATTENTION
from p0trans.rewrite.rules.broadcasting import BROADCASTING
from p0trans.rewrite.rules.contraction import CONTRACTION, LINEAR
from p0trans.rewrite.rules.group_norm import GROUP_NORM
from p0trans.rewrite.rules.heads import HEADS
from p0trans.rewrite.rules.indexing import INDEXING
from p0trans.rewrite.rules.layout import LAYOUT, PICKS
from p0trans.rewrite.rules.literals import LITERALS
from p0trans.rewrite.rules.loss import LOSS, LOSS_OF_EACH, REDUCE_ALL
from p0trans.rewrite.rules.masks import MASKS
from p0trans.rewrite.rules.norm import NORM, NORM_BY_ROWS, NORM_UPCAST
from p0trans.rewrite.rules.reductions import MEANS
from p0trans.rewrite.rules.size import DIVISIONS, SIZES
from p0trans.rewrite.rules.softmax import SOFTMAX

IDIOMS: tuple[tuple[Rule, ...], ...] = (
    (*SIZES, *BROADCASTING, *LITERALS, *ALGEBRA, *MEANS),
    (*ACTIVATION, *SOFTMAX, *NORM),
    (*NORM_UPCAST, *NORM_BY_ROWS, *GROUP_NORM, *REDUCE_ALL),
    LOSS,
    (*LOSS_OF_EACH, *CONTRACTION),
    (*MASKS, *HEADS, *ATTENTION, *LINEAR, *INDEXING),
)
"""What makes one operation of several."""

SPELLINGS: tuple[tuple[Rule, ...], ...] = (
    (*VIEWS, *PICKS),
    LAYOUT,
    (*DIVISIONS, *SIZES, *BROADCASTING),
)
"""What is left to do once nothing is computed twice any more."""

PHASES = (*IDIOMS, *SPELLINGS)
RULES: tuple[Rule, ...] = tuple(rule for phase in PHASES for rule in phase)
