"""What checking one definition keeps at hand: its text, its facts and what it found wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label
from p0trans.shapes.dim import Constraint, Dim, constant
from p0trans.shapes.facts import Facts
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree

ONE: Final = constant(1)


class Context:
    """Mutable only in what it collects: diagnostics, and facts taken as given after a failure.

    A constraint that was not proved is reported once and then assumed, so that nothing that
    follows from it is reported again.
    """

    def __init__(self, source: Source, definition: tree.Definition) -> None:
        self.source = source
        self.definition = definition
        self.shape_names = tuple(dict.fromkeys(p.text for p in definition.shape_parameters))
        self.facts = Facts(self.shape_names, ())
        self.diagnostics: list[Diagnostic] = []
        self._reported: set[tuple[str, str]] = set()
        self._products: dict[Dim, list[Span]] = {}
        self._product_place: dict[Dim, str] = {}

    def place(self, span: Span) -> Place:
        return Place(self.source, span)

    def label(self, span: Span, text: str) -> Label:
        return Label(self.place(span), text)

    def report(
        self,
        code: str,
        span: Span,
        *,
        label: str = "",
        secondary: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        fixes: tuple[Fix, ...] = (),
        **facts: Any,
    ) -> None:
        self.diagnostics.append(
            diagnose(
                code,
                self.place(span),
                label=label,
                secondary=secondary,
                notes=notes,
                fixes=fixes,
                **facts,
            )
        )

    def first_report(self, code: str, text: str) -> bool:
        """Whether `code` is to be reported of `text`: once for all the places where it stands."""
        fresh = (code, text) not in self._reported
        self._reported.add((code, text))
        return fresh

    def replace(self, title: str, span: Span, text: str, *, machine: bool = True) -> Fix:
        return Fix(title, (Edit(self.place(span), text),), machine)

    # --- facts --------------------------------------------------------------------------

    def prove(self, constraint: Constraint) -> bool:
        """Whether `constraint` holds. When it does not, it is taken as given from here on."""
        if self.facts.holds(constraint):
            return True
        self.facts = self.facts.assuming(constraint)
        return False

    def require_positive(self, dim: Dim, span: Span) -> bool:
        """Report `dim` unless it is provably at least 1; False when it is a number below that."""
        value = dim.as_integer()
        if value is not None:
            if value < 1 and self.first_report("P0803", str(value)):
                notes = ("no dim is inferred: write the number of elements",) if value < 0 else ()
                self.report("P0803", span, notes=notes, dim=dim, trouble="is less than 1")
            return value >= 1
        if dim.as_variable() is not None:
            return True
        constraint = Constraint(dim, ">=", ONE)
        numbers = breaking_numbers(self.facts, constraint)
        if not self.prove(constraint):
            self.report(
                "P0803",
                span,
                fixes=self.where_fix(constraint),
                dim=dim,
                trouble=f"is not provably at least 1{numbers}",
            )
        return True

    def where_fix(self, constraint: Constraint) -> tuple[Fix, ...]:
        """Ask the callers for `constraint`, which is among the facts by now, unless no sizes
        satisfy it; not for a machine, since it narrows the interface."""
        linear = constraint.left.is_linear and constraint.right.is_linear
        if not constraint.variables() or not linear or not self.facts.satisfiable():
            return ()
        text = readable(constraint)
        return (
            self._clause_fix(
                f"require it of every caller: `where {text}`", "where", text, machine=False
            ),
        )

    def assume_fix(self, text: str, *, machine: bool = True) -> Fix:
        return self._clause_fix(f"state it: `assume {text}`", "assume", text, machine=machine)

    def _clause_fix(self, title: str, clause: str, text: str, *, machine: bool) -> Fix:
        return Fix(title, (self.clause_edit(clause, text),), machine)

    def clause_edit(self, clause: str, text: str) -> Edit:
        """The edit that adds `text` to the definition's `where` or `assume` clause."""
        definition = self.definition
        written = definition.where if clause == "where" else definition.assume
        if written:
            at = written[-1].span.end
            return Edit(self.place(Span(at, at)), f", {text}")
        if clause == "where" and definition.assume:
            # The clause that is there begins with its word, which stands before the constraint.
            at = self.source.text.rindex("assume", 0, definition.assume[0].span.start)
        else:
            at = definition.equals_span.start
        return Edit(self.place(Span(at, at)), f"{clause} {text} ")

    # --- dims ---------------------------------------------------------------------------

    def spelled(self, shape: Iterable[Dim]) -> str:
        """A shape for an edit: `[B, 2 * K]`, or `[B, 2*K]` where the text has that dim so."""
        return f"[{', '.join(map(self._spelled, shape))}]"

    def _spelled(self, dim: Dim) -> str:
        text = str(dim)
        return text if text in self.source.text else text.replace("*", " * ")

    def unknown_shape_variable(self, name: tree.DimName) -> None:
        if not self.first_report("P0104", name.text):
            return
        near = nearest(name.text, self.shape_names)
        if near:
            fix = self.replace(f"write `{near}`", name.span, near)
        else:
            # One more shape parameter is one more shape argument in every call.
            edit = self.shape_parameter_edit(name.text)
            fix = Fix("make it a shape parameter", (edit,), machine=False)
        self.report(
            "P0104",
            name.span,
            label="not declared",
            fixes=(fix,),
            name=name.text,
            definition=self.definition.name.text,
            near=did_you_mean(near),
        )

    def product_found(self, dim: Dim, span: Span, where: str) -> None:
        """Note a product of shape variables; each product is reported once, by `finish`."""
        self._products.setdefault(dim, []).append(span)
        self._product_place.setdefault(dim, where)

    def finish(self) -> None:
        """Report what had to be seen whole: every place of a product is in its one fix."""
        for dim, spans in self._products.items():
            text = self.source.slice(spans[0])
            clause = [fact for fact in self.definition.where if fact.span.to(spans[0]) == fact.span]
            if clause and len(spans) == 1:
                stated = self.source.slice(clause[0].span)
                advice = f"state it with `assume {stated}`"
                fix = self._assume_instead(clause[0])
            else:
                name = self.fresh_shape_name(dim)
                advice = f"give it a name with `assume {name} == {text}`"
                fix = self._name_product(dim, name, text, spans)
            self.report(
                "P0701",
                spans[0],
                label="a product",
                secondary=tuple(self.label(span, "and here") for span in spans[1:]),
                fixes=(fix,),
                text=text,
                where=self._product_place[dim],
                advice=advice,
            )

    def _assume_instead(self, fact: tree.Constraint) -> Fix:
        """Move a constraint from the `where` to the `assume`."""
        where, stated = self.definition.where, self.source.slice(fact.span)
        title = f"assume it: `assume {stated}`"
        index = where.index(fact)
        if len(where) == 1:
            start = self.source.text.rindex("where", 0, fact.span.start)
            if not self.definition.assume:
                return self.replace(title, Span(start, fact.span.end), f"assume {stated}")
            gap = Span(
                start, self.source.text.rindex("assume", 0, self.definition.assume[0].span.start)
            )
        elif index == 0:
            gap = Span(fact.span.start, where[1].span.start)
        else:
            gap = Span(where[index - 1].span.end, fact.span.end)
        edits = (Edit(self.place(gap), ""), self.clause_edit("assume", stated))
        return Fix(title, edits)

    def fresh_shape_name(self, dim: Dim) -> str:
        """`BH` for `B * H`: a name that no shape parameter has yet."""
        name = "".join(
            atom for monomial, _ in dim.terms for atom in monomial if isinstance(atom, str)
        )
        while name in self.shape_names:
            name += "_"
        return name

    def _name_product(self, dim: Dim, name: str, text: str, spans: list[Span]) -> Fix:
        edits = [
            self.shape_parameter_edit(name),
            *(Edit(self.place(span), name) for span in spans),
            self.clause_edit("assume", f"{name} == {text}"),
        ]
        edits.sort(key=lambda edit: edit.place.span)
        return Fix(f"name it: `assume {name} == {text}`", tuple(edits))

    def shape_parameter_edit(self, name: str) -> Edit:
        """The edit that gives the definition one more shape parameter."""
        parameters = self.definition.shape_parameters
        if parameters:
            at = parameters[-1].span.end
            return Edit(self.place(Span(at, at)), f", {name}")
        at = self.definition.name.span.end
        return Edit(self.place(Span(at, at)), f" [{name}]")


def breaking_numbers(facts: Facts, constraint: Constraint) -> str:
    """`: it fails for S = 1`, or nothing when no numbers are known to break it."""
    return numbers_text(facts.counterexample(constraint))


def numbers_text(numbers: Mapping[str, int] | None) -> str:
    if not numbers:
        return ""
    return ": it fails for " + ", ".join(f"{name} = {value}" for name, value in numbers.items())


def readable(constraint: Constraint) -> str:
    """`S >= 2` rather than `S - 1 >= 1`."""
    difference = constraint.left - constraint.right
    offset = constant(dict(difference.terms).get((), 0))
    moving = difference - offset
    if moving.as_variable() is not None and constraint.relation in (">=", ">", "==", "!="):
        return str(Constraint(moving, constraint.relation, -offset))
    if (-moving).as_variable() is not None and constraint.relation in ("<=", "<"):
        flipped = {"<=": ">=", "<": ">"}[constraint.relation]
        return str(Constraint(-moving, flipped, offset))
    return str(constraint)
