"""What one element of a mask is, as arithmetic on its position: enough to prove that it is true.

A value is asked for its element at given coordinates, and asks its operands in turn, so that
`iota` answers with a coordinate and `cols <= rows` is an inequality between two of them.
"""

from __future__ import annotations

from typing import TypeAlias

from p0trans.checker.warnings.steps import axis_of
from p0trans.ir.program import Alias, Apply, Definition, Value
from p0trans.ir.regrouping import Run, runs
from p0trans.shapes.dim import Constraint, Dim, constant
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType

Coordinates: TypeAlias = "tuple[Dim | None, ...]"

# Integers that hold every index, so that nothing wraps around.
_WIDE = ("I32", "I64")
_RELATIONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
# A mask is a few steps; the walk back ends here and what lies beyond counts as unknown.
_DEEPEST = 40
_MOST_ELEMENTS = 500
_LARGEST = 40


class Elements:
    """The elements of a definition's values under `facts`, which bound the coordinates.

    A coordinate is a Dim in those of the asker; None is one that is not known.
    """

    def __init__(self, definition: Definition, facts: Facts) -> None:
        self._definition = definition
        self._facts = facts
        self._answers: dict[tuple[Value, Coordinates, bool], bool] = {}
        self._numbers: dict[tuple[Value, Coordinates], Dim | None] = {}

    def surely(self, value: Value, at: Coordinates, truth: bool, depth: int = 0) -> bool:
        """Whether the element of a Bool value is provably `truth`."""
        key = (value, at, truth)
        if key not in self._answers:
            if depth > _DEEPEST or len(self._answers) > _MOST_ELEMENTS:
                return False
            self._answers[key] = False
            self._answers[key] = self._decide(value, at, truth, depth + 1)
        return self._answers[key]

    def _decide(self, value: Value, at: Coordinates, truth: bool, depth: int) -> bool:
        step = self._definition.step_of(value)
        if step is None:
            return False
        node = step.node
        if isinstance(node, Alias):
            return self.surely(node.operand, at, truth, depth)
        if not isinstance(node, Apply):
            return False
        relation = _RELATIONS.get(node.operation)
        if relation is not None:
            left, right = (self._number(operand, at, depth) for operand in node.operands)
            if left is None or right is None:
                return False
            wanted = relation if truth else _OPPOSITE[relation]
            return self._facts.holds(Constraint(left, wanted, right))
        match node.operation:
            case "const":
                return node.attributes["value"] is truth
            case "not":
                return self.surely(node.operands[0], at, not truth, depth)
            case "and" | "or":
                needed = all if truth == (node.operation == "and") else any
                return needed(self.surely(v, at, truth, depth) for v in node.operands)
        moved = self._operand_coordinates(value, node, at)
        return moved is not None and self.surely(node.operands[0], moved, truth, depth)

    def _number(self, value: Value, at: Coordinates, depth: int) -> Dim | None:
        """The element of an integer value as an affine form; None when it is not known."""
        key = (value, at)
        if key not in self._numbers:
            if depth > _DEEPEST or len(self._numbers) > _MOST_ELEMENTS:
                return None
            self._numbers[key] = self._computed(value, at, depth)
        return self._numbers[key]

    def _computed(self, value: Value, at: Coordinates, depth: int) -> Dim | None:
        step = self._definition.step_of(value)
        if step is None or not isinstance(step.type, TensorType):
            return None
        node = step.node
        if isinstance(node, Alias):
            return self._number(node.operand, at, depth + 1)
        if not isinstance(node, Apply) or step.type.dtype.name not in _WIDE:
            return None
        match node.operation:
            case "const":
                number = node.attributes["value"]
                return constant(number) if isinstance(number, int) else None
            case "iota":
                return at[axis_of(node)]
            case "add" | "sub" | "mul" | "floordiv" | "mod":
                left, right = (self._number(v, at, depth + 1) for v in node.operands)
                return None if left is None or right is None else _arithmetic(node, left, right)
            case "neg":
                operand = self._number(node.operands[0], at, depth + 1)
                return None if operand is None else -operand
            case "cast":
                return self._number(node.operands[0], at, depth + 1)
        moved = self._operand_coordinates(value, node, at)
        return None if moved is None else self._number(node.operands[0], moved, depth + 1)

    def _operand_coordinates(
        self, value: Value, node: Apply, at: Coordinates
    ) -> Coordinates | None:
        """Where in its operand an operation that only moves elements finds its element."""
        if node.operation not in ("broadcast", "transpose", "reshape"):
            return None
        return moved_back(self._definition, self._facts, value, node, at)


def moved_back(
    definition: Definition, facts: Facts, value: Value, node: Apply, at: Coordinates
) -> Coordinates | None:
    """The coordinates in the operand of a `broadcast`, `transpose` or `reshape`.

    An axis that a reshape merges or splits has a coordinate that is not known.
    """
    found = definition.type_of(node.operands[0])
    result = definition.type_of(value)
    if not isinstance(found, TensorType) or not isinstance(result, TensorType):
        return None
    zero = constant(0)
    match node.operation:
        case "broadcast":
            new = result.rank - found.rank
            return tuple(
                zero if dim.as_integer() == 1 else at[axis + new]
                for axis, dim in enumerate(found.shape)
            )
        case "transpose":
            perm = node.attributes["perm"]
            assert isinstance(perm, tuple)
            places = {axis: place for place, axis in enumerate(perm)}
            return tuple(at[places[axis]] for axis in range(found.rank))
        case "reshape":
            moved: list[Dim | None] = [
                zero if dim.as_integer() == 1 else None for dim in found.shape
            ]
            for run in runs(facts, found.shape, result.shape) or ():
                if _single(run):
                    moved[run.start] = at[run.target_start]
            return tuple(moved)
    return None


def _single(run: Run) -> bool:
    return run.end - run.start == 1 and run.target_end - run.target_start == 1


def _arithmetic(node: Apply, left: Dim, right: Dim) -> Dim | None:
    """The result of integer arithmetic where it is affine, and so within what can be decided."""
    result: Dim | None = None
    divisor = right.as_integer()
    match node.operation:
        case "add":
            result = left + right
        case "sub":
            result = left - right
        case "mul" if divisor is not None or left.as_integer() is not None:
            result = left * right
        case "floordiv" if divisor is not None and divisor > 0:
            result = left // divisor
        case "mod" if divisor is not None and divisor > 0:
            result = left % divisor
    return result if result is not None and result.size <= _LARGEST else None
