"""Edits that put an expression into another one, with the parentheses that Phase 0 needs."""

from __future__ import annotations

from collections.abc import Callable

from p0trans.diagnostics.model import Edit
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree


def subject(source: Source, expr: tree.Expr) -> str:
    """How a message calls an expression: by its text when that is short."""
    text = source.slice(expr.span)
    return f"`{text}`" if len(text) <= 40 and "\n" not in text else "this expression"


def short_text(source: Source, expr: tree.Expr) -> str:
    text = source.slice(expr.span)
    return text if len(text) <= 40 and "\n" not in text else "…"


def enclosed(source: Source, span: Span) -> Span | None:
    """The span with the parentheses directly around it, when there are some."""
    text = source.text
    start, end = span.start - 1, span.end
    while start >= 0 and text[start].isspace():
        start -= 1
    while end < len(text) and text[end].isspace():
        end += 1
    if start >= 0 and end < len(text) and text[start] == "(" and text[end] == ")":
        return Span(start, end + 1)
    return None


def wrap(source: Source, expr: tree.Expr, build: Callable[[str], str], *, argument: bool) -> Edit:
    """The edit that replaces `expr` by the application `build(text of expr as an atom)`.

    `argument` says that `expr` is an argument, where an application needs parentheses.
    """
    outer = enclosed(source, expr.span)
    text = source.slice(expr.span)
    atomic = isinstance(expr, tree.Name | tree.Literal | tree.Tuple)
    span = expr.span if outer is None else outer
    built = build(text if atomic else f"({text})")
    if argument or (outer is not None and _call_like(source, outer)):
        built = f"({built})"
    return Edit(Place(source, span), built)


def _call_like(source: Source, outer: Span) -> bool:
    """Whether the parentheses stand directly after a word, as in `not(x)`, which must not fuse."""
    return outer.start > 0 and (
        source.text[outer.start - 1].isalnum() or source.text[outer.start - 1] == "_"
    )


def innermost(expr: tree.Expr) -> tree.Expr:
    """The expression whose value a `let` chain is."""
    while isinstance(expr, tree.Block):
        expr = expr.result
    return expr
