"""What `where` and `assume` say about shape variables, and what follows from it.

A question goes up a ladder, cheapest step first, and stops at the first that answers it:
the same interned dim; a constant difference; the difference after substitution of the
equations that define a variable; bounds on single variables; one fact; a polynomial identity
modulo the equations; small numbers that refute it; Presburger arithmetic (islpy, imported
there). "Proved" is never said of something false; "not proved" is also said of what takes too
much work, which is counted, never timed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from p0trans.shapes import ideal, presburger
from p0trans.shapes.bounds import follows_from_bounds
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, product, variable
from p0trans.shapes.orient import System, connected_to, orient
from p0trans.shapes.quotient import exact_quotient
from p0trans.shapes.relation import Relation, normalized, relation_of
from p0trans.shapes.search import find_values

# Budgets of the search for small numbers: before a solver is asked, and for a message.
_REFUTATION_BUDGET = 2_000
_SEARCH_BUDGET = 300_000


@dataclass(frozen=True, slots=True)
class Facts:
    """Shape variables, each an integer >= 1, and constraints that hold of them."""

    variables: tuple[str, ...]
    constraints: tuple[Constraint, ...] = ()
    _system: System = field(init=False, repr=False, compare=False)
    _proofs: dict[Constraint | Relation, bool] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "_system", orient(self.variables, self.constraints))

    def assuming(self, constraint: Constraint) -> Facts:
        """These facts and `constraint`."""
        return Facts(self.variables, (*self.constraints, constraint))

    def equal(self, left: Dim, right: Dim) -> bool:
        """Whether the two dims are provably the same number."""
        return left is right or self.holds(Constraint(left, "==", right))

    def holds(self, constraint: Constraint) -> bool:
        """Whether `constraint` provably holds."""
        proved = self._proofs.get(constraint)
        if proved is None:
            try:
                proved = self._proves(relation_of(constraint))
            except DimLimitError:
                proved = False
            self._proofs[constraint] = proved
        return proved

    def equal_volume(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        """Whether the two products of dims are provably the same number."""
        rest_left, rest_right = _cancel(left, right)
        if not rest_left and not rest_right:
            return True
        try:
            rest_left, rest_right = _cancel(
                map(self._system.reduce_dim, rest_left), map(self._system.reduce_dim, rest_right)
            )
            if self._proves(normalized("==", product(rest_left) - product(rest_right))):
                return True
            # A factor that was cancelled may be what an equation speaks of.
            return self._proves(normalized("==", product(left) - product(right)))
        except DimLimitError:
            return False

    def quotient(self, dividend: Dim, divisor: Dim) -> Dim | None:
        """A dim that times `divisor` is provably `dividend`; None when none was found."""
        try:
            return exact_quotient(*map(self._system.reduce_dim, (dividend, divisor)))
        except DimLimitError:
            return None

    def counterexample(self, constraint: Constraint) -> Mapping[str, int] | None:
        """Numbers that satisfy all facts and break `constraint`; None when none were found.

        Small values come first; only variables that matter are there: those of `constraint`
        and of the facts connected to them, in declaration order.
        """
        if self.holds(constraint):
            return None
        try:
            negations = self._system.reduce(relation_of(constraint)).negations()
        except DimLimitError:
            return None
        related = self._connected(constraint)
        involved = constraint.variables().union(*(fact.variables() for fact in related))
        order = {name: index for index, name in enumerate(self.variables)}
        names = sorted(involved, key=lambda name: (order.get(name, len(order)), name))
        for values in self._breaking_values(names, negations):
            broken = not constraint.evaluate(values) and min(values.values(), default=1) >= 1
            if broken and all(fact.evaluate(values) for fact in related):
                return values
        return None

    def volume_counterexample(
        self, left: Sequence[Dim], right: Sequence[Dim]
    ) -> Mapping[str, int] | None:
        """Numbers that satisfy all facts and make the two products differ, as `counterexample`.

        Dims that both sides have are left out, as no dim of a shape is 0.
        """
        if self.equal_volume(left, right):
            return None
        left, right = _cancel(left, right)
        try:
            return self.counterexample(Constraint(product(left), "==", product(right)))
        except DimLimitError:
            return None

    def satisfiable(self) -> bool:
        """Whether the facts can hold together; False only when that is provably not so."""
        relations = self._system.relations
        if any(relation.truth() is False for relation in relations):
            return False
        names = _names(relations)
        found = find_values(
            names, self._system.bounds, relations, lambda _: True, _REFUTATION_BUDGET
        )
        if found is not None:
            return True
        return not presburger.is_impossible(relations, self._system.bounds)

    def used_facts(self, constraint: Constraint) -> tuple[Constraint, ...]:
        """Facts that suffice to prove `constraint` and of which none can be left out.

        () when it holds by itself, and when it is not proved at all.
        """
        if not self.holds(constraint) or Facts(self.variables).holds(constraint):
            return ()
        kept = self._connected(constraint)
        # The last facts go first, so that of two proofs the one from earlier facts stays.
        for fact in reversed(kept):
            fewer = tuple(other for other in kept if other is not fact)
            if Facts(self.variables, fewer).holds(constraint):
                kept = fewer
        return kept

    def _connected(self, constraint: Constraint) -> tuple[Constraint, ...]:
        """The facts that have to do with `constraint`; one without variables is about all."""
        sets = [fact.variables() for fact in self.constraints]
        chosen = frozenset(connected_to(constraint.variables(), sets))
        return tuple(
            fact
            for index, fact in enumerate(self.constraints)
            if index in chosen or not sets[index]
        )

    def _proves(self, relation: Relation) -> bool:
        proved = self._proofs.get(relation)
        if proved is None:
            try:
                proved = _decide(self._system, relation)
            except DimLimitError:
                proved = False
            self._proofs[relation] = proved
        return proved

    def _breaking_values(
        self, names: Sequence[str], negations: Sequence[Relation]
    ) -> Iterator[dict[str, int]]:
        """Values of `names` that may satisfy the facts and one of `negations`: the smallest
        that trying finds, then isl's. The solved system is searched, as it has fewer variables."""
        replacements, bounds = self._system.replacements, self._system.bounds
        dims = {name: replacements.get(name) or variable(name) for name in names}
        remaining = tuple(dict.fromkeys(n for d in dims.values() for n in sorted(d.variables())))
        relations = self._system.connected(remaining)
        found = find_values(
            remaining,
            bounds,
            relations,
            lambda values: any(negation.evaluate(values) for negation in negations),
            _SEARCH_BUDGET,
        )
        if found is not None:
            yield {name: dim.evaluate(found) for name, dim in dims.items()}
        for negation in negations:
            model = presburger.small_model((*relations, negation), bounds)
            if model is not None:
                complete = dict.fromkeys(remaining, 1) | dict(model)
                yield {name: dim.evaluate(complete) for name, dim in dims.items()}


def _decide(system: System, relation: Relation) -> bool:
    """Whether `relation` is proved; DimLimitError when its polynomial grows too large."""
    reduced = system.reduce(relation)
    truth = reduced.truth()
    if truth is not None:
        return truth
    if follows_from_bounds(reduced, system.bounds):
        return True
    operator, polynomial = reduced
    related = system.connected(polynomial.variables())
    if not related and polynomial.is_linear and not polynomial.has_division:
        return False
    equations = [fact for fact in related if fact.operator == "=="]
    if operator == "==" and equations and ideal.vanishes(polynomial, equations):
        return True
    if _follows_from_one_fact(reduced, related, system):
        return True
    refutation = find_values(
        _names((reduced, *related)),
        system.bounds,
        related,
        lambda values: not reduced.evaluate(values),
        _REFUTATION_BUDGET,
    )
    if refutation is not None:
        return False
    return presburger.entails(related, system.bounds, reduced)


def _follows_from_one_fact(goal: Relation, facts: Iterable[Relation], system: System) -> bool:
    """Whether `goal` is a fact plus something that bounds prove to be nonnegative."""
    if goal.operator == "==":
        return False
    wanted = (goal,) if goal.operator == ">=" else Relation("==", goal.polynomial).negations()
    return any(
        fact.operator == ">="
        and follows_from_bounds(
            Relation(">=", relation.polynomial - fact.polynomial), system.bounds
        )
        for relation in wanted
        for fact in facts
    )


def _names(relations: Iterable[Relation]) -> tuple[str, ...]:
    found = frozenset[str]().union(*(r.polynomial.variables() for r in relations))
    return tuple(sorted(found))


def _cancel(left: Iterable[Dim], right: Iterable[Dim]) -> tuple[tuple[Dim, ...], tuple[Dim, ...]]:
    """Both sides without the dims that they share."""
    factors_left, factors_right = Counter(left), Counter(right)
    return (
        tuple((factors_left - factors_right).elements()),
        tuple((factors_right - factors_left).elements()),
    )
