"""The statements of an emitted function, as the templates print them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from p0trans.emit.notation import constraint_prose, negated_code, numbers_text
from p0trans.shapes.dim import Constraint

LINE_LENGTH = 88
"""Black's own, which the emitted files keep to."""


@dataclass(frozen=True, slots=True)
class Line:
    """One statement, with the comment that stands above it or beside it.

    With `raises`, `code` is the head of an `if` whose body raises that.
    """

    code: str
    above: str = ""
    beside: str = ""
    raises: str = ""


def commented(code: str, comment: str, indent: int) -> Line:
    """`code` with its comment beside it; above it where only the comment makes it too long.

    Black breaks code that is too long in any case, and leaves the comment at its end.
    """
    width = indent + len(code)
    if width <= LINE_LENGTH < width + len("  # ") + len(comment):
        return Line(code, above=comment)
    return Line(code, beside=comment)


def constraint_guard(constraint: Constraint, names: Mapping[str, str]) -> Line:
    """An `if` that raises ValueError unless `constraint` holds.

    `names` gives the Python names of shape variables, in the order in which a message lists them.
    """
    used = constraint.variables()
    variables = tuple(name for name in names if name in used)
    text = constraint_prose(constraint, names)
    message = f'f"expected {text}, got {numbers_text(variables, names)}"'
    return Line(f"if {negated_code(constraint, names)}:", raises=f"ValueError({message})")


def size_guard(variables: tuple[str, ...], names: Mapping[str, str]) -> Line:
    """An `if` that raises ValueError unless every variable is at least 1."""
    arguments = ", ".join(names[name] for name in variables)
    smallest = arguments if len(variables) == 1 else f"min({arguments})"
    wanted = ", ".join(f"{names[name]} >= 1" for name in variables)
    message = f'f"expected {wanted}, got {numbers_text(variables, names)}"'
    return Line(f"if {smallest} < 1:", raises=f"ValueError({message})")
