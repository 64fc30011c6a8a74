"""One rejection of a typing rule, with what its report needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from p0trans.checker.context import Context
from p0trans.checker.operand import Operand
from p0trans.ops.table import Attributes, Notation, Operation, Rejection
from p0trans.shapes.dim import Dim
from p0trans.syntax import tree
from p0trans.types import TensorType, Type

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body


@dataclass(frozen=True, slots=True)
class Case:
    """One rejection, the expression that it is about, and what is known of its parts.

    `around` is the type that would best come out, where the program says so.
    """

    body: Body
    operation: Operation
    expr: tree.Expr
    parts: Sequence[Argument]
    types: tuple[TensorType, ...]
    attributes: Attributes
    rejection: Rejection
    around: Type | None

    @property
    def context(self) -> Context:
        return self.body.context

    @property
    def hint(self) -> TensorType | None:
        return self.around if isinstance(self.around, TensorType) else None

    @property
    def blamed(self) -> int:
        """The operand that the typing rule blames."""
        return self.rejection.operand or 0

    @property
    def symbol(self) -> str:
        """How the operation is written."""
        return self.operation.symbol or self.operation.name

    def operand(self, index: int) -> Operand:
        in_application = self.operation.notation is Notation.CALL
        operand = self.body.operand(self.parts[index], in_application=in_application)
        others = tuple(
            self.context.label(part.expr.span, f"this is {type_}")
            for k, (part, type_) in enumerate(zip(self.parts, self.types, strict=True))
            if k != index
        )
        return Operand(operand.expr, in_application, (*others, *operand.labels), operand.reduced)

    def accepts(self, index: int, type_: TensorType) -> bool:
        """Whether the operation would be well typed with another type for one operand."""
        types = (*self.types[:index], type_, *self.types[index + 1 :])
        outcome = self.operation.infer(types, self.attributes, self.body.facts)
        return not isinstance(outcome, Rejection)

    def result_with(self, index: int, type_: TensorType) -> TensorType | None:
        types = (*self.types[:index], type_, *self.types[index + 1 :])
        outcome = self.operation.infer(types, self.attributes, self.body.facts)
        return None if isinstance(outcome, Rejection) else outcome


def fact_type(case: Case, name: str) -> TensorType:
    type_ = case.rejection.facts[name]
    assert isinstance(type_, TensorType)
    return type_


def factor_text(dim: Dim) -> str:
    """A dim as a factor of a written product."""
    return str(dim) if len(dim.terms) == 1 and not dim.has_division else f"({dim})"
