"""Rewriting: a checked program as an expert would have put it, still typed IR.

A definition is rewritten by the rules of `rules/` until none applies. What it calls is rewritten
first, and a call of what became one operation is replaced by that operation. A module gets a body
of its own, in which its `const`s are Python numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from p0trans.ir.program import Call, Definition, Module, Program, Reference, Unit, Value
from p0trans.rewrite.engine import Event, Indexed, apply_rules, indexed, near_misses
from p0trans.rewrite.equal import merge_equal
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.inline import inline_calls, left_apart
from p0trans.rewrite.rules import IDIOMS, SPELLINGS
from p0trans.rewrite.tidy import tidy
from p0trans.targets import Target

__all__ = ["Event", "Rewritten", "rewrite"]


class Rewritten(NamedTuple):
    """The program, and what was done to get there: rewrites in the order in which they were made,
    then what nearly was one."""

    program: Program
    events: tuple[Event, ...]


@cache
def _phases(target: Target) -> tuple[tuple[Indexed, ...], ...]:
    """The idioms and the spellings that serve `target`."""
    return tuple(
        tuple(indexed([rule for rule in phase if target in rule.targets]) for phase in phases)
        for phases in (IDIOMS, SPELLINGS)
    )


def rewrite(program: Program, target: Target, explain: bool = False) -> Rewritten:
    """Rewrite every definition of `program` for `target`; with `explain` look for near misses."""
    work = _Work(program, target, explain)
    units = tuple(
        unit._replace(
            definitions=tuple(work.rewritten(d, frozenset()) for d in unit.definitions),
            modules=tuple(work.with_body(module) for module in unit.modules),
        )
        for unit in program.units
    )
    shown = set(map(id, _shown(units)))
    missed = (
        event for definition, events in work.missed if id(definition) in shown for event in events
    )
    return Rewritten(program._replace(units=units), (*work.events, *missed))


def _shown(units: Sequence[Unit]) -> Iterator[Definition]:
    """The rewritten definitions that emitted code may show: the bodies of modules, what is called,
    and what no module stands for."""
    modules = [module for unit in units for module in unit.modules]
    bodies = [module.body for module in modules if module.body is not None]
    covered = {module.definition for module in modules}
    definitions = [definition for unit in units for definition in unit.definitions]
    called = {
        step.node.definition
        for definition in (*definitions, *bodies)
        for step in definition.steps
        if isinstance(step.node, Call)
    }
    yield from bodies
    for definition in definitions:
        if definition.reference in called or definition.reference not in covered:
            yield definition


# How many definitions that call one another are looked through for the numbers they are given.
_DEEPEST = 16


class _Work:
    """One `rewrite` while it goes on; a definition is rewritten once for each set of numbers."""

    def __init__(self, program: Program, target: Target, explain: bool) -> None:
        self.idioms, self.spellings = _phases(target)
        self.explain = explain
        self.sources = {unit.name: unit.source for unit in program.units}
        self.definitions = {d.reference: d for unit in program.units for d in unit.definitions}
        self.done: dict[tuple[Reference, frozenset[int]], Definition] = {}
        self.events: list[Event] = []
        self.missed: list[tuple[Definition, list[Event]]] = []
        self.depth = 0

    def rewritten(self, definition: Definition, numbers: frozenset[int]) -> Definition:
        key = definition.reference, numbers
        if key not in self.done:
            self.done[key], _ = self._rewrite(definition, numbers, frozenset())
        return self.done[key]

    def with_body(self, module: Module) -> Module:
        """`module` with its own body, whose children's calls are left alone."""
        definition = self.definitions[module.definition]
        numbers = module.numbers
        children = frozenset(call for sub in module.subs for call in sub.calls)
        if not numbers and not children:
            return module._replace(body=self.rewritten(definition, numbers))
        body, renumbered = self._rewrite(definition, numbers, children)
        subs = tuple(
            sub._replace(calls=tuple(renumbered[c] for c in sub.calls if c in renumbered))
            for sub in module.subs
        )
        return module._replace(body=body, subs=subs)

    def _rewrite(
        self, definition: Definition, numbers: frozenset[int], kept: frozenset[Value]
    ) -> tuple[Definition, Mapping[Value, Value]]:
        source = self.sources[definition.unit]
        calls: frozenset[Value] = frozenset()
        while True:
            graph = Graph(definition, numbers, kept)
            tidy(graph)
            inlined = inline_calls(graph, self._callee, calls)
            events = apply_rules(graph, self.idioms, source)
            while merge_equal(graph):
                # What had two users may have one now.
                events += apply_rules(graph, self.idioms, source)
            events += apply_rules(graph, self.spellings, source)
            apart = left_apart(graph, inlined)
            if not apart:
                break
            calls |= apart
        self.events += events
        finished = graph.finished()
        if self.explain:
            self.missed.append(
                (finished[0], near_misses(graph, (*self.idioms, *self.spellings), source))
            )
        return finished

    def _callee(self, reference: Reference, numbers: frozenset[int]) -> Definition:
        definition = self.definitions[reference]
        if self.depth == _DEEPEST:
            # It has been rewritten for no numbers, as it is declared above its callers.
            return self.done[reference, frozenset()]
        self.depth += 1
        try:
            return self.rewritten(definition, numbers)
        finally:
            self.depth -= 1
