"""The statements of an emitted function, as the templates print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from p0trans.emit.notation import constraint_prose, negated_code, numbers_text
from p0trans.ir.program import Value
from p0trans.shapes.dim import Constraint
from p0trans.source import Span

LINE_LENGTH = 88
"""Black's own, which the emitted files keep to."""
_MESSAGE_WIDTH = LINE_LENGTH - 16


class Trace(NamedTuple):
    """What a statement was made of: values of its definition, shape variables and facts; or the
    items of a module's declaration, by their spans."""

    values: tuple[Value, ...] = ()
    sizes: tuple[str, ...] = ()
    facts: tuple[Constraint, ...] = ()
    spans: tuple[Span, ...] = ()


UNTRACED = Trace()


@dataclass(frozen=True, slots=True)
class Line:
    """One statement, with the comments that stand above it and the one beside it.

    With `raises`, `code` is the head of an `if` whose body raises that.
    """

    code: str
    above: tuple[str, ...] = ()
    beside: str = ""
    raises: str = ""
    trace: Trace = UNTRACED


def commented(
    code: str, comment: str, indent: int, above: tuple[str, ...] = (), trace: Trace = UNTRACED
) -> Line:
    """`code` under the comments `above`, with its own comment beside it; above it, too, behind the
    last one if it fits there, where only the comment makes it too long.

    Black breaks code that is too long in any case, and leaves the comment at its end; but for the
    comment it would not break a second pair of brackets there.
    """
    width = indent + len(code)
    fits = width + len("  # ") + len(comment) <= LINE_LENGTH
    if fits or (width > LINE_LENGTH and _bracketed_parts(code) == 1):
        return Line(code, above=above, beside=comment, trace=trace)
    joined = f"{above[-1]} -> {comment}" if above else comment
    if above and indent + len("# ") + len(joined) <= LINE_LENGTH:
        return Line(code, above=(*above[:-1], joined), trace=trace)
    return Line(code, above=(*above, comment), trace=trace)


def _bracketed_parts(code: str) -> int:
    """How many pairs of brackets are in no other ones: 2 in `f(x).g(y)`."""
    depth = count = 0
    for character in code:
        if character in "([{":
            count += depth == 0
            depth += 1
        elif character in ")]}":
            depth -= 1
    return count


def constraint_guard(
    constraint: Constraint, names: Mapping[str, str], trace: Trace | None = None
) -> Line:
    """An `if` that raises ValueError unless `constraint`, a fact of the definition unless `trace`
    says otherwise, holds.

    `names` gives the Python names of shape variables, in the order in which a message lists them.
    """
    used = constraint.variables()
    variables = tuple(name for name in names if name in used)
    text = constraint_prose(constraint, names)
    return Line(
        f"if {negated_code(constraint, names)}:",
        raises=_value_error(text, numbers_text(variables, names)),
        trace=Trace(facts=(constraint,)) if trace is None else trace,
    )


def size_guard(variables: tuple[str, ...], names: Mapping[str, str]) -> Line:
    """An `if` that raises ValueError unless every variable is at least 1."""
    arguments = ", ".join(names[name] for name in variables)
    smallest = arguments if len(variables) == 1 else f"min({arguments})"
    wanted = ", ".join(f"{names[name]} >= 1" for name in variables)
    error = _value_error(wanted, numbers_text(variables, names))
    return Line(f"if {smallest} < 1:", raises=error, trace=Trace(sizes=variables))


def _value_error(wanted: str, got: str) -> str:
    """An error whose message black can break, which leaves every string as it is."""
    whole = f'f"expected {wanted}, got {got}"'
    if len(whole) <= _MESSAGE_WIDTH:
        return f"ValueError({whole})"
    return f'ValueError("expected {wanted}, " f"got {got}")'
