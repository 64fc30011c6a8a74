"""Drawings in layers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from p0trans.tools.layered import MOST_POINTS, Drawing, draw

GAP = 10

LADDER = [(max(0, node - back), node) for node in range(1, 40) for back in (1, 7, 19)]
GRAPHS = {
    "nothing": (0, []),
    "one": (1, []),
    "apart": (3, []),
    "chain": (4, [(0, 1), (1, 2), (2, 3)]),
    "diamond": (4, [(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)]),
    "crossed": (6, [(0, 5), (1, 4), (2, 3)]),
    "ladder": (40, list(dict.fromkeys(LADDER))),
}


def drawn(count: int, edges: Sequence[tuple[int, int]]) -> Drawing:
    drawing = draw(_widths(count), edges, GAP)
    assert drawing is not None
    return drawing


def _widths(count: int) -> list[float]:
    return [20.0 + 13 * (node % 4) for node in range(count)]


@pytest.mark.parametrize("name", GRAPHS)
def test_nodes_are_apart_and_on_the_sheet(name: str) -> None:
    count, edges = GRAPHS[name]
    drawing = drawn(count, edges)
    widths = _widths(count)
    rows: dict[int, list[int]] = {}
    for node, (x, layer) in enumerate(drawing.places):
        rows.setdefault(layer, []).append(node)
        assert x - widths[node] / 2 >= -0.1
        assert x + widths[node] / 2 <= drawing.width + 0.1
    assert sorted(rows) == list(range(drawing.layers))
    for row in rows.values():
        row.sort(key=lambda node: drawing.places[node])
        for left, right in pairwise(row):
            room = drawing.places[right][0] - drawing.places[left][0]
            assert room >= (widths[left] + widths[right]) / 2 + GAP - 0.2


@pytest.mark.parametrize("name", GRAPHS)
def test_links_lead_down_along_every_edge(name: str) -> None:
    count, edges = GRAPHS[name]
    drawing = drawn(count, edges)
    for link in drawing.links:
        assert link.end[1] == link.start[1] + 1
    reached = {(link.source, link.target) for link in drawing.links if link.target is not None}
    assert reached == set(edges)
    for source, target in edges:
        ends = {link.end: link for link in drawing.links if link.source == source}
        place = drawing.places[target]
        while place != drawing.places[source]:
            place = ends[place].start


def test_what_need_not_cross_does_not() -> None:
    drawing = drawn(*GRAPHS["crossed"])
    uppers = sorted(
        (drawing.places[source], drawing.places[target]) for source, target in GRAPHS["crossed"][1]
    )
    assert [lower for _, lower in uppers] == sorted(lower for _, lower in uppers)


def test_a_long_edge_is_straight_where_there_is_room() -> None:
    chain = [(node, node + 1) for node in range(8)]
    drawing = drawn(9, [*chain, (0, 8)])
    points = {link.end[0] for link in drawing.links if link.source == 0 and link.target is None}
    assert len(points) == 1


def test_an_input_stands_right_above_its_first_use() -> None:
    drawing = drawn(5, [(0, 2), (2, 3), (3, 4), (1, 4)])
    assert drawing.places[1][1] == drawing.places[4][1] - 1


def test_a_graph_that_is_too_large() -> None:
    assert draw([1.0] * (MOST_POINTS + 1), [], GAP) is None
    # An edge has a point in each layer that it passes.
    half = MOST_POINTS // 2 + 2
    chain = [(node, node + 1) for node in range(half - 1)]
    assert draw([1.0] * half, [*chain, (0, half - 1)], GAP) is None
