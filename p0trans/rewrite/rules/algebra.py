"""Small identities that bring different ways of writing the same thing to one form."""

from __future__ import annotations

from p0trans.ir.program import Apply, Value
from p0trans.ops.fused import EVERY
from p0trans.ops.rules import same_shape
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.pattern import AnyOp, Attribute, Known, Op, Pattern, Var, either, op
from p0trans.rewrite.rule import Match, Rule, is_one
from p0trans.shapes.dim import constant
from p0trans.types import Shape

_X, _Y = Var("x"), Var("y")
_KIND, _AXIS = Attribute("kind"), Attribute("axis")


def _composed(match: Match) -> Pattern:
    inner, outer = match.attribute("inner"), match.attribute("outer")
    assert isinstance(inner, tuple)
    assert isinstance(outer, tuple)
    axes = tuple(inner[axis] for axis in outer if isinstance(axis, int))
    return op("transpose", _X, perm=axes)


def _identity_transpose(match: Match) -> Pattern | None:
    perm = match.attribute("perm")
    return _X if perm == tuple(range(match.type("x").rank)) else None


def _if_same_shape(match: Match) -> Pattern | None:
    return _X if match.same_shape(match.shape("x"), match.result.shape) else None


def _transpose_inside(match: Match) -> Pattern | None:
    """New axes come in front, so the permutation has to leave those where they are."""
    perm, rank = match.attribute("perm"), match.type("x").rank
    assert isinstance(perm, tuple)
    new = len(perm) - rank
    if perm[:new] != tuple(range(new)):
        return None
    inner = tuple(axis - new for axis in perm[new:] if isinstance(axis, int))
    return op("broadcast", op("transpose", _X, perm=inner), shape=match.result.shape)


def _reduction(name: str) -> Op:
    return op(name, _X, kind=_KIND, axis=_AXIS)


def _if_it_puts_the_axis_back(match: Match) -> Pattern | None:
    axis, shape = match.integer("axis"), match.shape("x")
    kept = (*shape[:axis], constant(1), *shape[axis + 1 :])
    return _reduction("reduce_keep") if match.same_shape(kept, match.result.shape) else None


def _if_it_drops_the_axis(match: Match) -> Pattern | None:
    axis, shape = match.integer("axis"), match.shape("x")
    dropped = (*shape[:axis], *shape[axis + 1 :])
    return _reduction("reduce") if match.same_shape(dropped, match.result.shape) else None


def _if_same_dtype(match: Match) -> Pattern | None:
    return _X if match.type("x").dtype is match.result.dtype else None


VIEWS = (
    Rule(
        "transpose_twice",
        "transpose[q] (transpose[p] x) = transpose[p∘q] x",
        op(
            "transpose",
            op("transpose", _X, perm=Attribute("inner"), shared=True),
            perm=Attribute("outer"),
        ),
        _composed,
    ),
    Rule(
        "transpose_nothing",
        "transpose[0, 1, …] x = x",
        op("transpose", _X, perm=Attribute("perm")),
        _identity_transpose,
    ),
    Rule(
        "transpose_broadcast",
        "transpose (broadcast x) = broadcast (transpose x)",
        op("transpose", op("broadcast", _X, shared=True), perm=Attribute("perm")),
        _transpose_inside,
    ),
    Rule(
        "reshape_twice",
        "reshape (reshape x) = reshape x",
        op("reshape", op("reshape", _X, shared=True), shape=Attribute("shape")),
        op("reshape", _X, shape=Attribute("shape")),
    ),
    Rule(
        "reshape_nothing", "reshape x = x where x has that shape", op("reshape", _X), _if_same_shape
    ),
    Rule(
        "reduce_and_keep",
        "reshape (reduce x) = reduce_keep x where the axis comes back",
        op("reshape", _reduction("reduce")),
        _if_it_puts_the_axis_back,
    ),
    Rule(
        "reduce_and_drop",
        "reshape (reduce_keep x) = reduce x where the axis goes",
        op("reshape", _reduction("reduce_keep")),
        _if_it_drops_the_axis,
    ),
)
"""What only looks at the same elements in another order or shape, at most once in a row."""


def _has_the_axis(graph: Graph, value: Value, shape: Shape) -> bool:
    """Whether `value` would have `shape` if the reductions that it is computed from kept their
    axis; it is computed element by element and used nowhere else."""
    node = graph.node(value)
    if not isinstance(node, Apply) or len(graph.users_of(value)) != 1:
        return False
    if node.operation == "reduce":
        axis, whole = node.attributes["axis"], graph.tensor(node.operands[0]).shape
        assert isinstance(axis, int)
        return same_shape((*whole[:axis], constant(1), *whole[axis + 1 :]), shape, graph.facts)
    if EVERY[node.operation].family != "elementwise":
        return False
    tensors = [operand for operand in node.operands if graph.tensor(operand).rank]
    return bool(tensors) and all(_has_the_axis(graph, one, shape) for one in tensors)


def _with_the_axis(match: Match) -> Pattern | None:
    """An elementwise operation after the axis is put back instead of before."""
    graph, shape = match.graph, match.result.shape
    value = match.value("mapped")
    node = graph.node(value)
    assert isinstance(node, Apply)
    if not _has_the_axis(graph, value, shape):
        return None
    operands = (
        op("reshape", Known(operand), shape=shape) if graph.tensor(operand).rank else Known(operand)
        for operand in node.operands
    )
    return Op(node.operation, tuple(operands), dict(node.attributes))


def _reduced_before(match: Match) -> Pattern | None:
    """A reduction of the axes that were there before others were broadcast."""
    axis, whole = match.integer("axis"), match.type("wide").rank
    inner, shape = axis - whole + match.type("x").rank, match.shape("x")
    if inner < 0 or not match.facts.equal(shape[inner], match.shape("wide")[axis]):
        return None
    if is_one(shape[inner]):
        return None
    name = "reduce_keep" if match.has("kept") else "reduce"
    reduced = op(name, _X, kind=_KIND, axis=inner)
    return op("broadcast", reduced, shape=match.result.shape)


_WIDE = op("broadcast", _X, name="wide", shared=True)

ALGEBRA = (
    Rule("square", "x * x = square x", _X * _X, op("square", _X)),
    Rule("power_of_two", "pow x 2 = square x", op("pow", _X, 2.0), op("square", _X)),
    Rule("reciprocal", "1 / x = reciprocal x", 1.0 / _X, op("reciprocal", _X)),
    Rule(
        "reciprocal_root",
        "reciprocal (sqrt x) = rsqrt x",
        op("reciprocal", op("sqrt", _X)),
        op("rsqrt", _X),
    ),
    Rule("add_negative", "x + -y = x - y", _X + -_Y, _X - _Y),
    Rule("subtract_negative", "x - -y = x + y", _X - -_Y, _X + _Y),
    Rule("zero_minus", "0 - x = -x", 0.0 - _X, -_X),
    Rule("minus_one", "-1 * x = -x", -1.0 * _X, -_X),
    Rule("not_equal", "not (x == y) = x != y", op("not", op("eq", _X, _Y)), op("ne", _X, _Y)),
    Rule(
        "keep_axis",
        "reshape (f (reduce x)) = f (reduce_keep x) where the axis comes back",
        op("reshape", AnyOp("mapped")),
        _with_the_axis,
    ),
    Rule(
        "reduce_before_broadcast",
        "reduce (broadcast x) = broadcast (reduce x) where x has the axis",
        either(
            op("reduce", _WIDE, kind=_KIND, axis=_AXIS),
            op("reduce_keep", _WIDE, kind=_KIND, axis=_AXIS, name="kept"),
        ),
        _reduced_before,
    ),
    Rule("cast_nothing", "cast x = x where x has that dtype", op("cast", _X), _if_same_dtype),
    *VIEWS,
)
