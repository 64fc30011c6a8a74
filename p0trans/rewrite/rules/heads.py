"""Heads of keys and values that are each given to several heads of queries."""

from __future__ import annotations

from p0trans.rewrite.pattern import Attribute, Op, Pattern, Var, op
from p0trans.rewrite.rule import Match, Rule
from p0trans.shapes.dim import constant
from p0trans.types import Shape

_X, _PERM, _ONE = Var("x"), Attribute("perm"), constant(1)


def alone(operand: Pattern, name: str) -> Op:
    """Heads `name` with an axis for their repetitions."""
    return op("reshape", operand, name=f"alone_{name}", shared=True)


def repeated(alone: Pattern, name: str) -> Op:
    """Each of the heads `alone` given to several heads of queries."""
    wide = op("broadcast", alone, name=f"wide_{name}", shared=True)
    return op("reshape", wide, name=f"each_{name}", shared=True)


def in_a_row(match: Match, name: str) -> bool:
    """[B, G, …] as [B, G, 1, …], broadcast to [B, G, R, …], reshaped to [B, GR, …]."""
    return match.type(f"each_{name}").rank == 4 and _repeated_axis(match, name) == 1


def _repeated_axis(match: Match, name: str) -> int | None:
    """The axis of the heads, each of which is repeated in a row."""
    alone, wide, each = (match.shape(f"{step}_{name}") for step in ("alone", "wide", "each"))
    source, narrow = _before(match, f"alone_{name}"), _before(match, f"wide_{name}")
    same = match.same_shape
    if not len(source) == len(each) == len(alone) - 1 == len(wide) - 1:
        return None
    for axis in range(len(source)):
        behind = axis + 1
        if (
            same(alone, (*source[:behind], _ONE, *source[behind:]))
            and same(
                (*narrow[:behind], *narrow[behind + 1 :]), (*wide[:behind], *wide[behind + 1 :])
            )
            and same((*each[:axis], *each[axis + 1 :]), (*wide[:axis], *wide[axis + 2 :]))
        ):
            return axis
    return None


def _before(match: Match, name: str) -> Shape:
    """The shape that the operand of a step has."""
    step = match.graph.steps[match.value(name)]
    return match.graph.tensor(step.node.operands[0]).shape


def _heads_first(match: Match) -> Pattern | None:
    """Each head given to several, after the heads have come to be axis 1."""
    perm, heads = match.attribute("perm"), _repeated_axis(match, "x")
    assert isinstance(perm, tuple)
    if heads in (None, 1) or perm[1] != heads:
        return None
    assert heads is not None
    source = match.shape("x")
    batch, group, *rest = (source[axis] for axis in perm if isinstance(axis, int))
    repeats = match.shape("wide_x")[heads + 1]
    alone = op("reshape", op("transpose", _X, perm=perm), shape=(batch, group, _ONE, *rest))
    wide = op("broadcast", alone, shape=(batch, group, repeats, *rest))
    return op("reshape", wide, shape=match.result.shape)


HEADS = (
    Rule(
        "repeat_transposed",
        "transpose (repeat x) = repeat (transpose x) where the heads come to be axis 1",
        op("transpose", repeated(alone(_X, "x"), "x"), perm=_PERM),
        _heads_first,
    ),
)
