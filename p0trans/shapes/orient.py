"""Equations that define a variable, used up by substitution: what is left of a set of facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import gcd
from typing import NamedTuple

from p0trans.shapes.bounds import (
    Bounds,
    bounds_from,
    follows_from_bounds,
    substitute_within_limits,
)
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant, variable
from p0trans.shapes.relation import Relation, normalized, relation_of

_MAX_DEFINITIONS = 64
_MAX_DEFINITION_SIZE = 120


class System(NamedTuple):
    """Facts, solved as far as substitution goes.

    Under the facts each variable in `replacements` is its dim over the variables that remain;
    `relations` is what the facts say about those, and `bounds` what that says of single ones.
    A remaining variable is one of the facts', or a new one (`D mod 2`), and also >= 1.
    """

    replacements: Mapping[str, Dim]
    relations: tuple[Relation, ...]
    bounds: Bounds

    def reduce_dim(self, dim: Dim) -> Dim:
        """`dim` over the remaining variables; DimLimitError when that is too large."""
        return substitute_within_limits(dim, self.replacements)

    def reduce(self, relation: Relation) -> Relation:
        """`relation` over the remaining variables; DimLimitError when that is too large."""
        return normalized(relation.operator, self.reduce_dim(relation.polynomial))

    def connected(self, names: Iterable[str]) -> tuple[Relation, ...]:
        """The relations that have something to do with `names`, directly or through others."""
        chosen = connected_to(names, [r.polynomial.variables() for r in self.relations])
        return tuple(self.relations[index] for index in chosen)


def connected_to(names: Iterable[str], sets: Sequence[frozenset[str]]) -> tuple[int, ...]:
    """Indices, ascending, of the sets that a chain of shared elements links to `names`."""
    members: dict[str, list[int]] = {}
    for index, elements in enumerate(sets):
        for element in elements:
            members.setdefault(element, []).append(index)
    chosen: set[int] = set()
    pending = list(names)
    while pending:
        for index in members.pop(pending.pop(), ()):
            if index not in chosen:
                chosen.add(index)
                pending.extend(sets[index])
    return tuple(sorted(chosen))


class _Equation(NamedTuple):
    """`polynomial == 0`; `alone` are the variables that were written alone on one side."""

    polynomial: Dim
    alone: tuple[str, ...]


class _Definition(NamedTuple):
    name: str
    value: Dim


def orient(variables: Sequence[str], constraints: Sequence[Constraint]) -> System:
    """Solve `constraints` by substitution.

    A constraint too large to handle is left out: what is proved without it is still proved.
    """
    order = {name: index for index, name in enumerate(variables)}
    equations: list[_Equation] = []
    relations: list[Relation] = []
    for constraint in constraints:
        try:
            relation = relation_of(constraint)
        except DimLimitError:
            continue
        if relation.operator == "==":
            sides = (constraint.left.as_variable(), constraint.right.as_variable())
            alone = tuple(side for side in sides if side is not None)
            equations.append(_Equation(relation.polynomial, alone))
        else:
            relations.append(relation)

    replacements: dict[str, Dim] = {}
    while len(replacements) < _MAX_DEFINITIONS:
        step = next(_eliminations(equations, replacements, order), None)
        if step is None:
            break
        definition, equations, replacements = step
        relations.append(normalized(">=", definition.value - constant(1)))

    relations.extend(Relation("==", equation.polynomial) for equation in equations)
    remaining = tuple(dict.fromkeys(_reduced(relations, replacements)))
    return System(replacements, remaining, bounds_from(remaining))


def _reduced(relations: Iterable[Relation], replacements: Mapping[str, Dim]) -> Iterator[Relation]:
    for operator, polynomial in relations:
        try:
            relation = normalized(operator, substitute_within_limits(polynomial, replacements))
        except DimLimitError:
            continue
        if relation.truth() is not True and not follows_from_bounds(relation, {}):
            yield relation


def _eliminations(
    equations: Sequence[_Equation], replacements: Mapping[str, Dim], order: Mapping[str, int]
) -> Iterator[tuple[_Definition, list[_Equation], dict[str, Dim]]]:
    """Each way to use one equation up: the definition that it gives, and the rest rewritten."""
    for index, equation in enumerate(equations):
        definition = _variable_defined(equation, order) or _residue_defined(equation.polynomial)
        if definition is None or definition.value.size > _MAX_DEFINITION_SIZE:
            continue
        single = {definition.name: definition.value}
        try:
            rest = [
                _Equation(normalized("==", substitute_within_limits(p, single)).polynomial, alone)
                for p, alone in (*equations[:index], *equations[index + 1 :])
            ]
            rewritten = {
                name: substitute_within_limits(value, single)
                for name, value in replacements.items()
            }
        except DimLimitError:
            continue
        if all(value.size <= _MAX_DEFINITION_SIZE for value in rewritten.values()):
            yield definition, rest, rewritten | single


def _variable_defined(equation: _Equation, order: Mapping[str, int]) -> _Definition | None:
    """The variable that the equation defines: with coefficient 1 or -1 and nowhere else in it.

    One that was written alone on a side is preferred, then the one that is declared last.
    """
    seen: set[str] = set()
    repeated: set[str] = set()
    candidates: dict[str, int] = {}
    for monomial, coefficient in equation.polynomial.terms:
        names = Dim.of({monomial: 1}).variables()
        repeated |= seen & names
        seen |= names
        if len(monomial) == 1 and isinstance(monomial[0], str) and abs(coefficient) == 1:
            candidates[monomial[0]] = coefficient
    usable = [name for name in candidates if name not in repeated]
    if not usable:
        return None
    name = max(usable, key=lambda n: (n in equation.alone, order.get(n, -1), n))
    coefficient = candidates[name]
    rest = equation.polynomial - constant(coefficient) * variable(name)
    return _Definition(name, rest * constant(-coefficient))


def _residue_defined(polynomial: Dim) -> _Definition | None:
    """For `(a*x + b) % d == k`: x as the multiples of a new variable that satisfy it.

    With g = gcd(a, d) and m = d/g these are x = m*t, or x = m*t - m + r with the least
    solution r > 0, for every t >= 1.
    """
    if not polynomial.terms:
        return None
    (monomial, coefficient), *rest = polynomial.terms
    if len(monomial) != 1 or any(other for other, _ in rest):
        return None
    atom = monomial[0]
    if isinstance(atom, str) or atom.operator != "%":
        return None
    (inner, factor), *inner_rest = atom.numerator.terms
    if len(inner) != 1 or any(other for other, _ in inner_rest) or not isinstance(inner[0], str):
        return None
    offset = inner_rest[0][1] if inner_rest else 0
    remainder, uneven = divmod(-(rest[0][1] if rest else 0), coefficient)
    divisor = atom.divisor
    shared = gcd(factor, divisor)
    if uneven or not 0 <= remainder < divisor or (remainder - offset) % shared:
        return None
    modulus = divisor // shared
    least = (remainder - offset) // shared * pow(factor // shared, -1, modulus) % modulus
    name = inner[0]
    multiple = constant(modulus) * variable(f"{name} mod {modulus}")
    return _Definition(name, multiple + constant(least - modulus if least else 0))
