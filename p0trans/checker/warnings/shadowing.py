"""P1115: a name that hides a definition, an import or an operation."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.files import FileSubject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Label
from p0trans.ops import CALLABLE
from p0trans.source import Place, Source
from p0trans.syntax import tree


def shadowing(subject: FileSubject) -> Iterator[Diagnostic]:
    known: dict[str, Place] = {}
    for source, declaration in subject.declarations:
        match declaration:
            case tree.Import(names=names):
                for name in names:
                    yield from _operation(source, "the import", name)
                    known[name.text] = Place(source, name.span)
            case tree.Definition(name=name):
                for local in subject.surveys[name.text].locals:
                    hidden = known.get(local.name.text)
                    if hidden is not None:
                        what = "the parameter" if local.binding is None else "the local"
                        yield _definition(source, what, local.name, hidden)
                yield from _operation(source, "the definition", name)
                known[name.text] = Place(source, name.span)


def _operation(source: Source, what: str, name: tree.Identifier) -> Iterator[Diagnostic]:
    if name.text in CALLABLE:
        yield diagnose(
            "P1115",
            Place(source, name.span),
            label="from here on the name means this",
            what=what,
            name=name.text,
            hidden="the operation",
        )


def _definition(source: Source, what: str, name: tree.Identifier, hidden: Place) -> Diagnostic:
    return diagnose(
        "P1115",
        Place(source, name.span),
        label="the definition cannot be applied where this holds",
        secondary=(Label(hidden, "hidden"),),
        what=what,
        name=name.text,
        hidden="the definition",
    )
