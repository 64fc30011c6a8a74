"""The shape variables of a generated definition: their sizes, facts and the dims made of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from p0trans.dtypes import DTYPES, DType
from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.shapes.facts import Facts
from p0trans.types import Shape, TensorType, TupleType, Type

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

_SHAPE_NAMES = ("B", "S", "D", "K", "N", "self", "lambda_", "None")
_LARGEST_SIZE = 12


class Shapes:
    """Sizes are drawn first, and facts so that they are true of them.

    `universe` are dims that are provably at least 1.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.sizes: dict[str, int] = {}
        self.where: list[Constraint] = []
        self.assume: list[Constraint] = []
        self.universe: list[Dim] = []
        self._choose_shapes()
        self.facts = Facts(tuple(self.sizes), (*self.where, *self.assume))

    def pick(self, choices: Sequence[T]) -> T:
        picked: T = self.draw(st.sampled_from(choices))
        return picked

    def chance(self, percent: int) -> bool:
        return bool(self.draw(st.integers(0, 99)) >= 100 - percent)

    # --- shapes -------------------------------------------------------------------------

    def _choose_shapes(self) -> None:
        names = list(_SHAPE_NAMES[: self.draw(st.integers(1, 4))])
        if self.chance(15):
            names.append("lambda")
        self.sizes = {name: self.draw(st.integers(1, 4)) for name in names}
        self.universe = [variable(name) for name in names] + [constant(1), constant(2)]
        for _ in range(self.draw(st.integers(0, 3))):
            self._choose_fact(self.pick(names))
        first = variable(names[0])
        extra = (constant(2) * first, first + constant(1), first + variable(names[-1]))
        self.universe += [dim for dim in extra if self.chance(30)]

    def _choose_fact(self, name: str) -> None:
        """One more fact that is true at the sizes, and the dims that it makes possible."""
        dim, size = variable(name), self.sizes[name]
        other = self.pick(list(self.sizes))
        kinds = [lambda: self._equation(f"{name}2", constant(2) * dim)]
        kinds.append(lambda: self._equation(f"{name}_{other}", dim * variable(other)))
        kinds.append(lambda: self._equation(f"{name}p", dim + variable(other)))
        if size >= 2:
            kinds.append(lambda: self._fact(Constraint(dim, ">=", constant(2)), dim - constant(1)))
        if size % 2 == 0:
            half = Constraint(dim % 2, "==", constant(0))
            kinds.append(lambda: self._fact(half, dim // 2))
        if size < self.sizes[other]:
            less = Constraint(dim, "<", variable(other))
            kinds.append(lambda: self._fact(less, variable(other) - dim))
        self.pick(kinds)()

    def _equation(self, name: str, dim: Dim) -> None:
        if name in self.sizes:
            return
        size = dim.evaluate(self.sizes)
        if size > _LARGEST_SIZE:
            return
        self.sizes[name] = size
        self._fact(Constraint(variable(name), "==", dim), variable(name))
        if dim.is_linear:
            self.universe.append(dim)

    def _fact(self, constraint: Constraint, dim: Dim) -> None:
        linear = constraint.left.is_linear and constraint.right.is_linear
        clause = self.where if linear and self.chance(70) else self.assume
        if constraint not in (*self.where, *self.assume):
            clause.append(constraint)
            self.universe.append(dim)

    def shape(self) -> Shape:
        return tuple(self.pick(self.universe) for _ in range(self.pick((1, 2, 3, 2, 0))))

    def spelled(self, type_: Type) -> str:
        """The type as text, some dims as others that are equal under the facts."""
        if isinstance(type_, TupleType):
            return f"({', '.join(map(self.spelled, type_.items))})"
        dims = [
            self.pick(
                [dim, *(d for d in self.universe if d is not dim and self.facts.equal(d, dim))]
            )
            for dim in type_.shape
        ]
        return str(TensorType(type_.dtype, tuple(dims)))

    def dtype(self) -> DType:
        """F32 as often as all others."""
        return self.pick((DTYPES["F32"], *DTYPES.values())) if self.chance(60) else DTYPES["F32"]
