"""A drawing of a directed acyclic graph in layers, after Sugiyama, Tagawa and Toda (1981).

Every value flows down. An edge that passes layers is led through a point in each of them, and all
the edges of one node share these points. The order within a layer is that of the least crossings
that sweeps of barycentres find; the places are then the least squares of the edges' slants that
keep the nodes apart. Nothing is random, so that the same graph is always drawn alike.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from math import inf
from typing import NamedTuple

MOST_POINTS = 3000
"""Nodes and the points of long edges together: a larger picture is of no use to a reader."""

_SWEEPS = 12
_WEIGHT = 4.0
_BEND = 14
"""The width that a point of an edge keeps free."""


class Link(NamedTuple):
    """A stretch of the edges of the node `source`, from one layer to the next; `target` is the node
    where it ends, None for a point where they go on."""

    source: int
    target: int | None
    start: tuple[float, int]
    end: tuple[float, int]


class Drawing(NamedTuple):
    """`places` are the middles of the nodes as (x, layer). No x is below 0 or above `width`."""

    places: tuple[tuple[float, int], ...]
    links: tuple[Link, ...]
    width: float
    layers: int


def draw(widths: Sequence[float], edges: Sequence[tuple[int, int]], gap: float) -> Drawing | None:
    """Lay out nodes of these widths, at least `gap` apart. Edges go from a lower index to a higher.

    None for a graph that is too large.
    """
    layer_of = _layers(len(widths), edges)
    graph = _with_points(layer_of, widths, edges)
    if graph is None:
        return None
    order = _ordered(graph)
    xs = _placed(graph, order, gap)
    left = min((x - w / 2 for x, w in zip(xs, graph.widths, strict=True)), default=0.0)
    xs = [round(x - left, 1) for x in xs]
    width = max((x + w / 2 for x, w in zip(xs, graph.widths, strict=True)), default=0.0)
    where = list(zip(xs, graph.layer_of, strict=True))
    count = len(widths)
    links = tuple(
        Link(graph.owner[upper], lower if lower < count else None, where[upper], where[lower])
        for upper, below in enumerate(graph.below)
        for lower in below
    )
    return Drawing(tuple(where[:count]), links, width, max(layer_of, default=-1) + 1)


class _Graph(NamedTuple):
    """So many `nodes`, then the points of long edges; `above` and `below` are their neighbours in
    the next layers, `owner` the node whose edges lead through a point."""

    nodes: int
    widths: Sequence[float]
    layer_of: Sequence[int]
    above: Sequence[Sequence[int]]
    below: Sequence[Sequence[int]]
    owner: Sequence[int]


def _layers(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """As far down as the longest way from a source; a source just above the first that uses it."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for source, target in edges:
        above[target].append(source)
        below[source].append(target)
    layers = [0] * count
    for node in range(count):
        layers[node] = max((layers[source] + 1 for source in above[node]), default=0)
    for node in range(count):
        if not above[node] and below[node]:
            layers[node] = min(layers[target] for target in below[node]) - 1
    return layers


def _with_points(
    layer_of: Sequence[int], widths: Sequence[float], edges: Sequence[tuple[int, int]]
) -> _Graph | None:
    layers, sizes = list(layer_of), list(widths)
    if len(layers) > MOST_POINTS:
        return None
    points: dict[tuple[int, int], int] = {}
    links: dict[tuple[int, int], None] = {}
    owner = list(range(len(widths)))
    for source, target in edges:
        route = [source]
        for layer in range(layer_of[source] + 1, layer_of[target]):
            if (source, layer) not in points:
                points[source, layer] = len(layers)
                layers.append(layer)
                sizes.append(_BEND)
                owner.append(source)
            route.append(points[source, layer])
        if len(layers) > MOST_POINTS:
            return None
        route.append(target)
        links.update(dict.fromkeys(pairwise(route)))
    above: list[list[int]] = [[] for _ in layers]
    below: list[list[int]] = [[] for _ in layers]
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return _Graph(len(widths), sizes, layers, above, below, owner)


# --- order ------------------------------------------------------------------------------


def _ordered(graph: _Graph) -> list[list[int]]:
    rows: list[list[int]] = [[] for _ in range(max(graph.layer_of, default=-1) + 1)]
    for node, layer in enumerate(graph.layer_of):
        rows[layer].append(node)
    best, fewest = rows, _crossings(graph, rows)
    for sweep in range(_SWEEPS):
        downward = sweep % 2 == 0
        neighbours = graph.above if downward else graph.below
        rows = [list(row) for row in rows]
        position = {node: index for row in rows for index, node in enumerate(row)}
        for row in rows if downward else reversed(rows):
            _sort(row, neighbours, position)
        crossings = _crossings(graph, rows)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _sort(row: list[int], neighbours: Sequence[Sequence[int]], position: dict[int, int]) -> None:
    """By the mean position of each node's neighbours; one that has none stays where it is."""
    means = {}
    for node in row:
        beside = neighbours[node] or (node,)
        means[node] = sum(position[other] for other in beside) / len(beside)
    row.sort(key=lambda node: (means[node], position[node]))
    position.update((node, index) for index, node in enumerate(row))


def _crossings(graph: _Graph, rows: Sequence[Sequence[int]]) -> int:
    total = 0
    for upper, lower in pairwise(rows):
        position = {node: index for index, node in enumerate(lower)}
        seen: list[int] = []
        for node in upper:
            ends = sorted(position[other] for other in graph.below[node])
            total += sum(len(seen) - bisect_right(seen, end) for end in ends)
            for end in ends:
                insort(seen, end)
    return total


# --- places -----------------------------------------------------------------------------


def _placed(graph: _Graph, rows: Sequence[Sequence[int]], gap: float) -> list[float]:
    xs = [0.0] * len(graph.widths)
    offsets: list[list[float]] = []
    for row in rows:
        starts = [0.0]
        for left, right in pairwise(row):
            starts.append(starts[-1] + _distance(graph, left, right, gap))
        offsets.append(starts)
        for node, start in zip(row, starts, strict=True):
            xs[node] = start - starts[-1] / 2
    for sweep in range(3 * _SWEEPS):
        downward = sweep % 2 == 0
        neighbours = graph.above if downward else graph.below
        if sweep >= _SWEEPS:
            # Then each node is drawn to both sides, until hardly any moves.
            neighbours = [[*a, *b] for a, b in zip(graph.above, graph.below, strict=True)]
        for index in range(len(rows)) if downward else reversed(range(len(rows))):
            row = rows[index]
            wanted = [_pull(graph, node, neighbours[node] or (node,), xs) for node in row]
            for node, x in zip(row, _apart(wanted, offsets[index]), strict=True):
                xs[node] = x
    _straighten(graph, rows, xs, gap)
    return xs


def _straighten(graph: _Graph, rows: Sequence[Sequence[int]], xs: list[float], gap: float) -> None:
    """Put the points of a long edge on one line where their neighbours leave room for it."""
    chains: dict[int, list[tuple[int, Sequence[int], int]]] = {}
    for row in rows:
        for place, node in enumerate(row):
            if node >= graph.nodes:
                chains.setdefault(graph.owner[node], []).append((node, row, place))
    for points in chains.values():
        chain = [node for node, _, _ in points]
        least, most = -inf, inf
        for node, row, place in points:
            for other in row[max(0, place - 1) : place]:
                least = max(least, xs[other] + _distance(graph, other, node, gap))
            for other in row[place + 1 : place + 2]:
                most = min(most, xs[other] - _distance(graph, other, node, gap))
        if least <= most:
            mean = sum(xs[node] for node in chain) / len(chain)
            for node in chain:
                xs[node] = min(max(mean, least), most)


def _distance(graph: _Graph, one: int, other: int, gap: float) -> float:
    return (graph.widths[one] + graph.widths[other]) / 2 + gap


def _pull(
    graph: _Graph, node: int, beside: Sequence[int], xs: Sequence[float]
) -> tuple[float, float]:
    """Where the neighbours draw a node, and how strongly: between two points of a long edge most,
    so that it is straight."""
    weights = [_WEIGHT ** ((node >= graph.nodes) + (other >= graph.nodes)) for other in beside]
    total = sum(weights)
    drawn = sum(weight * xs[other] for weight, other in zip(weights, beside, strict=True))
    return drawn / total, total


def _apart(wanted: Sequence[tuple[float, float]], offsets: Sequence[float]) -> list[float]:
    """The places nearest to those wanted, by weighted least squares, that are as far apart as
    `offsets`: the pool-adjacent-violators algorithm on what is left without the offsets."""
    pools: list[tuple[float, float, int]] = []
    for (x, weight), offset in zip(wanted, offsets, strict=True):
        mean, size = x - offset, 1
        while pools and pools[-1][0] >= mean:
            before, heavy, count = pools.pop()
            mean = (mean * weight + before * heavy) / (weight + heavy)
            weight, size = weight + heavy, size + count
        pools.append((mean, weight, size))
    flat = [mean for mean, _, size in pools for _ in range(size)]
    return [x + offset for x, offset in zip(flat, offsets, strict=True)]
