"""What the rewriting did to a program, and what it nearly did, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from p0trans.driver import Built
from p0trans.emit.stretches import stretches
from p0trans.ir.program import Call, Program, Reference
from p0trans.rewrite import Event
from p0trans.rewrite.rule import silent
from p0trans.rewrite.rules import RULES
from p0trans.source import Span


def render(built: Built) -> str:
    """A line for each rewrite that the emitted files show, then one for each that nearly was one,
    with the reason; each once, those of the files that were asked for first, in the order of the
    source.

        norm.p0:6-9  rms_norm  x * rsqrt (mean (square x) + eps) = rms_norm x
    """
    program = built.program
    units = {unit.source: unit.name for unit in program.units}
    roots = {program.unit(name).source for name in program.roots}
    emitted = [stretch for file in built.files for stretch in stretches(file)]
    functions = {each.definition.reference for each in emitted if each.module is None}
    used = _used(program, (each.definition.reference for each in emitted))
    shown = [e for e in built.rewrites if Reference(units[e.source], e.definition) in used]
    fired = [event for event in shown if event.fired]
    covered = {(e.source, span) for e in fired if e.rule in _idioms() for span in e.spans}
    missed = [
        event
        for event in shown
        if not event.fired
        # What became one idiom in the body of a class is near to others as a function.
        and (
            Reference(units[event.source], event.definition) in functions
            or covered.isdisjoint((event.source, span) for span in event.spans)
        )
    ]

    def place(event: Event) -> tuple[bool, str, tuple[Span, ...]]:
        return event.source not in roots, event.source.name, event.spans

    fired.sort(key=place)
    missed.sort(key=place)
    lines = _table([(_place(event), event.rule, event.identity) for event in fired])
    text = "".join(f"{line}\n" for line in lines) or "nothing was rewritten\n"
    if missed:
        text += "\nnot rewritten:\n"
        rows = [(_place(event), event.rule, event.why) for event in missed]
        text += "".join(f"{line}\n" for line in _table(rows))
    return text


def _used(program: Program, references: Iterable[Reference]) -> set[Reference]:
    """The definitions called so, and all that they call."""
    used: set[Reference] = set()
    pending = [*references]
    while pending:
        reference = pending.pop()
        if reference not in used:
            used.add(reference)
            steps = program.definition(reference).steps
            pending += [each.node.definition for each in steps if isinstance(each.node, Call)]
    return used


@cache
def _idioms() -> frozenset[str]:
    """The rules whose result has a name of its own."""
    return frozenset(rule.name for rule in RULES if rule.note is not silent)


def _table(rows: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    rows = tuple(dict.fromkeys(rows))
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    for place, rule, words in rows:
        yield f"{place:{widths[0]}}  {rule:{widths[1]}}  {words}"


def _place(event: Event) -> str:
    first, _ = event.source.position(min(span.start for span in event.spans))
    last, _ = event.source.position(max(span.end for span in event.spans))
    return f"{event.source.name}:{first}" + (f"-{last}" if last > first else "")
