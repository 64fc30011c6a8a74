"""P1115: a name that hides a definition, an import or an operation."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.checker.warnings.files import FileSubject
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Label
from p0trans.ops import CALLABLE
from p0trans.source import Place
from p0trans.syntax import tree


def shadowing(subject: FileSubject) -> Iterator[Diagnostic]:
    surveys = dict(subject.surveys)
    known: dict[str, tree.Identifier] = {}
    for declaration in subject.file.declarations:
        match declaration:
            case tree.Import(names=names):
                for name in names:
                    yield from _operation(subject, "the import", name)
                    known[name.text] = name
            case tree.Definition(name=name):
                for local in surveys[declaration].locals:
                    hidden = known.get(local.name.text)
                    if hidden is not None:
                        what = "the parameter" if local.binding is None else "the local"
                        yield _definition(subject, what, local.name, hidden)
                yield from _operation(subject, "the definition", name)
                known[name.text] = name


def _operation(subject: FileSubject, what: str, name: tree.Identifier) -> Iterator[Diagnostic]:
    if name.text in CALLABLE:
        yield diagnose(
            "P1115",
            Place(subject.source, name.span),
            label="from here on the name means this",
            what=what,
            name=name.text,
            hidden="the operation",
        )


def _definition(
    subject: FileSubject, what: str, name: tree.Identifier, hidden: tree.Identifier
) -> Diagnostic:
    return diagnose(
        "P1115",
        Place(subject.source, name.span),
        label="the definition cannot be applied where this holds",
        secondary=(Label(Place(subject.source, hidden.span), "hidden"),),
        what=what,
        name=name.text,
        hidden="the definition",
    )
