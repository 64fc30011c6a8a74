"""The data flow of a definition as a picture: its inputs, `let`s and result, shapes on the edges.

Lengths are in CSS pixels; text is set in a monospaced font of 12 pixels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from p0trans.ir.printer import type_text
from p0trans.ir.program import Call, Definition, Project, Step, Value
from p0trans.source import Source
from p0trans.tools.layered import Drawing, Link, draw
from p0trans.tools.ledger_cells import dtype_cell, shape_cell
from p0trans.types import Type

_CHARACTER = 7.3
_PADDING = 10
_GAP = 26
_HEIGHT = 38
_BETWEEN = 46
_MARGIN = 12
_LONGEST = 40


class Node(NamedTuple):
    """A box with two lines of text; x and y are its corner. `kind` is `input`, `step`, `call` or
    `result`, and `values` are all that is computed in it."""

    kind: str
    x: float
    y: float
    width: float
    title: str
    detail: str
    full: str
    values: tuple[Value, ...]


class Edge(NamedTuple):
    """An SVG path, and the values of the boxes that it comes from and ends at."""

    path: str
    values: tuple[Value, ...]


class Tag(NamedTuple):
    """The shape of what leaves a box, beside the edges that it belongs to: `left` of x or behind
    it."""

    x: float
    y: float
    left: bool
    text: str
    values: tuple[Value, ...]


class Picture(NamedTuple):
    """`left` is where the sheet begins, at most 0."""

    left: float
    width: float
    height: float
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    tags: tuple[Tag, ...]
    box_height: int = _HEIGHT


class _Box(NamedTuple):
    kind: str
    title: str
    detail: str
    full: str
    type: Type
    values: tuple[Value, ...]

    @property
    def width(self) -> float:
        longest = max(len(self.title), len(self.detail), len(shape_cell(self.type)))
        return longest * _CHARACTER + 2 * _PADDING


def picture(definition: Definition, source: Source, kinds: Mapping[Value, str]) -> Picture | None:
    """The picture of a definition; None where it is too large to be read.

    `kinds` says what a module keeps some parameters as: `param`, `buffer`, `const`.
    """
    boxes = list(_boxes(definition, source, kinds))
    holder = {value: index for index, box in enumerate(boxes) for value in box.values}
    edges = dict.fromkeys(
        (holder[operand], index)
        for index, box in enumerate(boxes)
        for value in box.values
        if (step := definition.step_of(value)) is not None
        for operand in step.node.operands
        if holder[operand] != index
    )
    drawing = draw([box.width for box in boxes], list(edges), _GAP)
    return None if drawing is None else _picture(boxes, drawing)


# --- boxes ------------------------------------------------------------------------------


def _boxes(definition: Definition, source: Source, kinds: Mapping[Value, str]) -> Iterator[_Box]:
    """The inputs and, for each `let` and the result, the steps that make it up."""
    for value, parameter in enumerate(definition.parameters):
        detail = " ".join(filter(None, (kinds.get(value, ""), dtype_cell(parameter.type))))
        full = f"{parameter.name} : {type_text(parameter.type)}"
        yield _Box("input", parameter.name, detail, full, parameter.type, (value,))
    parts: list[Value] = []
    for value, step in definition.numbered_steps():
        parts.append(value)
        is_result = value == definition.result
        if step.binding is None and not is_result:
            continue
        main = _main(definition, parts)
        text = " ".join(source.slice(main.span).split())
        if isinstance(main.node, Project):
            text = f"item {main.node.index + 1}"
        name = step.binding or "result"
        kind = "result" if is_result else "call" if isinstance(main.node, Call) else "step"
        full = f"{name} = {text} : {type_text(step.type)}"
        yield _Box(kind, name, _short(text), full, step.type, tuple(parts))
        parts = []
    if parts:
        # What nothing uses may stand behind the result.
        step = definition.steps[-1]
        text = " ".join(source.slice(step.span).split())
        yield _Box("step", "unused", _short(text), text, step.type, tuple(parts))


def _main(definition: Definition, parts: Sequence[Value]) -> Step:
    """The last of some steps, or the one of them that it takes an item of."""
    step = definition.step_of(parts[-1])
    assert step is not None
    if isinstance(step.node, Project) and step.node.operand in parts:
        whole = definition.step_of(step.node.operand)
        assert whole is not None
        return whole
    return step


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


# --- geometry ---------------------------------------------------------------------------


def _picture(boxes: Sequence[_Box], drawing: Drawing) -> Picture:
    nodes = []
    tags = []
    leaving: dict[int, list[float]] = {}
    for link in drawing.links:
        if link.start == drawing.places[link.source]:
            leaving.setdefault(link.source, []).append(link.end[0])
    for index, (box, (x, layer)) in enumerate(zip(boxes, drawing.places, strict=True)):
        left, top = x + _MARGIN, _top(layer)
        nodes.append(
            Node(
                box.kind,
                round(left - box.width / 2, 1),
                top,
                round(box.width, 1),
                box.title,
                box.detail,
                box.full,
                box.values,
            )
        )
        if index in leaving or box.kind == "result":
            ends = leaving.get(index, [x])
            rightwards = sum(ends) / len(ends) > x + 1
            beside = round(left - 6 if rightwards else left + 6, 1)
            text = shape_cell(box.type)
            tags.append(Tag(beside, top + _HEIGHT + 14, rightwards, text, box.values))
    entries = _entries(boxes, drawing)
    paths = tuple(
        Edge(
            _path(link, drawing, entries),
            (
                *boxes[link.source].values,
                *(() if link.target is None else boxes[link.target].values),
            ),
        )
        for link in drawing.links
    )
    starts = [tag.x - _CHARACTER * len(tag.text) * tag.left for tag in tags]
    stops = [tag.x + _CHARACTER * len(tag.text) * (not tag.left) for tag in tags]
    left = min(0.0, *(start - _MARGIN for start in starts), 0.0)
    right = max(drawing.width + 2 * _MARGIN, *(stop + _MARGIN for stop in stops), 0.0)
    return Picture(
        round(left, 1),
        round(right - left, 1),
        _top(drawing.layers) - _BETWEEN + 2 * _MARGIN + 10,
        tuple(nodes),
        paths,
        tuple(tags),
    )


def _top(layer: int) -> int:
    return _MARGIN + layer * (_HEIGHT + _BETWEEN)


def _entries(boxes: Sequence[_Box], drawing: Drawing) -> Mapping[Link, float]:
    """Where on the upper side of its box each edge ends: side by side, as they come."""
    arriving: dict[int, list[Link]] = {}
    for link in drawing.links:
        if link.target is not None:
            arriving.setdefault(link.target, []).append(link)
    found: dict[Link, float] = {}
    for target, links in arriving.items():
        links.sort(key=lambda link: (link.start, link.source))
        apart = min(18.0, boxes[target].width / (len(links) + 1))
        for place, link in enumerate(links):
            found[link] = link.end[0] + (place - (len(links) - 1) / 2) * apart
    return found


def _path(link: Link, drawing: Drawing, entries: Mapping[Link, float]) -> str:
    start, upper = link.start
    y, top = _top(upper) + _HEIGHT, _top(link.end[1])
    here, there = f"{start + _MARGIN:.1f}", f"{entries.get(link, link.end[0]) + _MARGIN:.1f}"
    bend = (y + top) // 2
    # Past the boxes of a layer that it only passes it goes straight down.
    path = (
        f"M{here} {y}"
        if link.start == drawing.places[link.source]
        else f"M{here} {y - _HEIGHT}V{y}"
    )
    return f"{path}C{here} {bend} {there} {bend} {there} {top}"
