"""An expression at fault, as the reports of the checker see it."""

from __future__ import annotations

from typing import NamedTuple

from p0trans.diagnostics.model import Label
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import TensorType


class Reduced(NamedTuple):
    """A value that a reduction made: the axis it dropped and the operation that keeps the axis.

    `written` is the operation with its attributes, `head` its name alone.
    """

    axis: int
    kept: TensorType
    head: Span
    written: Span
    keeper: str


class Operand(NamedTuple):
    """An expression at fault and what is known of it.

    `argument` says that it is an argument of an application; `labels` tell where its type
    and the type that was needed come from.
    """

    expr: tree.Expr
    argument: bool
    labels: tuple[Label, ...] = ()
    reduced: Reduced | None = None
