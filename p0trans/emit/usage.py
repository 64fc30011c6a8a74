"""Where the values of a definition are used once its steps are laid out as lines."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from p0trans.ir.program import Alias, Definition, Number, Pack, Project, Value


@dataclass(frozen=True, slots=True)
class Usage:
    """What a layout needs to know about each value.

    `uses` counts the expressions that a value stands in (0: it is dead). `last_use` is the last
    line that may show it, as the value that the line defines. `inline` are the values that have
    no line of their own and are folded into the one that uses them. `groups` holds, for the
    first of several named items that take one tuple apart, all of them in order.
    """

    uses: Mapping[Value, int]
    last_use: Mapping[Value, Value]
    groups: Mapping[Value, tuple[Value, ...]]
    grouped: Mapping[Value, Value]
    inline: Set[Value]


def analyse_usage(
    definition: Definition,
    operands: Mapping[Value, tuple[Value, ...]],
    separate: Set[Value] = frozenset(),
    foldable: Set[Value] = frozenset(),
) -> Usage:
    """Usage under `operands`, which gives what the text of each step refers to; those in
    `separate` have a line of their own in any case. What is used once is inline when it has no
    name or is in `foldable`."""
    groups = _groups(definition)
    grouped = {member: first for first, members in groups.items() for member in members}
    end = len(definition.parameters) + len(definition.steps)
    uses = {definition.result: 1}
    last_use = {definition.result: end}
    inline: set[Value] = set()
    counted: set[Value] = set()
    # Every user of a value comes after it, so backwards each value's uses are complete when it
    # is reached.
    for value, step in reversed(tuple(definition.numbered_steps())):
        if value not in uses:
            continue
        first = grouped.get(value, value)
        line = first
        nameless = step.binding is None or value in foldable
        if nameless and uses[value] == 1 and value not in separate:
            inline.add(value)
            line = last_use[value]
        if first in counted:
            continue
        counted.add(first)
        for operand in operands[value]:
            uses[operand] = uses.get(operand, 0) + 1
            last_use[operand] = max(last_use.get(operand, line), line)
    return Usage(uses, last_use, groups, grouped, inline)


def _groups(definition: Definition) -> Mapping[Value, tuple[Value, ...]]:
    """Runs of named items of one tuple, each index at most once."""
    groups: dict[Value, tuple[Value, ...]] = {}
    run: list[Value] = []
    taken: set[int] = set()
    source: Value | None = None
    for value, step in definition.numbered_steps():
        node = step.node
        if not isinstance(node, Project) or step.binding is None:
            source = None
            continue
        if node.operand != source or node.index in taken:
            source, run, taken = node.operand, [], set()
        run.append(value)
        taken.add(node.index)
        groups[run[0]] = tuple(run)
    return groups


def light_enough(
    definition: Definition,
    operands: Mapping[Value, tuple[Value, ...]],
    named: Set[Value],
    most: int,
) -> frozenset[Value]:
    """Those of the values `named` that can be folded into the expressions that use them so that
    none of these has more than `most` operations; of several, the lightest are folded."""
    uses = analyse_usage(definition, operands).uses
    # Of each value that is part of a larger expression: its own operations, and the named values
    # that are to be folded into it with theirs.
    own: dict[Value, int] = {}
    parts: dict[Value, list[tuple[int, Value]]] = {}
    folded: set[Value] = set()
    for value, step in definition.numbered_steps():
        count = 0 if isinstance(step.node, Pack | Project | Alias | Number) else 1
        taken: list[tuple[int, Value]] = []
        for operand in operands[value]:
            if operand not in own or uses.get(operand) != 1:
                continue
            if operand in named:
                taken.append((own[operand], operand))
            elif definition.steps[operand - len(definition.parameters)].binding is None:
                count += own[operand]
                taken += parts[operand]
        is_whole = step.binding is not None or uses.get(value) != 1 or value == definition.result
        if is_whole:
            for weight, part in sorted(taken):
                if count + weight <= most:
                    count += weight
                    folded.add(part)
            taken = []
        own[value], parts[value] = count, taken
    return frozenset(folded)
