"""Matrix products on the shapes that the source had before it flattened or broadcast them.

Phase 0 multiplies matrices and batches of matrices, PyTorch any number of batch axes. So what
follows a flattening reshape is computed before it, as long as a reshape back comes further down
and the two cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from p0trans.ir.program import Apply, Number, Value
from p0trans.ops.fused import EVERY
from p0trans.ops.fused.rules import POINTWISE_FAMILY
from p0trans.ops.rules import broadcast_shape
from p0trans.ops.table import AttributeValue, Rejection
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.pattern import (
    AnyOp,
    Attribute,
    Either,
    Known,
    Op,
    Operand,
    Pattern,
    Var,
    either,
    op,
)
from p0trans.rewrite.rule import Match, Rule
from p0trans.rewrite.rules.algebra import VIEWS
from p0trans.shapes.dim import constant
from p0trans.types import Shape, TensorType

PRODUCTS = frozenset({"matmul", "matmul_nd"})
_A, _B, _X, _W, _BIAS = (Var(name) for name in ("a", "b", "x", "w", "bias"))
_PERM = Attribute("perm")
_ONE = constant(1)
_MAPPED = frozenset({"elementwise", POINTWISE_FAMILY})


def product(left: Operand, right: Operand) -> Either:
    """A matrix product, with batch axes or without."""
    return either(op("matmul", left, right), op("matmul_nd", left, right))


def applied(match: Match) -> Apply:
    """The operation at the root."""
    node = match.graph.node(match.root)
    assert isinstance(node, Apply)
    return node


def operand_of(graph: Graph, value: Value, operation: str) -> Value | None:
    """What `operation` was applied to where it gives `value`."""
    node = graph.node(value)
    if isinstance(node, Apply) and node.operation == operation:
        return node.operands[0]
    return None


def _without_batch(match: Match) -> Pattern | None:
    """Each operand as it was before its batch axes were broadcast."""
    graph = match.graph
    inner = [_before_batch(graph, value) for value in applied(match).operands]
    if inner == list(applied(match).operands):
        return None
    left, right = (graph.tensor(value).shape for value in inner)
    batch = broadcast_shape((left[:-2], right[:-2]), match.facts)
    if batch is None:
        return None
    plain = op("matmul_nd", *map(Known, inner))
    if match.same_shape((*batch, left[-2], right[-1]), match.result.shape):
        return plain
    return op("broadcast", plain, shape=match.result.shape)


def _before_batch(graph: Graph, value: Value) -> Value:
    source = operand_of(graph, value, "broadcast")
    if source is None:
        return value
    wide, shape = graph.tensor(value).shape, graph.tensor(source).shape
    same = len(shape) >= 2 and all(map(graph.facts.equal, wide[-2:], shape[-2:]))
    return source if same else value


class _Moved(NamedTuple):
    """An operation on an operand of another shape: the other operands' shapes and attributes, and
    the shape of what it then gives."""

    operands: tuple[Shape, ...]
    attributes: Mapping[str, AttributeValue]
    shape: Shape


class _Use(NamedTuple):
    """A use of a flat value as operand `place` of `node`, which gives `result`."""

    graph: Graph
    node: Apply
    result: TensorType
    place: int

    @property
    def flat(self) -> Shape:
        return self.shape(self.place)

    def shape(self, index: int) -> Shape:
        return self.graph.tensor(self.node.operands[index]).shape

    def same(self, left: Shape, right: Shape) -> bool:
        return len(left) == len(right) and all(map(self.graph.facts.equal, left, right))


def _moved(use: _Use, whole: Shape) -> _Moved | None:
    """What the use becomes on the shape `whole`, which was flattened for it; None when the
    operation needs the flat shape."""
    node = use.node
    if EVERY[node.operation].family in _MAPPED:
        return _each_element(use, whole)
    if node.operation in PRODUCTS:
        return _matrices(use, whole)
    if node.operation == "transpose":
        return _last_two_swapped(use, whole)
    if node.operation == "take" and use.place == 1:
        return _looked_up(use, whole)
    if "axis" in node.attributes and len(node.operands) == 1:
        return _along_axis(use, whole)
    return None


def _each_element(use: _Use, whole: Shape) -> _Moved | None:
    if not use.same(use.flat, use.result.shape):
        return None
    shapes = []
    for index in range(len(use.node.operands)):
        shape = whole if index == use.place else _aligned(use, use.shape(index), whole)
        if shape is None:
            return None
        shapes.append(shape)
    return _Moved(tuple(shapes), use.node.attributes, whole)


def _aligned(use: _Use, shape: Shape, whole: Shape) -> Shape | None:
    """The shape of another operand that lines up with `whole` as `shape` does with the flat one."""
    kept = 0
    for left, right in zip(reversed(use.flat), reversed(whole), strict=False):
        if not use.graph.facts.equal(left, right):
            break
        kept += 1
    if len(shape) <= kept:
        return shape
    cut = len(shape) - kept
    if all(dim.as_integer() == 1 for dim in shape[:cut]):
        return shape[cut:]
    if use.same(shape[:cut], use.flat[: len(use.flat) - kept]):
        return (*whole[: len(whole) - kept], *shape[cut:])
    return None


def _along_axis(use: _Use, whole: Shape) -> _Moved | None:
    axis, facts = use.node.attributes["axis"], use.graph.facts
    operation = EVERY[use.node.operation]
    assert isinstance(axis, int)
    if operation.parts is not None:
        return None
    places = [
        place
        for place, dim in enumerate(whole)
        if facts.equal(dim, use.flat[axis]) and facts.equal_volume(whole[:place], use.flat[:axis])
    ]
    if not places:
        return None
    attributes = {**use.node.attributes, "axis": places[-1]}
    operand = use.graph.tensor(use.node.operands[0])
    found = operation.infer((TensorType(operand.dtype, whole),), attributes, facts)
    return None if isinstance(found, Rejection) else _Moved((whole,), attributes, found.shape)


def _matrices(use: _Use, whole: Shape) -> _Moved | None:
    left, right = use.shape(0), use.shape(1)
    if use.place == 0 and len(right) == 2 and use.same(whole[-1:], left[-1:]):
        return _Moved((whole, right), {}, (*whole[:-1], right[-1]))
    if len(left) != len(right) or len(left) < 3 or not use.same(whole[-2:], use.flat[-2:]):
        return None
    batch = whole[:-2]
    shapes = ((*batch, *left[-2:]), (*batch, *right[-2:]))
    return _Moved(shapes, {}, (*batch, left[-2], right[-1]))


def _last_two_swapped(use: _Use, whole: Shape) -> _Moved | None:
    rank = len(use.flat)
    if use.node.attributes["perm"] != swapping(rank) or not use.same(whole[-2:], use.flat[-2:]):
        return None
    perm = swapping(len(whole))
    return _Moved((whole,), {"perm": perm}, tuple(whole[axis] for axis in perm))


def swapping(rank: int) -> tuple[int, ...]:
    """The permutation that swaps the last two axes."""
    return (*range(rank - 2), rank - 1, rank - 2)


def _looked_up(use: _Use, whole: Shape) -> _Moved | None:
    if use.node.attributes["axis"] != 0:
        return None
    table = use.shape(0)
    return _Moved((table, whole), use.node.attributes, (*whole, *table[1:]))


def _comes_back(graph: Graph, value: Value, whole: Shape, seen: set[Value]) -> bool:
    """Whether `value`, were it of the shape `whole`, leads to a reshape back."""
    flat = graph.tensor(value)
    if len(whole) <= flat.rank or value in seen:
        return False
    seen.add(value)
    for user in graph.users_of(value):
        node = graph.node(user)
        if not isinstance(node, Apply) or user in graph.kept:
            continue
        if node.operation == "reshape":
            if graph.tensor(user).rank > flat.rank:
                return True
            continue
        index = node.operands.index(value)
        moved = _moved(_Use(graph, node, graph.tensor(user), index), whole)
        if moved is not None and _comes_back(graph, user, moved.shape, seen):
            return True
    return False


def _unflattened(match: Match) -> Pattern | None:
    graph, node = match.graph, applied(match)
    for index, operand in enumerate(node.operands):
        source = operand_of(graph, operand, "reshape")
        if source is None or graph.tensor(source).rank <= graph.tensor(operand).rank:
            continue
        moved = _moved(_Use(graph, node, match.result, index), graph.tensor(source).shape)
        if moved is None or not _comes_back(graph, match.root, moved.shape, set()):
            continue
        operands = tuple(map(_shaped(match), node.operands, moved.operands))
        name = "matmul_nd" if node.operation in PRODUCTS else node.operation
        whole = Op(name, operands, dict(moved.attributes))
        return op("reshape", whole, shape=match.result.shape)
    return None


def _shaped(match: Match) -> Callable[[Value, Shape], Pattern]:
    """What gives a value in a shape that its elements have."""
    graph = match.graph

    def pattern(value: Value, shape: Shape) -> Pattern:
        source = operand_of(graph, value, "reshape")
        for known in (value, *(() if source is None else (source,))):
            if match.same_shape(graph.tensor(known).shape, shape):
                return Known(known)
        return op("reshape", Known(value), shape=shape)

    return pattern


def _takes_part(node: Apply) -> bool:
    return node.operation not in ("reshape", "broadcast")


def _is_shared_weight(match: Match) -> str | None:
    if match.type("x").rank > 2:
        return None
    return "the product of two matrices may be of any two"


def _is_bias(match: Match) -> str | None:
    bias, weight = match.shape("bias"), match.shape("w")
    if len(bias) == 1 and match.facts.equal(bias[0], weight[0]):
        return None
    return "what is added is no vector with an element for each output"


def _is_tensor(match: Match) -> str | None:
    number = isinstance(match.graph.node(match.value("bias")), Number)
    return "what is added is a Python number" if number else None


def _transposed(weight: Pattern) -> Op:
    return op("transpose", weight, perm=(1, 0), shared=True)


def _swaps_the_last_two(match: Match) -> str | None:
    ranks = {match.type("a").rank, match.type("b").rank, match.result.rank}
    if len(ranks) == 1 and match.attribute("perm") == swapping(match.result.rank):
        return None
    return "more than the last two axes is turned"


CONTRACTION = (
    Rule(
        "matmul_broadcast",
        "matmul x (broadcast w) = x @ w",
        product(_A, _B),
        _without_batch,
    ),
    Rule(
        "product_transposed",
        "(a @ b^T)^T = b @ a^T",
        op("transpose", product(_A, op("transpose", _B, perm=_PERM, shared=True)), perm=_PERM),
        lambda match: op("matmul_nd", _B, op("transpose", _A, perm=_PERM)),
        (_swaps_the_last_two,),
    ),
    Rule(
        "unflatten",
        "f (reshape x) = reshape (f x) where a reshape back follows",
        AnyOp("root", accepts=_takes_part),
        _unflattened,
    ),
    *VIEWS,
)


def _is_of_a_vector(match: Match) -> Pattern | None:
    """The product with a vector that was made a matrix of one column or row."""
    vector, shape, result = match.shape("vector"), match.shape("a"), match.result.shape
    if match.has("column"):
        made, kept, call = (*vector, _ONE), shape[:-1], op("matmul_nd", _A, _VECTOR)
    else:
        made, kept, call = (_ONE, *vector), (*shape[:-2], *shape[-1:]), op("matmul_nd", _VECTOR, _A)
    as_matrix = match.shape("column" if match.has("column") else "row")
    fits = len(vector) == 1 and match.same_shape(made, as_matrix)
    return call if fits and match.same_shape(kept, result) else None


_VECTOR = Var("vector")

LINEAR = (
    Rule(
        "product_with_vector",
        "reshape (a @ (reshape v [n, 1])) = a @ v",
        op(
            "reshape",
            either(
                product(_A, op("reshape", _VECTOR, name="column", shared=True)),
                product(op("reshape", _VECTOR, name="row", shared=True), _A),
            ),
        ),
        _is_of_a_vector,
    ),
    Rule(
        "linear_bias",
        "x @ w^T + b = linear x w b",
        either(product(_X, _transposed(_W)), op("linear", _X, _W)) + _BIAS,
        op("linear", _X, _W, _BIAS),
        (_is_tensor, _is_bias),
    ),
    Rule(
        "linear",
        "x @ w^T = linear x w where w is shared by the batch",
        product(_X, _transposed(_W)),
        op("linear", _X, _W),
        (_is_shared_weight,),
    ),
)
