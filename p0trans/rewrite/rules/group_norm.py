"""Normalisation of groups of channels.

Batch normalisation with given statistics is left as it is: PyTorch computes it as x * a + b, which
loses the digits that x less a large mean keeps (on a CPU, 5e-4 against 3e-7 for numbers around
10,000 with a deviation of 1).
"""

from __future__ import annotations

from p0trans.rewrite.pattern import Attribute, Num, Op, Pattern, Var, op
from p0trans.rewrite.rule import NOT_XLA, Match, Rule, called, is_one
from p0trans.rewrite.rules.norm import LOSES_ON_XLA
from p0trans.shapes.dim import constant, variable

_X, _WEIGHT, _EPS = Var("x"), Var("weight"), Num("eps")


def _group_norm(*vectors: Pattern) -> Op:
    groups, size = Attribute("groups"), Attribute("size")
    return op("group_norm", _X, *vectors, _EPS, groups=groups, size=size)


def _of_groups(match: Match) -> Pattern | None:
    """Rows that are the channels of x in groups of equal size."""
    whole, rows = match.shape("x"), match.shape("rows")
    if len(rows) != 3 or len(whole) < 3 or not match.same_shape(whole, match.result.shape):
        return None
    (batch, channels, *_), groups = whole, rows[1]
    if not match.facts.equal(batch, rows[0]):
        return None
    for size in (constant(1), *map(variable, match.graph.definition.shape_parameters)):
        if match.facts.equal_volume((groups, size), (channels,)):
            return op("group_norm", _X, _EPS, groups=groups, size=size)
    return None


def _by_channel(match: Match) -> str | None:
    """The vector has an element for each channel, whatever the other axes."""
    vector, whole, shape = match.shape("vector"), match.shape("x"), match.shape("channels")
    padded = (*(constant(1),) * (len(whole) - len(shape)), *shape)
    others = (*padded[:1], *padded[2:])
    if len(vector) == 1 and match.facts.equal(padded[1], whole[1]) and all(map(is_one, others)):
        return None
    return "it is no vector with an element for each channel"


_VECTOR = op("reshape", Var("vector"), name="channels", shared=True)

GROUP_NORM = (
    Rule(
        "group_norm",
        "reshape (layer_norm (reshape x [N, G, M])) = group_norm x",
        op("reshape", op("layer_norm", op("reshape", _X, name="rows", shared=True), _EPS)),
        _of_groups,
        note=called("group norm"),
        targets=NOT_XLA,
        because=LOSES_ON_XLA,
    ),
    Rule(
        "group_norm_weight",
        "group_norm x * weight = group_norm x weight",
        _group_norm() * _VECTOR,
        _group_norm(Var("vector")),
        (_by_channel,),
    ),
    Rule(
        "group_norm_bias",
        "group_norm x weight + bias = group_norm x weight bias",
        _group_norm(_WEIGHT) + _VECTOR,
        _group_norm(_WEIGHT, Var("vector")),
        (_by_channel,),
    ),
)
