"""Which lines of an emitted file were made of what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from p0trans.emit.lines import UNTRACED, Trace
from p0trans.emit.options import EmittedFile
from p0trans.emit.view import ClassView, ConstructorView, FunctionView, ItemView
from p0trans.ir.program import Definition, Module, Value

Part: TypeAlias = Literal["signature", "doc", "body"]


class Stretch(NamedTuple):
    """The lines `first` to `last` (from 1) of an emitted file: part of a function or class.

    `definition` is the one whose computation it is, as it was emitted, and `module` the module that
    is emitted as the class around it. The trace is empty where all of these were asked.
    """

    first: int
    last: int
    part: Part
    definition: Definition
    module: Module | None
    trace: Trace = UNTRACED


def stretches(file: EmittedFile) -> tuple[Stretch, ...]:
    """Every line of `file` that comes from a source, in order; a line is in one stretch.

    Statements are found in the formatted text by their order: black keeps that, though not their
    lines. What is the same in every file (imports, the helpers of the checks) is in no stretch.
    """
    if file.view is None:
        return ()
    nodes: dict[str, ast.stmt] = {}
    for node in ast.parse(file.text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            nodes[node.name] = node
    lines = file.text.split("\n")
    return tuple(found for item in file.view.items for found in _item(item, nodes, lines))


def _item(item: ItemView, nodes: dict[str, ast.stmt], lines: Sequence[str]) -> Iterator[Stretch]:
    if item.class_ is None:
        assert item.function is not None
        node = nodes[item.function.name]
        assert isinstance(node, ast.FunctionDef)
        yield from _function(item.function, node, None, lines)
        return
    class_ = nodes[item.class_.name]
    assert isinstance(class_, ast.ClassDef)
    yield from _class(item.class_, class_, lines)
    if item.hook is not None:
        hook = nodes[item.hook.name]
        assert isinstance(hook, ast.FunctionDef)
        yield from _plain(hook, item.class_.forward.definition, item.class_.module, lines)


def _class(view: ClassView, node: ast.ClassDef, lines: Sequence[str]) -> Iterator[Stretch]:
    definition, module = view.forward.definition, view.module
    yield Stretch(node.lineno, node.body[0].lineno - 1, "signature", definition, module)
    for member in node.body:
        if not isinstance(member, ast.FunctionDef):
            part: Part = "doc" if member is node.body[0] else "body"
            yield Stretch(member.lineno, _last(member), part, definition, module)
        elif member.name == view.forward.name:
            yield from _function(view.forward, member, module, lines)
        else:
            traces = _constructor_traces(view.constructor, member.name)
            yield from _plain(member, definition, module, lines, traces)


def _constructor_traces(view: ConstructorView | None, name: str) -> Sequence[Trace]:
    if view is not None and name == "__init__":
        # Before these it calls that of nn.Module.
        return (UNTRACED, *(line.trace for line in (*view.guards, *view.assignments)))
    if view is not None and name == "reset_parameters":
        return tuple(line.trace for line in view.resets)
    return ()


def _function(
    view: FunctionView, node: ast.FunctionDef, module: Module | None, lines: Sequence[str]
) -> Iterator[Stretch]:
    definition = view.definition
    yield from _signature(view, node, module)
    statements = list(node.body)
    if view.doc:
        doc = statements.pop(0)
        yield Stretch(doc.lineno, _last(doc), "doc", definition, module)
    assert len(statements) == len(view.traces), f"{view.name} has other statements than its view"
    before = node.body[0].lineno - 1 if not view.doc else _last(node.body[0])
    yield from _statements(statements, view.traces, before, definition, module, lines)


def _signature(
    view: FunctionView, node: ast.FunctionDef, module: Module | None
) -> Iterator[Stretch]:
    """The head of a function; lines below the first that hold parameters are stretches of their
    own."""
    arguments = [argument for argument in node.args.args if argument.arg != "self"]
    below: dict[int, list[Value]] = {}
    ends: dict[int, int] = {}
    for argument, value in zip(arguments, view.inputs, strict=True):
        if argument.lineno > node.lineno:
            below.setdefault(argument.lineno, []).append(value)
            ends[argument.lineno] = argument.end_lineno or argument.lineno
    whole = UNTRACED if below else Trace(view.inputs)
    line = node.lineno
    for first, values in below.items():
        if line < first:
            yield Stretch(line, first - 1, "signature", view.definition, module, whole)
        yield Stretch(
            first, ends[first], "signature", view.definition, module, Trace(tuple(values))
        )
        line = ends[first] + 1
    last = node.body[0].lineno - 1
    if line <= last:
        yield Stretch(line, last, "signature", view.definition, module, whole)


def _plain(
    node: ast.FunctionDef,
    definition: Definition,
    module: Module,
    lines: Sequence[str],
    traces: Sequence[Trace] = (),
) -> Iterator[Stretch]:
    """A function around a module; `traces` are those of its first statements."""
    before = node.body[0].lineno - 1
    yield Stretch(node.lineno, before, "signature", definition, module)
    padded = (*traces, *[UNTRACED] * (len(node.body) - len(traces)))
    yield from _statements(node.body, padded, before, definition, module, lines)


def _statements(
    statements: Sequence[ast.stmt],
    traces: Iterable[Trace],
    before: int,
    definition: Definition,
    module: Module | None,
    lines: Sequence[str],
) -> Iterator[Stretch]:
    """Each statement with the comments above it; `before` is the line that they follow."""
    for statement, trace in zip(statements, traces, strict=True):
        first = statement.lineno
        while first - 1 > before and lines[first - 2].lstrip().startswith("#"):
            first -= 1
        yield Stretch(first, _last(statement), "body", definition, module, trace)
        before = _last(statement)


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno
