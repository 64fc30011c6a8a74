"""Names, annotations and docstrings of emitted functions and methods."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from p0trans.emit.lines import LINE_LENGTH
from p0trans.emit.names import allocate
from p0trans.emit.notation import annotation, constraint_prose, documented_type
from p0trans.ir.program import Apply, Call, Definition, Program, Reference
from p0trans.shapes.dim import Constraint
from p0trans.shapes.solve import Given
from p0trans.types import TensorType, Type, tensors

# Behind the indentation and, on the first line, the quotes.
_DOC_WIDTH = LINE_LENGTH - len('    """')


@dataclass(frozen=True, slots=True)
class LocalNames:
    """The Python names of a definition's parameters and `let`s, and of its shape variables."""

    values: Mapping[str, str]
    shapes: Mapping[str, str]


def local_names(definition: Definition, taken: frozenset[str]) -> LocalNames:
    """Names that avoid `taken`. Parameters come first, then shape variables: they are keyword
    arguments, whose names matter most."""
    parameters = allocate((parameter.name for parameter in definition.parameters), taken)
    shapes = allocate(definition.shape_parameters, taken, set(parameters.values()))
    bindings = (step.binding for step in definition.steps if step.binding is not None)
    lets = allocate(
        (name for name in bindings if name not in parameters),
        taken,
        {*parameters.values(), *shapes.values()},
    )
    return LocalNames({**lets, **parameters}, shapes)


def given_variables(definition: Definition) -> tuple[str, ...]:
    """The shape parameters that a caller passes as integers, in their own order."""
    given = {binding.variable for binding in definition.bindings if isinstance(binding, Given)}
    return tuple(name for name in definition.shape_parameters if name in given)


def told_the_device(program: Program) -> frozenset[Reference]:
    """The definitions that make tensors and are given none whose device would tell where."""
    found: set[Reference] = set()
    for unit in program.units:
        for definition in unit.definitions:
            nodes = (step.node for step in definition.steps)
            makes = any(
                (isinstance(node, Apply) and not node.operands)
                or (isinstance(node, Call) and node.definition in found)
                for node in nodes
            )
            if makes and not definition.parameters:
                found.add(definition.reference)
    return frozenset(found)


def parameter_list(
    definition: Definition, indices: Sequence[int], names: LocalNames, jaxtyping: bool
) -> tuple[str, ...]:
    """The items of a signature for some of the definition's parameters."""
    parameters = [definition.parameters[index] for index in indices]
    return tuple(
        f"{names.values[parameter.name]}: {annotation(parameter.type, names.shapes, jaxtyping)}"
        for parameter in parameters
    )


def first_tensor(types: Sequence[tuple[str, Type]]) -> str | None:
    """An expression for the first tensor of some values, given as expressions and their types."""
    for expression, type_ in types:
        while not isinstance(type_, TensorType):
            expression, type_ = f"{expression}[0]", type_.items[0]
        return expression
    return None


def docstring(
    doc: str | None,
    summary: str,
    definition: Definition,
    indices: Sequence[int],
    names: LocalNames,
    attributes: Sequence[str] = (),
) -> tuple[str, ...]:
    """The source's doc comment, or else `summary`, and the shapes of what goes in and comes out.

    `attributes` are the lines about what a class keeps.
    """
    lines = _escaped(doc.strip() if doc and doc.strip() else summary).split("\n")
    if attributes:
        lines += ["", "Attributes:", *(f"    {line}" for line in attributes)]
    lines += ["", "Shapes:"]
    for index in indices:
        parameter = definition.parameters[index]
        shape = documented_type(parameter.type, names.shapes)
        lines.append(f"    {names.values[parameter.name]}: {shape}")
    lines.append(f"    result: {documented_type(definition.result_type, names.shapes)}")
    constraints = _telling(definition)
    if constraints:
        texts = (constraint_prose(constraint, names.shapes) for constraint in constraints)
        lines.append(f"    where {', '.join(texts)}")
    return tuple(piece for paragraph in _paragraphs(lines) for piece in _within_width(paragraph))


def _telling(definition: Definition) -> tuple[Constraint, ...]:
    """The facts that a reader of the shapes learns from: not one that only names a size which
    stands nowhere else, as `BH == B * H` does for a step inside."""
    types = (definition.result_type, *(parameter.type for parameter in definition.parameters))
    shown = [dim.variables() for type_ in types for one in tensors(type_) for dim in one.shape]
    facts = dict.fromkeys((*definition.where, *definition.assume))
    given = set(given_variables(definition))

    def only_names(fact: Constraint) -> bool:
        elsewhere = given.union(*shown, *(other.variables() for other in facts if other != fact))
        return fact.relation == "==" and any(
            name is not None and name not in elsewhere | other.variables()
            for name, other in (
                (fact.left.as_variable(), fact.right),
                (fact.right.as_variable(), fact.left),
            )
        )

    return tuple(fact for fact in facts if not only_names(fact))


def _paragraphs(lines: Sequence[str]) -> Iterator[list[str]]:
    """Runs of lines of prose; any other line, such as one that is indented, by itself."""
    for is_prose, run in groupby(lines, key=lambda line: line[:1].isalnum()):
        if is_prose:
            yield list(run)
        else:
            yield from ([line] for line in run)


def _within_width(paragraph: Sequence[str]) -> Sequence[str]:
    """The lines of a paragraph, filled anew where one is too long for the code around it."""
    if all(len(line) <= _DOC_WIDTH for line in paragraph):
        return paragraph
    text = " ".join(paragraph)
    indent = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(
        text, _DOC_WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
