"""What a typing rule asked on the way to its result, and why each answer was yes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from p0trans.checker.case import factor_text
from p0trans.dtypes import DTYPES, DType
from p0trans.ops.table import AttributeKind, Attributes, Operation, Rejection, shape_attribute
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, product
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType

_CLASSES = ("float", "integer", "numeric")


@dataclass(frozen=True, slots=True)
class Premise:
    """One thing that was proved and the reason, as text."""

    statement: str
    reason: str


class Recorder:
    """Facts that note each question with a positive answer, in the order of asking.

    `where` are those facts of `facts` that are preconditions; the others are assumed.
    """

    def __init__(self, facts: Facts, where: Sequence[Constraint]) -> None:
        self._facts = facts
        self._where = frozenset(where)
        self.premises: list[Premise] = []

    def equal(self, left: Dim, right: Dim) -> bool:
        return self._record(Constraint(left, "==", right))

    def holds(self, constraint: Constraint) -> bool:
        return self._record(constraint)

    def equal_volume(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        proved = self._facts.equal_volume(left, right)
        if proved:
            statement = f"{_product_text(left)} == {_product_text(right)}"
            self.premises.append(Premise(statement, self._volume_reason(left, right)))
        return proved

    def reason(self, constraint: Constraint) -> str:
        """Why a constraint that holds does."""
        if not constraint.variables() and constraint.relation != "==":
            return "by arithmetic"
        if constraint.left is constraint.right:
            return "the same on both sides"
        used = self._facts.used_facts(constraint)
        if used:
            return "by " + " and ".join(
                f"`{'where' if fact in self._where else 'assume'} {fact}`" for fact in used
            )
        if constraint.relation == "==":
            return "by arithmetic"
        return "since every shape variable is at least 1"

    def _record(self, constraint: Constraint) -> bool:
        proved = self._facts.holds(constraint)
        if proved:
            self.premises.append(Premise(str(constraint), self.reason(constraint)))
        return proved

    def _volume_reason(self, left: Sequence[Dim], right: Sequence[Dim]) -> str:
        if Counter(left) == Counter(right):
            return "the same factors on both sides"
        try:
            constraint = Constraint(product(left), "==", product(right))
        except DimLimitError:
            return "once the factors that both sides have are cancelled"
        if constraint.left is constraint.right:
            return "by multiplying out"
        return self.reason(constraint)


def grouped(premises: Iterable[Premise]) -> list[Premise]:
    """Each premise once; neighbours with one reason in one line."""
    result: list[Premise] = []
    for premise in dict.fromkeys(premises):
        if result and result[-1].reason == premise.reason:
            joined = f"{result[-1].statement}, {premise.statement}"
            result[-1] = Premise(joined, premise.reason)
        else:
            result.append(premise)
    return result


def positive(recorder: Recorder, dims: Iterable[Dim]) -> None:
    """Record that each dim that is not plainly at least 1 is so."""
    for dim in dims:
        if dim.as_variable() is None and dim.as_integer() is None:
            recorder.holds(Constraint(dim, ">=", constant(1)))


def axis_premises(
    operation: Operation, types: Sequence[TensorType], attributes: Attributes
) -> list[str]:
    """That each literal axis is one of those that there are."""
    rank = types[0].rank if types else None
    if rank is None and operation.takes_shape:
        rank = len(shape_attribute(attributes))
    found: list[str] = []
    for spec in operation.attributes:
        value = attributes.get(spec.name)
        if spec.kind is AttributeKind.AXIS:
            found.append(f"{spec.name}={value} is a literal, 0 <= {value} < {rank}, the rank")
        elif spec.kind is AttributeKind.PERMUTATION and isinstance(value, tuple):
            axes = ", ".join(map(str, value))
            found.append(f"{spec.name}=[{axes}] has each of the {rank} axes once")
    return found


def dtype_premises(
    operation: Operation, types: tuple[TensorType, ...], attributes: Attributes, facts: Facts
) -> list[str]:
    """What the rule demands of the operands' dtypes, found by trying it with every other dtype.

    The typing rule is a function: what it accepts is the only statement of what it demands.
    """

    def accepted(indices: Sequence[int]) -> list[DType]:
        """The dtypes that these operands may have, all of them the same one."""
        return [
            dtype
            for dtype in DTYPES.values()
            if not isinstance(
                operation.infer(_with_dtype(types, indices, dtype), attributes, facts), Rejection
            )
        ]

    alone = {index: accepted([index]) for index in range(len(types))}
    found: list[str] = []
    tied: dict[DType, list[int]] = {}
    for index, type_ in enumerate(types):
        if alone[index] == [type_.dtype]:
            tied.setdefault(type_.dtype, []).append(index)
    for dtype, indices in tied.items():
        verb = "is" if len(indices) == 1 else "are all" if len(indices) > 2 else "are both"
        names = " and ".join(operand_name(operation, index) for index in indices)
        found.append(f"{names} {verb} {dtype}{_choice(accepted(indices))}")
    for index, type_ in enumerate(types):
        if alone[index] != [type_.dtype] and len(alone[index]) < len(DTYPES):
            name = operand_name(operation, index)
            found.append(f"{name} is {type_.dtype}{_choice(alone[index])}")
    return found


def operand_name(operation: Operation, index: int) -> str:
    """The name that the operation's form gives an operand; a number for those of `…`."""
    names = operation.operands
    return names[index] if index < len(names) else f"operand {index + 1}"


def _with_dtype(
    types: tuple[TensorType, ...], indices: Sequence[int], dtype: DType
) -> tuple[TensorType, ...]:
    return tuple(
        TensorType(dtype, type_.shape) if index in indices else type_
        for index, type_ in enumerate(types)
    )


def _choice(dtypes: Sequence[DType]) -> str:
    """`, a float dtype`: the class that the accepted dtypes are; nothing where any will do."""
    if len(dtypes) in (1, len(DTYPES)):
        return ""
    for word in _CLASSES:
        if dtypes == [dtype for dtype in DTYPES.values() if getattr(dtype, f"is_{word}")]:
            return f", {'an' if word == 'integer' else 'a'} {word} dtype"
    return f", one of {' '.join(map(str, dtypes))}"


def _product_text(dims: Sequence[Dim]) -> str:
    factors = [dim for dim in dims if dim.as_integer() != 1]
    if len(factors) == 1:
        return str(factors[0])
    return "*".join(map(factor_text, factors)) or "1"
