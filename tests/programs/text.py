"""Types, attributes and uses of operations as Phase 0 text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from p0trans.ops.table import Attributes, AttributeValue, Notation, Operation
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType, TupleType, Type


def bare(atom: str) -> str:
    """An atom without the parentheses that a whole expression does not need."""
    if not atom.startswith("("):
        return atom
    depth = 0
    for place, sign in enumerate(atom):
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 1 and not _in_brackets(atom[:place]):
            return atom
        if depth == 0 and place < len(atom) - 1:
            return atom
    return atom[1:-1]


def _in_brackets(text: str) -> bool:
    return text.count("[") > text.count("]")


def depth(type_: Type) -> int:
    if isinstance(type_, TensorType):
        return 0
    return 1 + max(map(depth, type_.items))


def written_use(operation: Operation, attributes: Attributes, operands: Sequence[str]) -> str:
    """The use of an operation as Phase 0 text, its operands being atoms."""
    symbol = operation.symbol or ""
    if operation.notation is Notation.INFIX:
        return f" {symbol} ".join(operands)
    if operation.notation is Notation.PREFIX:
        return f"{symbol} {operands[0]}" if symbol.isalpha() else f"{symbol}{operands[0]}"
    written = [
        (
            _value_text(attributes[spec.name])
            if spec.positional
            else f"{spec.name}={_value_text(attributes[spec.name])}"
        )
        for spec in operation.attributes
        if spec.name in attributes and attributes[spec.name] != spec.default
    ]
    words = [operation.name + (f"[{', '.join(written)}]" if written else ""), *operands]
    if operation.takes_shape:
        words.append(_value_text(attributes["shape"]))
    return " ".join(words)


def _value_text(value: AttributeValue) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def dims_in(value: Type | AttributeValue) -> list[Dim]:
    match value:
        case Dim():
            return [value]
        case TensorType(shape=dims):
            return list(dims)
        case TupleType(items=items):
            return [dim for item in items for dim in dims_in(item)]
        case tuple():
            return [item for item in value if isinstance(item, Dim)]
    return []


def replaced(value: AttributeValue, bound: Mapping[str, Dim]) -> AttributeValue:
    if isinstance(value, Dim):
        return value.substitute(bound)
    if isinstance(value, tuple) and dims_in(value):
        return tuple(dim.substitute(bound) for dim in dims_in(value))
    return value
