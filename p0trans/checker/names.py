"""Which names a definition sees, and what to say of one that it does not."""

from __future__ import annotations

from collections.abc import Container, Mapping
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from p0trans.checker.context import Context
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.diagnostics.model import Label
from p0trans.ir.program import Reference
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Notation
from p0trans.shapes.dim import Constraint, Dim
from p0trans.shapes.solve import input_tensors
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree
from p0trans.types import Type

# What people of PyTorch and Python reach for, and how it is written here.
_ELSEWHERE: Final = {
    "and": "`a && b`",
    "or": "`a || b`",
    "if": "`select c a b`",
    "where": "`select c a b`",
    "cat": "`concat[axis=n] a b`",
    "permute": "`transpose[perm=[…]] a`",
    "view": "`reshape a [d…]`",
    "flatten": "`reshape a [d…]`",
    "squeeze": "`reshape a [d…]`",
    "unsqueeze": "`reshape a [d…]`",
    "expand": "`broadcast a [d…]`",
    "repeat": "`broadcast a [d…]` and `reshape`",
    "bmm": "`matmul a b`",
    "mm": "`matmul a b`",
    "arange": "`iota[T, axis=n] [d…]`",
    "to": "`cast[T] a`",
    **{k: f"`reduce[{k}, axis=n] a`" for k in ("sum", "mean", "max", "min", "prod", "any", "all")},
    "zeros": "`broadcast 0.0 [d…]`",
    "ones": "`broadcast 1.0 [d…]`",
    **{
        name: f"with the library: `from std.{file} import {name}`"
        for file, names in (
            ("activation", ("relu", "silu", "gelu")),
            ("softmax", ("softmax", "log_softmax")),
            ("linear", ("linear",)),
            ("embedding", ("embedding",)),
            ("norm", ("layer_norm",)),
            ("loss", ("cross_entropy",)),
        )
        for name in names
    },
}

STATEMENTS: Final = frozenset({"if", "return"})
"""Words of Python that begin a phrase: what follows one is part of the same mistake."""

_APPLICABLE: Final = tuple(
    op.name for op in OPERATIONS.values() if op.notation in (Notation.CALL, Notation.LITERAL)
)
_SYMBOLS: Final = {"and": "&&", "or": "||"}
_LITERALS: Final = ("true", "false", "inf")
# A guess looks at every name in sight: in a definition with more findings none is made.
_MOST_GUESSES: Final = 100


class Signature(NamedTuple):
    """What a caller has to know of a definition."""

    reference: Reference
    source: Source
    tree: tree.Definition
    shape_parameters: tuple[str, ...]
    parameters: tuple[tuple[str, Type], ...]
    result: Type
    where: tuple[Constraint, ...]
    assume: tuple[Constraint, ...]

    @property
    def name(self) -> str:
        return self.tree.name.text

    @property
    def form(self) -> str:
        """How a call is written: `rmsnorm[B, S, D] x weight eps`."""
        shape = f"[{', '.join(self.shape_parameters)}]" if self.shape_parameters else ""
        return " ".join((f"{self.name}{shape}", *(name for name, _ in self.parameters)))

    def internal_parameters(self) -> frozenset[str]:
        """The shape parameters that no type and no `where` speaks of, only an `assume`.

        A caller may give a product for these: its own types and proofs stay linear.
        """
        if not self.assume:
            return frozenset()
        types = (self.result, *(type_ for _, type_ in self.parameters))
        dims = (dim for tensor in input_tensors(types) for dim in tensor.type.shape)
        return frozenset(self.shape_parameters).difference(
            *(dim.variables() for dim in dims), *(fact.variables() for fact in self.where)
        )

    def replacements(self, dims: tuple[Dim, ...]) -> dict[str, Dim]:
        return dict(zip(self.shape_parameters, dims, strict=True))


class Scope(NamedTuple):
    """The definitions that one definition may use.

    `broken` are names whose declaration was reported as wrong: a use of one is silent.
    `later` are the definitions further down in the same file.
    """

    parameter_names: tuple[str, ...]
    definitions: Mapping[str, Signature | None]
    broken: AbstractSet[str]
    later: Mapping[str, Place]

    def definition(self, name: str) -> Signature | None:
        """The definition called `name`; None when there is none, or its header is wrong."""
        return self.definitions.get(name)


def report_unknown(
    context: Context,
    scope: Scope,
    name: str,
    span: Span,
    local: tuple[str, ...],
    meant: str | None = None,
) -> None:
    """Report a name that is neither a value nor a definition nor an operation.

    `meant` is what to write for it, where that is known.
    """
    if name in scope.broken:
        return
    if name == context.definition.name.text:
        context.report("P0109", span, label="the definition itself", name=name)
        return
    if name in scope.later:
        context.report(
            "P0102",
            span,
            label="used here",
            secondary=(Label(scope.later[name], "defined here"),),
            name=name,
            user=context.definition.name.text,
        )
        return
    near = None
    if meant is None and name not in STATEMENTS and len(context.diagnostics) < _MOST_GUESSES:
        near = nearest(name, (*local, *scope.definitions, *_APPLICABLE, *_LITERALS))
    written = meant or near
    fixes = (context.replace(f"write `{written}`", span, written),) if written else ()
    notes: tuple[str, ...] = ()
    if name == "return":
        notes = ("the last expression of a body is its result",)
    elif name in _ELSEWHERE:
        notes = (f"Phase 0 writes it {_ELSEWHERE[name]}",)
    if name in context.shape_names:
        notes = (f"`{name}` is a shape parameter: a number of elements is not a value",)
    context.report(
        "P0101", span, label="unknown", fixes=fixes, notes=notes, name=name, near=did_you_mean(near)
    )


def report_applied(
    context: Context,
    scope: Scope,
    expr: tree.Apply,
    labels: tuple[Label, ...],
    local: Container[str],
) -> None:
    """Report a value at the head of an application: indexed, in front of a word for an operator,
    or taken for a function."""
    first = expr.arguments[0] if expr.arguments else None
    if isinstance(first, tree.Name) and first.text in _SYMBOLS and first.text not in local:
        report_unknown(context, scope, first.text, first.span, (), _SYMBOLS[first.text])
        return
    note = "for a product write `a * b`; a definition or an operation heads an application"
    if expr.attributes is not None:
        note = "a part of a value is taken with `slice`, `take` or `gather`"
    context.report("P0107", expr.head.span, secondary=labels, notes=(note,), name=expr.head.text)
