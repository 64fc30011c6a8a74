"""Which part of the sources each line of an emitted file is, whatever was rewritten between them.

The emitter says which values of the rewritten definition a line computes. A rewritten step says
which source it stands for; what was rewritten away without a word is in the lines of what used it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from p0trans.emit.options import EmittedFile
from p0trans.emit.stretches import Part, Stretch, stretches
from p0trans.ir.program import Definition, Module, Program, Reference, Unit, Value
from p0trans.shapes.dim import Constraint
from p0trans.shapes.solve import FromEquation
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.syntax.parse import parse


class Match(NamedTuple):
    """The lines `first` to `last` (from 1) of an emitted file, and what they came from.

    `values` are those of the definition as it was checked. `unit` is the file that all of `spans`
    are in: the smallest set that says where the lines come from, in the order of the text.
    """

    first: int
    last: int
    part: Part
    unit: str
    definition: Reference
    module: str | None
    values: tuple[Value, ...]
    sizes: tuple[str, ...]
    facts: tuple[Constraint, ...]
    spans: tuple[Span, ...]
    lets: tuple[str, ...]
    idioms: tuple[str, ...]


def matches(program: Program, file: EmittedFile) -> tuple[Match, ...]:
    """What each line of `file`, which `program` gave, came from; in order."""
    texts = _Texts(program)
    found = stretches(file)
    values = _values(program, found)
    return tuple(
        _match(texts, stretch, computed) for stretch, computed in zip(found, values, strict=True)
    )


def _match(texts: _Texts, stretch: Stretch, values: tuple[Value, ...]) -> Match:
    definition = texts.program.definition(stretch.definition.reference)
    module, trace = stretch.module, stretch.trace
    declared = texts.declared_module(module)
    owned: tuple[Value, ...] = ()
    spans = list(trace.spans) if declared is not None else []
    if module is not None:
        owned = (
            *(state.parameter for state in module.states if state.span in trace.spans),
            *(const.parameter for const in module.consts if const.span in trace.spans),
        )
    facts = (*trace.facts, *_equations(definition, trace.sizes))
    unit = definition.unit
    if spans:
        assert module is not None
        unit = module.unit
    else:
        spans = texts.spans(definition, (*owned, *values), trace.sizes, facts)
    if not spans:
        unit, spans = texts.head(stretch, declared)
    steps = [step for value in values if (step := definition.step_of(value)) is not None]
    emitted = (stretch.definition.step_of(value) for value in trace.values)
    origins = [step.origin for step in emitted if step is not None and step.origin is not None]
    return Match(
        stretch.first,
        stretch.last,
        stretch.part,
        unit,
        definition.reference,
        None if module is None else module.name,
        tuple(dict.fromkeys((*owned, *values))),
        trace.sizes,
        facts,
        _outermost(spans),
        tuple(dict.fromkeys(name for s in steps if (name := s.binding or s.owner) is not None)),
        tuple(dict.fromkeys(str(origin.idiom) for origin in origins)),
    )


# --- values -----------------------------------------------------------------------------


def _values(program: Program, found: Sequence[Stretch]) -> list[tuple[Value, ...]]:
    """The values of the checked definition that each stretch stands for, ascending."""
    values: list[set[Value]] = [set() for _ in found]
    bodies: dict[tuple[Reference, str | None], list[int]] = {}
    for index, stretch in enumerate(found):
        bodies.setdefault(
            (stretch.definition.reference, stretch.module and stretch.module.name), []
        ).append(index)
    for (reference, _), indices in bodies.items():
        checked = program.definition(reference)
        standing = _Standing(checked)
        for index in indices:
            values[index] |= standing.of(found[index].definition, found[index].trace.values)
        body = [index for index in indices if found[index].part == "body"]
        for index in body:
            if found[index].definition.result in found[index].trace.values:
                # Even where it was rewritten to something that has no source of its own.
                values[index].add(checked.result)
        _give_the_rest(checked, [values[index] for index in body])
    return [tuple(sorted(each)) for each in values]


class _Standing:
    """Which values of a checked definition those of a rewritten one stand for, by their source."""

    def __init__(self, checked: Definition) -> None:
        self.checked = checked
        self.by_span: dict[Span, list[Value]] = {}
        for value, step in checked.numbered_steps():
            self.by_span.setdefault(step.span, []).append(value)

    def of(self, emitted: Definition, values: Iterable[Value]) -> set[Value]:
        found: set[Value] = set()
        for value in values:
            step = emitted.step_of(value)
            if step is None or emitted is self.checked:
                found.add(value)
                continue
            spans = (step.span,) if step.origin is None else step.origin.spans
            found.update(one for span in spans for one in self.by_span.get(span, ()))
        return found


def _give_the_rest(definition: Definition, lines: Sequence[set[Value]]) -> None:
    """Put each step that no line has into the lines of those that use it."""
    users: dict[Value, list[Value]] = {}
    for value, step in definition.numbered_steps():
        for operand in step.node.operands:
            users.setdefault(operand, []).append(value)
    holders: dict[Value, list[set[Value]]] = {}
    for line in lines:
        for value in line:
            holders.setdefault(value, []).append(line)
    for value, _ in reversed(list(definition.numbered_steps())):
        if value in holders:
            continue
        # The same set may come from several users; sets do not hash, so they are told by identity.
        given = {id(line): line for user in users.get(value, ()) for line in holders.get(user, ())}
        holders[value] = list(given.values())
        for line in holders[value]:
            line.add(value)


def _equations(definition: Definition, sizes: Sequence[str]) -> tuple[Constraint, ...]:
    """The facts by which those of `sizes` get their numbers that no input has as an axis."""
    solved = {b.variable for b in definition.bindings if isinstance(b, FromEquation)} & {*sizes}
    return tuple(
        fact
        for fact in (*definition.where, *definition.assume)
        if fact.relation == "==" and solved & fact.variables()
    )


# --- spans ------------------------------------------------------------------------------


class _Texts:
    """Where the parts of a program's definitions and modules are written."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.units: Mapping[str, Unit] = {unit.name: unit for unit in program.units}
        self.declarations = cache(self._declarations)

    def _declarations(self, unit: str) -> Mapping[Span, tree.Declaration]:
        file = parse(self.units[unit].source).file
        return {node.span: node for node in file.declarations}

    def definition(self, definition: Definition) -> tree.Definition:
        node = self.declarations(definition.unit)[definition.span]
        assert isinstance(node, tree.Definition)
        return node

    def declared_module(self, module: Module | None) -> tree.Module | None:
        """The declaration of a module; None for one that stands for a definition alone."""
        node = None if module is None else self.declarations(module.unit).get(module.span)
        return node if isinstance(node, tree.Module) else None

    def spans(
        self,
        definition: Definition,
        values: Iterable[Value],
        sizes: Sequence[str],
        facts: Sequence[Constraint],
    ) -> list[Span]:
        spans = []
        for value in values:
            step = definition.step_of(value)
            spans.append(definition.parameters[value].span if step is None else step.span)
        node = self.definition(definition)
        if not spans:
            spans += [name.span for name in node.shape_parameters if name.text in sizes]
        written = (*node.where, *node.assume)
        stated = (*definition.where, *definition.assume)
        spans += [w.span for w, fact in zip(written, stated, strict=True) if fact in facts]
        return spans

    def head(self, stretch: Stretch, declared: tree.Module | None) -> tuple[str, list[Span]]:
        """Where the declaration begins that a stretch without a trace is about."""
        if declared is not None:
            assert stretch.module is not None
            return stretch.module.unit, [Span(declared.span.start, declared.definition.span.end)]
        node = self.definition(stretch.definition)
        if stretch.part == "signature":
            return stretch.definition.unit, [Span(node.span.start, node.equals_span.end)]
        return stretch.definition.unit, [Span(node.span.start, node.name.span.end)]


def _outermost(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Those that no other one holds, in the order of the text."""
    kept: list[Span] = []
    for span in sorted(set(spans), key=lambda span: (span.start, -span.end)):
        if not kept or span.end > kept[-1].end:
            kept.append(span)
    return tuple(kept)
