"""What the rows of a ledger are called, and how they are written on each other's names."""

from __future__ import annotations

from collections.abc import Mapping

from p0trans.ir.printer import node_text, value_names
from p0trans.ir.program import Alias, Apply, Call, Definition, Node, Pack, Project, Value
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Notation

RESULT = "result"


def row_names(definition: Definition) -> Mapping[Value, str]:
    """A name for each value: its own, or one after what it starts from and what is done to it.

    `x * x` that no `let` names is `x_product`. A literal is called by its number, and the value at
    the end `result`.
    """
    names = dict(value_names(definition))
    stems = {value: parameter.name for value, parameter in enumerate(definition.parameters)}
    taken = {*stems.values()}
    taken |= {names[value] for value, step in definition.numbered_steps() if step.binding}
    counts: dict[str, int] = {}
    for value, step in definition.numbered_steps():
        node = step.node
        first = node.definition.name if isinstance(node, Call) else ""
        first = next(filter(None, (first, *(stems[operand] for operand in node.operands))), "")
        noun = _noun(node)
        stems[value] = step.binding or first or noun
        if step.binding is not None:
            continue
        if _is_literal(node):
            names[value] = node_text(node, names).rsplit(" ", 1)[-1]
            continue
        base = "_".join(filter(None, (first or step.owner, noun)))
        base = RESULT if value == definition.result else base
        while True:
            count = counts[base] = counts.get(base, 0) + 1
            names[value] = base if count == 1 else f"{base}_{count}"
            if names[value] not in taken:
                break
        taken.add(names[value])
    return names


def operation_word(node: Node) -> str:
    """The name of the table's operation, or what else the node is."""
    match node:
        case Apply():
            return node.operation
        case Call():
            return "call"
        case Pack():
            return "tuple"
        case Project():
            return "item"
        case _:
            assert isinstance(node, Alias), "only a checked program has a ledger"
            return "alias"


def expression(node: Node, names: Mapping[Value, str]) -> str:
    """A node as the source would write it on these names."""
    operands = [names[value] for value in node.operands]
    if isinstance(node, Call):
        dims = ", ".join(map(str, node.shape_arguments))
        return " ".join((node.definition.name + (f"[{dims}]" if dims else ""), *operands))
    if isinstance(node, Apply):
        operation = OPERATIONS[node.operation]
        symbol = operation.symbol or ""
        if operation.notation is Notation.INFIX:
            return f"{operands[0]} {symbol} {operands[1]}"
        if operation.notation is Notation.PREFIX:
            return f"{symbol}{' ' if symbol.isalpha() else ''}{operands[0]}"
    return node_text(node, names)


def _noun(node: Node) -> str:
    if isinstance(node, Apply):
        return OPERATIONS[node.operation].noun
    return "out" if isinstance(node, Call) else operation_word(node)


def _is_literal(node: Node) -> bool:
    return isinstance(node, Apply) and OPERATIONS[node.operation].notation is Notation.LITERAL
