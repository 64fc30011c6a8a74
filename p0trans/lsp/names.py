"""Where names stand in a text, and what each stands for as far as its own text says."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from p0trans.ops import CALLABLE, OPERATIONS
from p0trans.ops.table import AttributeKind, AttributeSpec, Notation, Operation
from p0trans.source import Span
from p0trans.syntax import tree

LITERALS = {op.name: op for op in OPERATIONS.values() if op.notation is Notation.LITERAL}
"""The operations that give a literal its dtype, by name."""


class Kind(Enum):
    """What a name can stand for."""

    SHAPE = "shape variable"
    PARAMETER = "parameter"
    LOCAL = "local"
    DEFINITION = "definition"
    MODULE = "module"
    OPERATION = "operation"
    DTYPE = "dtype"
    ATTRIBUTE = "attribute"
    FILE = "file"
    PART = "part"
    TOP_LEVEL = "top-level name"  # until it is known which of these
    UNKNOWN = "unknown name"


class Name(NamedTuple):
    """A name where it stands.

    `declared` is where the same text declares it: for shape variables, parameters and locals.
    `owner` names the declaration that it is in; for the parameter that a module's item speaks of,
    the definition or module that has it. `declares` says that this is its declaration.
    """

    span: Span
    text: str
    kind: Kind
    owner: str
    declared: Span | None = None
    declares: bool = False


class _Leave(NamedTuple):
    bindings: tuple[tree.Binding, ...]


_Task: TypeAlias = "tree.Expr | tree.Binding | _Leave"


def names(declarations: Sequence[tree.Declaration]) -> tuple[Name, ...]:
    """All names in some declarations, in the order of the text."""
    found: list[Name] = []
    for declaration in declarations:
        match declaration:
            case tree.Import():
                found += _import(declaration)
            case tree.Definition():
                found += _Definition(declaration).names
            case tree.Module():
                found += _module(declaration)
    return tuple(sorted(found, key=lambda name: name.span))


def _import(node: tree.Import) -> list[Name]:
    path = ".".join(part.text for part in node.module)
    return [
        *(Name(part.span, path, Kind.FILE, "") for part in node.module),
        *(Name(name.span, name.text, Kind.TOP_LEVEL, "") for name in node.names),
    ]


def _module(node: tree.Module) -> list[Name]:
    owner = node.name.text
    found = [
        Name(node.name.span, owner, Kind.MODULE, owner, declares=True),
        Name(node.definition.span, node.definition.text, Kind.TOP_LEVEL, owner),
    ]
    for item in node.items:
        if isinstance(item, tree.State):
            found.append(Name(item.name.span, item.name.text, Kind.PARAMETER, node.definition.text))
            if item.initializer.name is not None:
                word = item.initializer.name
                found.append(Name(word.span, word.text, Kind.ATTRIBUTE, owner))
            continue
        found.append(Name(item.name.span, item.name.text, Kind.PART, owner))
        found.append(Name(item.module.span, item.module.text, Kind.TOP_LEVEL, owner))
        for theirs, ours in item.arguments:
            found.append(Name(theirs.span, theirs.text, Kind.PARAMETER, item.module.text))
            found.append(Name(ours.span, ours.text, Kind.PARAMETER, node.definition.text))
    return found


class _Definition:
    """The names of one definition, gathered in one walk on an explicit stack."""

    def __init__(self, node: tree.Definition) -> None:
        self.owner = node.name.text
        self.names = [Name(node.name.span, self.owner, Kind.DEFINITION, self.owner, None, True)]
        self.shapes = {name.text: name.span for name in reversed(node.shape_parameters)}
        self.scope: dict[str, list[tuple[Kind, Span]]] = {}
        for name in node.shape_parameters:
            self._add(name, Kind.SHAPE, self.shapes[name.text], declares=True)
        for parameter in node.parameters:
            self._declare(parameter.name, Kind.PARAMETER)
            self._type(parameter.type)
        self._type(node.result)
        for constraint in (*node.where, *node.assume):
            self._dims((constraint.left, constraint.right))
        self._walk(node.body)

    def _add(
        self,
        name: tree.Identifier | tree.Name | tree.DimName,
        kind: Kind,
        declared: Span | None = None,
        *,
        declares: bool = False,
    ) -> None:
        self.names.append(Name(name.span, name.text, kind, self.owner, declared, declares))

    def _declare(self, name: tree.Identifier, kind: Kind) -> None:
        self.scope.setdefault(name.text, []).append((kind, name.span))
        self._add(name, kind, name.span, declares=True)

    def _use(self, name: tree.Identifier | tree.Name) -> None:
        bound = self.scope.get(name.text)
        if bound:
            self._add(name, *bound[-1])
        else:
            self._add(name, Kind.TOP_LEVEL)

    def _type(self, root: tree.Type) -> None:
        pending = [root]
        while pending:
            item = pending.pop()
            if isinstance(item, tree.TensorType):
                self._add(item.dtype, Kind.DTYPE)
                self._dims(item.dims)
            else:
                pending += item.items

    def _dims(self, dims: Sequence[tree.Dim]) -> None:
        pending = list(dims)
        while pending:
            dim = pending.pop()
            match dim:
                case tree.DimName():
                    declared = self.shapes.get(dim.text)
                    self._add(dim, Kind.UNKNOWN if declared is None else Kind.SHAPE, declared)
                case tree.DimNegate():
                    pending.append(dim.operand)
                case tree.DimBinary():
                    pending += (dim.left, dim.right)
                case tree.DimInteger():
                    pass

    def _walk(self, body: tree.Expr) -> None:
        tasks: list[_Task] = [body]
        while tasks:
            task = tasks.pop()
            match task:
                case tree.Name():
                    self._use(task)
                case tree.Unary():
                    tasks.append(task.operand)
                case tree.Binary():
                    tasks += (task.right, task.left)
                case tree.Tuple():
                    tasks += reversed(task.items)
                case tree.ShapeArgument():
                    self._dims(task.dims)
                case tree.Apply():
                    self._use(task.head)
                    self._attributes(task)
                    tasks += reversed(task.arguments)
                case tree.Block():
                    tasks += (_Leave(task.bindings), task.result)
                    for binding in reversed(task.bindings):
                        tasks += (binding, binding.value)
                        if binding.type is not None:
                            self._type(binding.type)
                case tree.Binding():
                    for name in task.names:
                        self._declare(name, Kind.LOCAL)
                case _Leave():
                    for binding in task.bindings:
                        for name in binding.names:
                            self.scope[name.text].pop()
                case tree.Literal():
                    pass

    def _attributes(self, node: tree.Apply) -> None:
        operation = CALLABLE.get(node.head.text) or LITERALS.get(node.head.text)
        for index, attribute in enumerate(node.attributes or ()):
            if attribute.name is not None:
                self._add(attribute.name, Kind.ATTRIBUTE)
            value = attribute.value
            spec = None if operation is None else attribute_spec(operation, attribute, index)
            if spec is not None and isinstance(value, tree.DimName):
                if spec.kind is AttributeKind.DTYPE:
                    self._add(value, Kind.DTYPE)
                    continue
                if spec.kind is AttributeKind.WORD:
                    self._add(value, Kind.ATTRIBUTE)
                    continue
            self._dims(value.dims if isinstance(value, tree.DimList) else (value,))


def attribute_spec(
    operation: Operation, attribute: tree.Attribute, index: int
) -> AttributeSpec | None:
    """What an operation declares of the attribute at `index` of its bracket."""
    if attribute.name is not None:
        name = attribute.name.text
        return next((spec for spec in operation.attributes if spec.name == name), None)
    positional = [spec for spec in operation.attributes if spec.positional]
    return positional[index] if index < len(positional) else None
