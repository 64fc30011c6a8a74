"""From a source text to its syntax tree, with everything that does not parse said at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Label
from p0trans.source import Place, Source
from p0trans.syntax import tree
from p0trans.syntax.comments import Stripped, doc_comments, strip_comments
from p0trans.syntax.grammar import grammar, run
from p0trans.syntax.tokens import Token


class Parsed(NamedTuple):
    """What a source parses to.

    `file` has every declaration that parsed, those beside a broken one included. `broken` are
    the names that broken declarations would have given: a use of one is not an unknown name.
    """

    file: tree.File
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: tuple[tree.Identifier, ...] = ()


def parse(source: Source) -> Parsed:
    """Parse `source`. Never raises: what is wrong with the text is in `diagnostics`.

    Takes time linear in the text, and no stack: expressions may be nested to any depth.
    """
    stripped = strip_comments(source)
    tokens = grammar().scanner.scan(stripped.text)
    first = run(tokens)
    declarations = first.declarations
    diagnostics = _unclosed(source, stripped)
    broken: tuple[tree.Identifier, ...] = ()
    if first.stop is not None:
        # A program that parses, the usual one, starts faster without this.
        from p0trans.syntax.recover import recover

        at = first.stop.index if first.stop.declaration is None else first.stop.declaration
        rest = recover(source, tokens, at, cut_short=bool(stripped.unclosed))
        declarations = [*declarations, *rest.declarations]
        diagnostics, broken = (*diagnostics, *rest.diagnostics), rest.broken
    documented = _documented(source, stripped, tokens, declarations)
    file = tree.File(source, documented, stripped.comments)
    return Parsed(file, tuple(sorted(diagnostics, key=lambda d: d.sort_key)), broken)


def _unclosed(source: Source, stripped: Stripped) -> tuple[Diagnostic, ...]:
    if not stripped.unclosed:
        return ()
    outer, inner = stripped.unclosed[0], stripped.unclosed[-1]
    label = Label(Place(source, inner), "nor is this one, inside it")
    secondary = (label,) if inner != outer else ()
    return (diagnose("P0002", Place(source, outer), label="opened here", secondary=secondary),)


def _documented(
    source: Source,
    stripped: Stripped,
    tokens: Sequence[Token],
    declarations: Sequence[tree.Declaration],
) -> tuple[tree.Declaration, ...]:
    if not any(comment.kind == "doc" for comment in stripped.comments):
        return tuple(declarations)
    docs = doc_comments(source, stripped.comments, [token.span.start for token in tokens])
    return tuple(
        (
            declaration._replace(doc=docs[declaration.span.start])
            if not isinstance(declaration, tree.Import) and declaration.span.start in docs
            else declaration
        )
        for declaration in declarations
    )
