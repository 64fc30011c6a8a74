"""P1114: an imported name that nothing in the file uses."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.files import FileSubject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree


def unused_import(subject: FileSubject) -> Iterator[Diagnostic]:
    for source, node in subject.declarations:
        if not isinstance(node, tree.Import):
            continue
        unused = [name for name in node.names if name.text not in subject.used]
        for name in unused:
            yield diagnose(
                "P1114",
                Place(source, name.span),
                label="never used",
                fixes=(_fix(source, node, name, alone=len(unused) == len(node.names)),),
                name=name.text,
            )


def _fix(source: Source, node: tree.Import, name: tree.Identifier, *, alone: bool) -> Fix:
    """Leave the name out; the whole import when no other name of it is used."""
    title = f"leave out the import of `{name.text}`"
    if alone:
        end = node.span.end
        text = source.text
        while end < len(text) and text[end] in " \t":
            end += 1
        if text.startswith("\r\n", end):
            end += 2
        elif end < len(text) and text[end] in "\r\n":
            end += 1
        return Fix(title, (Edit(Place(source, Span(node.span.start, end)), ""),))
    names = node.names
    index = names.index(name)
    if index:
        span = Span(names[index - 1].span.end, name.span.end)
    else:
        span = Span(name.span.start, names[1].span.start)
    return Fix(title, (Edit(Place(source, span), ""),))
