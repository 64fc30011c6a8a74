"""One walk over a definition's text: which names it binds, uses and mentions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

from p0trans.source import Span
from p0trans.syntax import tree


class Local(NamedTuple):
    """A name bound inside a definition: by a parameter, or by a `let` whose `binding` it is."""

    name: tree.Identifier
    binding: tree.Binding | None


class Survey(NamedTuple):
    """What a definition's text says, in source order.

    `globals` are the names that no local one explains, `shape_names` all words that stand where
    a shape variable may, `applications` the applications by their span.
    """

    locals: tuple[Local, ...]
    unused: tuple[Local, ...]
    globals: frozenset[str]
    shape_names: frozenset[str]
    applications: Mapping[Span, tree.Apply]


class _Enter(NamedTuple):
    binding: tree.Binding


class _Leave(NamedTuple):
    bindings: tuple[tree.Binding, ...]


_Task: TypeAlias = "tree.Expr | tree.Dim | _Enter | _Leave"


def survey(definition: tree.Definition) -> Survey:
    """Walk over `definition` on an explicit stack, in the order of its scopes."""
    bound: list[Local] = []
    used: set[int] = set()
    scope: dict[str, list[int]] = {}
    free: set[str] = set()
    shape_names: set[str] = set()
    applications: dict[Span, tree.Apply] = {}

    def bind(local: Local) -> None:
        scope.setdefault(local.name.text, []).append(len(bound))
        bound.append(local)

    def use(name: str) -> None:
        if scope.get(name):
            used.add(scope[name][-1])
        else:
            free.add(name)

    tasks: list[_Task] = [definition.body]
    for parameter in definition.parameters:
        bind(Local(parameter.name, None))
        tasks += _dims(parameter.type)
    tasks += _dims(definition.result)
    for constraint in (*definition.where, *definition.assume):
        tasks += (constraint.left, constraint.right)
    while tasks:
        task = tasks.pop()
        match task:
            case tree.DimName():
                shape_names.add(task.text)
            case tree.DimNegate():
                tasks.append(task.operand)
            case tree.DimBinary() | tree.Binary():
                tasks += (task.right, task.left)
            case tree.Name():
                use(task.text)
            case tree.Unary():
                tasks.append(task.operand)
            case tree.Tuple():
                tasks += reversed(task.items)
            case tree.ShapeArgument():
                tasks += task.dims
            case tree.Apply():
                use(task.head.text)
                applications[task.span] = task
                for attribute in task.attributes or ():
                    value = attribute.value
                    tasks += value.dims if isinstance(value, tree.DimList) else (value,)
                tasks += reversed(task.arguments)
            case tree.Block():
                tasks += (_Leave(task.bindings), task.result)
                for binding in reversed(task.bindings):
                    tasks += (_Enter(binding), binding.value)
                    if binding.type is not None:
                        tasks += _dims(binding.type)
            case _Enter(binding=binding):
                for name in binding.names:
                    bind(Local(name, binding))
            case _Leave(bindings=bindings):
                for binding in bindings:
                    for name in binding.names:
                        scope[name.text].pop()
            case tree.Literal() | tree.DimInteger():
                pass
    return Survey(
        tuple(bound),
        tuple(local for index, local in enumerate(bound) if index not in used),
        frozenset(free),
        frozenset(shape_names),
        applications,
    )


def _dims(type_: tree.Type) -> list[tree.Dim]:
    """All dims that a written type has; the text may nest tuples deeper than Python recurses."""
    found: list[tree.Dim] = []
    pending = [type_]
    while pending:
        item = pending.pop()
        if isinstance(item, tree.TensorType):
            found += item.dims
        else:
            pending += item.items
    return found
