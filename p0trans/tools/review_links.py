"""What the lines of a review stand for, as marks that equal lines share.

A mark is a word: `d3v5` is value 5 of definition 3 of the program, `d3n0` its first shape variable,
`d3f0` its first fact, `d3h` its head; `m2i0` is the first item of module 2 and `m2h` its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from p0trans.ir.program import (
    Const,
    Definition,
    Module,
    Program,
    Reference,
    State,
    Sub,
    Unit,
    Value,
)
from p0trans.shapes.dim import Constraint
from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import parse
from p0trans.tools.correspondence import Match
from p0trans.tools.explain import Block, Proof, Row
from p0trans.tools.explain import sizes as sizes_of
from p0trans.tools.passages import bindings_of, line_range, passage, value_of
from p0trans.types import TensorType, Type


class Links:
    """The marks of a checked program."""

    def __init__(self, program: Program) -> None:
        definitions = [d for unit in program.units for d in unit.definitions]
        modules = [module for unit in program.units for module in unit.modules]
        self.program = program
        self._numbers = {d.reference: number for number, d in enumerate(definitions)}
        self._module_numbers = {(m.unit, m.name): number for number, m in enumerate(modules)}
        self._definitions = {definition.reference: definition for definition in definitions}
        self._modules = {(m.definition, m.name): m for m in modules}
        self._nodes: dict[Source, Mapping[Span, tree.Declaration]] = {}

    def declarations(self, source: Source) -> Mapping[Span, tree.Declaration]:
        """The declarations of a source in order, by their spans."""
        if source not in self._nodes:
            file = parse(source).file
            self._nodes[source] = {node.span: node for node in file.declarations}
        return self._nodes[source]

    def head(self, item: Definition | Module) -> str:
        if isinstance(item, Module):
            return f"m{self._module_numbers[item.unit, item.name]}h"
        return f"d{self._numbers[item.reference]}h"

    def value(self, reference: Reference, value: Value) -> str:
        return f"d{self._numbers[reference]}v{value}"

    def _size(self, definition: Definition, name: str) -> str:
        place = definition.shape_parameters.index(name)
        return f"d{self._numbers[definition.reference]}n{place}"

    def _fact(self, definition: Definition, fact: Constraint) -> str:
        place = _facts(definition).index(fact)
        return f"d{self._numbers[definition.reference]}f{place}"

    def _item(self, module: Module, place: int) -> str:
        return f"m{self._module_numbers[module.unit, module.name]}i{place}"

    def module_of(self, match: Match) -> Module | None:
        """The module in whose class some emitted lines are."""
        return None if match.module is None else self._modules[match.definition, match.module]

    # --- emitted lines ------------------------------------------------------------------

    def of_match(self, match: Match) -> tuple[str, ...]:
        """The marks of some emitted lines."""
        definition = self._definitions[match.definition]
        module = self.module_of(match)
        marks = [self.value(match.definition, value) for value in match.values]
        marks += [self._size(definition, name) for name in match.sizes]
        marks += [self._fact(definition, fact) for fact in match.facts]
        if module is not None and self._is_declared(module):
            marks += [
                self._item(module, place)
                for place, item in enumerate(_items(module))
                if item.span in match.spans and match.unit == module.unit
            ]
        if not marks:
            marks.append(self.head(definition if module is None else module))
        elif match.part == "signature" and len(match.values) != 1:
            marks.append(self.head(definition))
        return tuple(dict.fromkeys(marks))

    def _is_declared(self, module: Module) -> bool:
        """Whether a module is written in a source; what stands for a definition alone may have
        items that the command line gave."""
        source = self.program.unit(module.unit).source
        return isinstance(self.declarations(source).get(module.span), tree.Module)

    # --- source lines -------------------------------------------------------------------

    def of_lines(self, unit: Unit) -> Mapping[int, tuple[str, ...]]:
        """The marks of each line of a source that has some."""
        found: dict[int, dict[str, None]] = {}
        for span, mark in self._places(unit):
            first, last = line_range(unit.source, span)
            for line in range(first, last + 1):
                found.setdefault(line, {})[mark] = None
        return {line: tuple(marks) for line, marks in found.items()}

    def _places(self, unit: Unit) -> Iterator[tuple[Span, str]]:
        definitions = {definition.span: definition for definition in unit.definitions}
        modules = {module.span: module for module in unit.modules}
        for node in self.declarations(unit.source).values():
            if isinstance(node, tree.Definition) and node.span in definitions:
                yield from self._definition_places(unit.source, node, definitions[node.span])
            elif isinstance(node, tree.Module) and node.span in modules:
                yield from self._module_places(unit.source, node, modules[node.span])

    def _definition_places(
        self, source: Source, node: tree.Definition, definition: Definition
    ) -> Iterator[tuple[Span, str]]:
        reference, head = definition.reference, self.head(definition)
        yield _with_doc(source, Span(node.span.start, node.name.span.end)), head
        yield node.result.span, head
        for name in node.shape_parameters:
            yield name.span, self._size(definition, name.text)
        for value, parameter in enumerate(definition.parameters):
            yield parameter.span, self.value(reference, value)
        for written, fact in zip((*node.where, *node.assume), _facts(definition), strict=True):
            yield written.span, self._fact(definition, fact)
        by_span: dict[Span, list[Value]] = {}
        for value, step in definition.numbered_steps():
            by_span.setdefault(step.span, []).append(value)
            yield step.span, self.value(reference, value)
        for binding in bindings_of(node.body):
            for value in by_span.get(value_of(binding.value).span, ()):
                yield binding.names[0].span, self.value(reference, value)

    def _module_places(
        self, source: Source, node: tree.Module, module: Module
    ) -> Iterator[tuple[Span, str]]:
        yield _with_doc(source, Span(node.span.start, node.definition.span.end)), self.head(module)
        for place, item in enumerate(_items(module)):
            yield item.span, self._item(module, place)
            if not isinstance(item, Sub):
                yield item.span, self.value(module.definition, item.parameter)

    # --- explanations -------------------------------------------------------------------

    def explained(self, source: Source, definition: Definition) -> Iterator[tuple[str, Block]]:
        """What is to be said of each mark of a definition: its rule, and where its sizes come
        from."""
        node = self.declarations(source)[definition.span]
        assert isinstance(node, tree.Definition)
        proof = Proof(self.program, passage(source, node, definition))
        sizes = {
            binding.variable: text
            for binding, text in zip(definition.bindings, sizes_of(definition), strict=True)
        }
        given = _size_rows(sizes.values())
        rule = Row("rule", f"gives {definition.result_type} for what its signature declares")
        yield self.head(definition), Block(definition.name, (rule, *given))
        for name in definition.shape_parameters:
            rule = Row("rule", "a shape variable is an integer, at least 1")
            yield self._size(definition, name), Block(name, (rule, Row("size", sizes[name])))
        for fact in _facts(definition):
            yield self._fact(definition, fact), proof.fact(fact)
        count = len(definition.parameters)
        for value in range(count + len(definition.steps)):
            block = proof.parameter(value) if value < count else proof.step(value)
            used = _variables(definition.type_of(value))
            rows = _size_rows(sizes[name] for name in sizes if name in used)
            yield self.value(definition.reference, value), Block(block.title, (*block.rows, *rows))

    def module_explained(self, source: Source, module: Module) -> Iterator[tuple[str, Block]]:
        rule = f"a torch.nn.Module that computes `{module.definition.name}`"
        yield self.head(module), Block(f"module {module.name}", (Row("rule", rule),))
        for place, item in enumerate(_items(module)):
            title = " ".join(source.slice(item.span).split())
            yield self._item(module, place), Block(title, (Row("rule", _item_rule(item)),))


def _item_rule(item: State | Const | Sub) -> str:
    match item:
        case State(kind="param"):
            return "an nn.Parameter of the module, with how it begins"
        case State():
            return "a buffer of the module, with how it begins"
        case Const():
            return "a Python number that the constructor takes, with its default"
        case Sub():
            return "a child module, which computes the calls with just these arguments"


def _size_rows(texts: Iterable[str]) -> tuple[Row, ...]:
    text = ", ".join(texts)
    return (Row("sizes", text),) if text else ()


def _items(module: Module) -> Sequence[State | Const | Sub]:
    return (*module.states, *module.consts, *module.subs)


def _facts(definition: Definition) -> tuple[Constraint, ...]:
    return (*definition.where, *definition.assume)


def _with_doc(source: Source, span: Span) -> Span:
    """`span` with the lines of `///` right above it."""
    line, _ = source.position(span.start)
    while line > 1 and source.line(line - 1).lstrip().startswith("///"):
        line -= 1
    return Span(min(span.start, source.line_starts[line - 1]), span.end)


def _variables(type_: Type) -> frozenset[str]:
    if isinstance(type_, TensorType):
        return frozenset(name for dim in type_.shape for name in dim.variables())
    return frozenset[str]().union(*map(_variables, type_.items))
