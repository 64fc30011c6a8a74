"""One rejection of a typing rule, with what its report needs to know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from p0trans.checker.context import Context
from p0trans.checker.operand import Operand
from p0trans.ops.table import Attributes, Notation, Operation, Rejection
from p0trans.shapes.dim import Dim
from p0trans.syntax import tree
from p0trans.types import TensorType, Type

if TYPE_CHECKING:
    from p0trans.checker.body import Argument, Body


class Case:
    """One rejection, the expression that it is about, and what is known of its parts."""

    def __init__(
        self,
        body: Body,
        operation: Operation,
        expr: tree.Expr,
        parts: Sequence[Argument],
        types: tuple[TensorType, ...],
        attributes: Attributes,
        rejection: Rejection,
        hint: Type | None,
    ) -> None:
        self.body = body
        self.context: Context = body.context
        self.operation = operation
        self.expr = expr
        self.parts = parts
        self.types = types
        self.attributes = attributes
        self.rejection = rejection
        self.hint = hint if isinstance(hint, TensorType) else None
        self.blamed = rejection.operand or 0
        self.symbol = operation.symbol or operation.name

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
    return str(dim) if len(dim.terms) == 1 else f"({dim})"
