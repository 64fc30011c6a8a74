"""Dims: integer polynomials over shape variables, with floor division and modulo by constants.

A dim is kept in one canonical form and interned, so that two dims are the same polynomial
exactly when they are the same object. `2*K/2` is `K`, `(2*K + 1) % 2` is `1`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias
from weakref import WeakValueDictionary


class Division(NamedTuple):
    """`numerator / divisor` (floor) or `numerator % divisor`, as an atom of a polynomial."""

    operator: str
    numerator: Dim
    divisor: int


Atom: TypeAlias = "str | Division"
Monomial: TypeAlias = "tuple[Atom, ...]"  # sorted; an atom stands once per power; () is one
Terms: TypeAlias = "tuple[tuple[Monomial, int], ...]"

_ONE: Monomial = ()
# Far beyond any tensor; they keep hostile dims from exhausting time, memory or the stack.
MAX_SIZE = 4_000
MAX_DEPTH = 50
MAX_COEFFICIENT_BITS = 4_096
_MAX_PRODUCT = 20_000
LARGEST_SIZE = 2**63 - 1
"""The largest size of an axis: sizes are 64-bit in every engine."""
_interned: WeakValueDictionary[Terms, Dim] = WeakValueDictionary()


class DimLimitError(ArithmeticError):
    """A dim that is larger than this module handles."""


def _atom_key(atom: Atom) -> tuple[int, str]:
    return (0, atom) if isinstance(atom, str) else (1, _division_text(atom, str, "/"))


def _monomial_key(monomial: Monomial) -> tuple[int, tuple[tuple[int, str], ...]]:
    return -len(monomial), tuple(map(_atom_key, monomial))


class Dim:
    """One interned polynomial. Build it with `constant`, `variable` and the operators.

    `size` counts the terms and factors of the dim written out, `depth` how deep divisions are
    nested in each other (0 without any). A result beyond the limits raises DimLimitError.
    """

    __slots__ = ("__weakref__", "depth", "size", "terms")
    terms: Terms
    size: int
    depth: int

    @staticmethod
    def of(coefficients: Mapping[Monomial, int]) -> Dim:
        """The dim with these coefficients; zeros may be among them, monomials are sorted."""
        terms = tuple(
            (monomial, coefficients[monomial])
            for monomial in sorted(coefficients, key=_monomial_key)
            if coefficients[monomial]
        )
        dim = _interned.get(terms)
        if dim is None:
            dim = object.__new__(Dim)
            dim.terms = terms
            dim.size, dim.depth = _measure(terms)
            _require_within_limits(dim)
            _interned[terms] = dim
        return dim

    def __add__(self, other: Dim) -> Dim:
        total = dict(self.terms)
        for monomial, coefficient in other.terms:
            total[monomial] = total.get(monomial, 0) + coefficient
        return Dim.of(total)

    def __neg__(self) -> Dim:
        return Dim.of({monomial: -coefficient for monomial, coefficient in self.terms})

    def __sub__(self, other: Dim) -> Dim:
        return self + -other

    def __mul__(self, other: Dim) -> Dim:
        if self.size * other.size > _MAX_PRODUCT:
            raise DimLimitError("a product of dims with too many terms")
        total: dict[Monomial, int] = {}
        for left, a in self.terms:
            for right, b in other.terms:
                monomial = tuple(sorted(left + right, key=_atom_key))
                total[monomial] = total.get(monomial, 0) + a * b
        return Dim.of(total)

    def _divide(self, divisor: int) -> tuple[Dim, Dim]:
        """Quotient and remainder term by term, the remainder's coefficients in [0, divisor)."""
        if divisor <= 0:
            raise ValueError(f"a dim is divided by a positive integer, not by {divisor}")
        return (
            Dim.of({monomial: c // divisor for monomial, c in self.terms}),
            Dim.of({monomial: c % divisor for monomial, c in self.terms}),
        )

    def __floordiv__(self, divisor: int) -> Dim:
        """floor(self / divisor) for a positive integer `divisor`."""
        quotient, rest = self._divide(divisor)
        if rest.as_integer() is not None:
            return quotient
        return quotient + Dim.of({(Division("/", rest, divisor),): 1})

    def __mod__(self, divisor: int) -> Dim:
        """self - divisor * floor(self / divisor), which is in [0, divisor)."""
        _, rest = self._divide(divisor)
        if rest.as_integer() is not None:
            return rest
        return Dim.of({(Division("%", rest, divisor),): 1})

    def __reduce__(self) -> tuple[Callable[[Mapping[Monomial, int]], Dim], tuple[object, ...]]:
        return Dim.of, (dict(self.terms),)

    def __repr__(self) -> str:
        return f"Dim({self})"

    def __str__(self) -> str:
        return self.render()

    def as_integer(self) -> int | None:
        """The number that this dim is, or None when it has a variable."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and self.terms[0][0] == _ONE:
            return self.terms[0][1]
        return None

    def as_variable(self) -> str | None:
        """The name when this dim is one bare shape variable."""
        if len(self.terms) == 1 and self.terms[0][1] == 1:
            monomial = self.terms[0][0]
            if len(monomial) == 1 and isinstance(monomial[0], str):
                return monomial[0]
        return None

    def factors(self) -> tuple[Dim, ...] | None:
        """The factors when this dim is one product of variables and a number, else None."""
        if len(self.terms) != 1 or self.has_division:
            return None
        monomial, coefficient = self.terms[0]
        number = () if coefficient == 1 else (constant(coefficient),)
        return (*number, *(variable(atom) for atom in monomial if isinstance(atom, str)))

    @property
    def degree(self) -> int:
        """The largest number of factors in a term; a division counts as one factor."""
        return len(self.terms[0][0]) if self.terms else 0

    @property
    def is_linear(self) -> bool:
        """Whether this dim is in Presburger arithmetic: no product of variables in it."""
        return all(
            len(monomial) <= 1
            and all(isinstance(atom, str) or atom.numerator.is_linear for atom in monomial)
            for monomial, _ in self.terms
        )

    @property
    def has_division(self) -> bool:
        return any(not isinstance(atom, str) for monomial, _ in self.terms for atom in monomial)

    def variables(self) -> frozenset[str]:
        return frozenset(self._names())

    def _names(self) -> Iterator[str]:
        for monomial, _ in self.terms:
            for atom in monomial:
                if isinstance(atom, str):
                    yield atom
                else:
                    yield from atom.numerator._names()

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number that this dim is under `values`; KeyError when a variable has none."""
        total = 0
        for monomial, coefficient in self.terms:
            product = coefficient
            for atom in monomial:
                product *= values[atom] if isinstance(atom, str) else _evaluate(atom, values)
            total += product
        return total

    def substitute(self, replacements: Mapping[str, Dim]) -> Dim:
        """This dim with variables replaced, all at once."""
        if not any(name in replacements for name in self._names()):
            return self
        total = constant(0)
        for monomial, coefficient in self.terms:
            product = constant(coefficient)
            for atom in monomial:
                product = product * _substitute(atom, replacements)
            total = total + product
        return total

    def render(self, rename: Callable[[str], str] = str, division: str = "/") -> str:
        """As Phase 0 text (`2*K`, `S - 1`); with `division="//"` as a Python expression."""
        if not self.terms:
            return "0"
        # A leading minus sign reads badly: `S - K`, not `-K + S`.
        ordered = sorted(self.terms, key=lambda term: (term[0] == _ONE, term[1] < 0))
        if ordered[0][1] < 0 and ordered[-1][1] > 0:
            ordered = ordered[-1:] + ordered[:-1]
        text = ""
        for monomial, coefficient in ordered:
            sign = "-" if coefficient < 0 else "+"
            body = _term_text(monomial, abs(coefficient), rename, division)
            if text:
                text += f" {sign} {body}"
            elif coefficient > 0:
                text = body
            else:
                # A sign binds tighter than a division, and -(A / 2) is not (-A) / 2.
                text = f"-({body})" if coefficient == -1 and _is_division(monomial) else f"-{body}"
        return text


def _measure(terms: Terms) -> tuple[int, int]:
    """The `size` and the `depth` of a dim with these terms."""
    size, depth = len(terms), 0
    for monomial, _ in terms:
        size += len(monomial)
        for atom in monomial:
            if not isinstance(atom, str):
                size += atom.numerator.size
                depth = max(depth, atom.numerator.depth + 1)
    return size, depth


def _require_within_limits(dim: Dim) -> None:
    if dim.size > MAX_SIZE:
        raise DimLimitError(f"a dim of more than {MAX_SIZE} terms and factors")
    if dim.depth > MAX_DEPTH:
        raise DimLimitError(f"divisions nested more than {MAX_DEPTH} deep in a dim")
    if any(coefficient.bit_length() > MAX_COEFFICIENT_BITS for _, coefficient in dim.terms):
        raise DimLimitError(f"a number of more than {MAX_COEFFICIENT_BITS} bits in a dim")


def _is_division(monomial: Monomial) -> bool:
    return len(monomial) == 1 and not isinstance(monomial[0], str)


def _term_text(
    monomial: Monomial, magnitude: int, rename: Callable[[str], str], division: str
) -> str:
    if monomial == _ONE:
        return str(magnitude)
    alone = magnitude == 1 and len(monomial) == 1
    parts = [] if magnitude == 1 else [str(magnitude)]
    for atom in monomial:
        if isinstance(atom, str):
            parts.append(rename(atom))
        else:
            text = _division_text(atom, rename, division)
            parts.append(text if alone else f"({text})")
    return ("*" if division == "/" else " * ").join(parts)


def _division_text(atom: Division, rename: Callable[[str], str], division: str) -> str:
    numerator = atom.numerator.render(rename, division)
    if atom.numerator.as_variable() is None:
        numerator = f"({numerator})"
    operator = division if atom.operator == "/" else "%"
    return f"{numerator} {operator} {atom.divisor}"


def _evaluate(atom: Division, values: Mapping[str, int]) -> int:
    numerator = atom.numerator.evaluate(values)
    return numerator // atom.divisor if atom.operator == "/" else numerator % atom.divisor


def _substitute(atom: Atom, replacements: Mapping[str, Dim]) -> Dim:
    if isinstance(atom, str):
        return replacements.get(atom) or variable(atom)
    numerator = atom.numerator.substitute(replacements)
    return numerator // atom.divisor if atom.operator == "/" else numerator % atom.divisor


def constant(value: int) -> Dim:
    return Dim.of({_ONE: value})


def variable(name: str) -> Dim:
    return Dim.of({(name,): 1})


def product(dims: Iterable[Dim]) -> Dim:
    """The product of all `dims`; 1 when there are none."""
    total = constant(1)
    for dim in dims:
        total = total * dim
    return total


class Constraint(NamedTuple):
    """`left relation right`; `relation` is one of `== != <= < >= >`."""

    left: Dim
    relation: str
    right: Dim

    def __str__(self) -> str:
        return f"{self.left} {self.relation} {self.right}"

    def substitute(self, replacements: Mapping[str, Dim]) -> Constraint:
        return Constraint(
            self.left.substitute(replacements),
            self.relation,
            self.right.substitute(replacements),
        )

    def evaluate(self, values: Mapping[str, int]) -> bool:
        left, right = self.left.evaluate(values), self.right.evaluate(values)
        return {
            "==": left == right,
            "!=": left != right,
            "<=": left <= right,
            "<": left < right,
            ">=": left >= right,
            ">": left > right,
        }[self.relation]

    def variables(self) -> frozenset[str]:
        return self.left.variables() | self.right.variables()
