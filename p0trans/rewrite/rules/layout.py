"""Cutting and joining."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from p0trans.ir.program import Apply, Node, Value
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.pattern import (
    AnyOp,
    Attribute,
    Item,
    Known,
    Op,
    Pattern,
    Var,
    op,
)
from p0trans.rewrite.rule import Match, Rule, called
from p0trans.shapes.dim import Dim, constant

_X = Var("x")
_AXIS, _START, _STOP = Attribute("axis"), Attribute("start"), Attribute("stop")
_ZERO, _ONE = constant(0), constant(1)


class _Cut(NamedTuple):
    """A slice that leaves nothing out between its ends."""

    source: Value
    axis: int
    start: Dim
    stop: Dim


def _cut(node: Node | None) -> _Cut | None:
    if not isinstance(node, Apply) or node.operation != "slice":
        return None
    given = node.attributes
    axis, start, stop = given["axis"], given["start"], given["stop"]
    if given.get("step", 1) != 1:
        return None
    assert isinstance(axis, int)
    assert isinstance(start, Dim)
    assert isinstance(stop, Dim)
    return _Cut(node.operands[0], axis, start, stop)


def _parts(graph: Graph, source: Value, axis: int) -> list[Value]:
    """The slices of `source` that cover `axis` one after the other, each once and for another
    `let`; none when there are no such."""
    cuts = dict(_cuts(graph, source, axis))
    found: list[Value] = []
    end, size = _ZERO, graph.tensor(source).shape[axis]
    while not graph.facts.equal(end, size):
        following = [value for value, cut in cuts.items() if graph.facts.equal(cut.start, end)]
        if len(following) != 1:
            return []
        found += following
        end = cuts[following[0]].stop
    return found if len(found) == len(cuts) > 1 and _have_names(graph, found) else []


def _have_names(graph: Graph, parts: Sequence[Value]) -> bool:
    """Whether each part can be called after the `let` that it is or that it is for."""
    names = {graph.steps[part].binding or graph.steps[part].owner for part in parts}
    return None not in names and len(names) == len(parts)


def _cuts(graph: Graph, source: Value, axis: int) -> Iterator[tuple[Value, _Cut]]:
    for user in graph.users_of(source):
        cut = _cut(graph.node(user))
        if cut is not None and cut.axis == axis:
            yield user, cut


def _part_of_split(match: Match) -> Pattern | None:
    """Item of a `split`: of the one that another part was made an item of, or of a new one."""
    graph, cut = match.graph, _cut(match.graph.node(match.root))
    if cut is None:
        return None
    for user in graph.users_of(cut.source):
        node = graph.node(user)
        if isinstance(node, Apply) and node.operation == "split":
            index = _index(match, cut, node.attributes)
            if index is not None:
                return Item(Known(user), index)
    parts = _parts(graph, cut.source, cut.axis)
    if not parts:
        return None
    sizes = [graph.tensor(part).shape[cut.axis] for part in parts]
    if all(match.facts.equal(size, sizes[0]) for size in sizes):
        sizes = [sizes[0]] * len(sizes)
    whole = Op("split", (_X,), {"axis": cut.axis, "sizes": tuple(sizes)})
    return Item(whole, parts.index(match.root))


def _index(match: Match, cut: _Cut, given: Mapping[str, object]) -> int | None:
    sizes = given["sizes"]
    assert isinstance(sizes, tuple)
    if given["axis"] != cut.axis:
        return None
    ends = tuple(accumulate(sizes, initial=_ZERO))
    equal = match.facts.equal
    return next(
        (
            index
            for index, (start, stop) in enumerate(pairwise(ends))
            if equal(start, cut.start) and equal(stop, cut.stop)
        ),
        None,
    )


def _joined(match: Match) -> Pattern | None:
    """A concatenation whose adjacent operands are cut from one value where it is cut in two."""
    graph, node = match.graph, match.graph.node(match.root)
    assert isinstance(node, Apply)
    axis = node.attributes["axis"]
    runs: list[tuple[Value, _Cut | None]] = []
    for operand in node.operands:
        cut = _cut(graph.node(operand))
        last = runs[-1][1] if runs else None
        if cut and last and cut[:2] == (last.source, axis) and _follows(match, last, cut):
            runs[-1] = operand, cut._replace(start=last.start)
        else:
            runs.append((operand, cut if cut and cut.axis == axis else None))
    if len(runs) == len(node.operands):
        return None
    operands = [_run(graph, operand, cut) for operand, cut in runs]
    return operands[0] if len(operands) == 1 else op("concat", *operands, axis=axis)


def _follows(match: Match, last: _Cut, cut: _Cut) -> bool:
    return match.facts.equal(last.stop, cut.start)


def _run(graph: Graph, operand: Value, cut: _Cut | None) -> Pattern:
    if cut is None:
        return Known(operand)
    size = graph.tensor(cut.source).shape[cut.axis]
    if graph.facts.equal(cut.start, _ZERO) and graph.facts.equal(cut.stop, size):
        return Known(cut.source)
    return op("slice", Known(cut.source), axis=cut.axis, start=cut.start, stop=cut.stop)


def _picked(match: Match) -> Pattern | None:
    axis, start, shape = match.integer("axis"), match.attribute("start"), match.shape("x")
    if not match.same_shape((*shape[:axis], *shape[axis + 1 :]), match.result.shape):
        return None
    return op("pick", _X, axis=_AXIS, at=start)


def _place(graph: Graph, value: Value, axis: int) -> int | None:
    """The place that `value` is of its operand's axis."""
    node = graph.node(value)
    if not isinstance(node, Apply) or node.operation != "pick" or node.attributes["axis"] != axis:
        return None
    at = node.attributes["at"]
    assert isinstance(at, Dim)
    return at.as_integer()


def _part_of_unbind(match: Match) -> Pattern | None:
    """Item of an `unbind` of which all places are picked, each once."""
    graph, axis, source = match.graph, match.integer("axis"), match.value("x")
    at = _place(graph, match.root, axis)
    if at is None:
        return None
    for user in graph.users_of(source):
        node = graph.node(user)
        if (
            isinstance(node, Apply)
            and node.operation == "unbind"
            and node.attributes["axis"] == axis
        ):
            return Item(Known(user), at)
    found = {user: _place(graph, user, axis) for user in graph.users_of(source)}
    picks = {user: place for user, place in found.items() if place is not None}
    size = match.shape("x")[axis].as_integer() or 0
    if size < 2 or sorted(picks.values()) != list(range(size)):
        return None
    return Item(op("unbind", _X, axis=axis), at) if _have_names(graph, tuple(picks)) else None


def _stacked(match: Match) -> Pattern | None:
    """A concatenation along an axis that each operand got for it."""
    graph, node = match.graph, match.graph.node(match.root)
    assert isinstance(node, Apply)
    axis = node.attributes["axis"]
    assert isinstance(axis, int)
    operands = []
    for operand in node.operands:
        made = graph.node(operand)
        if not isinstance(made, Apply) or made.operation != "reshape":
            return None
        shape = graph.tensor(made.operands[0]).shape
        wanted = (*shape[:axis], _ONE, *shape[axis:])
        if not match.same_shape(graph.tensor(operand).shape, wanted):
            return None
        operands.append(Known(made.operands[0]))
    return op("stack", *operands, axis=axis)


def _are_halves(match: Match) -> str | None:
    first, second = (_cut(match.graph.node(match.value(name))) for name in ("first", "second"))
    if first is None or second is None:
        return "the parts leave something out"
    size = match.shape("x")[first.axis]
    halves = (
        match.facts.equal(first.start, _ZERO)
        and match.facts.equal(second.stop, size)
        and match.facts.equal(first.stop, second.start)
        and match.facts.equal(first.stop + first.stop, size)
    )
    return None if halves else "the parts are not the two halves in order"


def _is_one_place(match: Match) -> str | None:
    one = match.shape("part")[match.integer("axis")]
    return None if one.as_integer() == 1 else f"{one} places are cut out"


PICKS = (
    Rule(
        "pick",
        "reshape (slice[i:i+1] x) = x[i] where the axis goes",
        op("reshape", op("slice", _X, axis=_AXIS, start=_START, name="part", shared=True)),
        _picked,
        (_is_one_place,),
    ),
)

LAYOUT = (
    Rule(
        "unbind",
        "x[0], x[1], … = unbind x where every place is picked",
        op("pick", _X, axis=_AXIS),
        _part_of_unbind,
    ),
    Rule(
        "glu",
        "slice[0:k] x * sigmoid (slice[k:2k] x) = glu x",
        op("slice", _X, axis=_AXIS, name="first")
        * op("sigmoid", op("slice", _X, axis=_AXIS, name="second")),
        op("glu", _X, axis=_AXIS),
        (_are_halves,),
        note=called("gated linear unit"),
    ),
    Rule(
        "stack",
        "concat (reshape x [d…, 1]) (reshape y [d…, 1]) = stack x y",
        AnyOp("root", accepts=lambda node: node.operation == "concat"),
        _stacked,
    ),
    Rule(
        "concat_of_parts",
        "concat (slice[0:k] x) (slice[k:n] x) = slice[0:n] x",
        AnyOp("root", accepts=lambda node: node.operation == "concat"),
        _joined,
    ),
    Rule(
        "split",
        "slice[0:k] x, slice[k:n] x = split[k, n - k] x",
        op("slice", _X, axis=_AXIS, start=_START, stop=_STOP),
        _part_of_split,
    ),
)
