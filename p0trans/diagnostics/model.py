"""A diagnostic as data. How it looks is the business of the renderers."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from p0trans.source import Place


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Label(NamedTuple):
    """A place in a source and what is to be said about it."""

    place: Place
    text: str = ""


class Edit(NamedTuple):
    """Replace the text at `place` by `text`; an empty span inserts."""

    place: Place
    text: str


class Fix(NamedTuple):
    """One way to mend the program. `machine` says that it may be applied unseen."""

    title: str
    edits: tuple[Edit, ...]
    machine: bool = True


class Diagnostic(NamedTuple):
    """One finding: its stable code, the place that is wrong and where the facts came from."""

    code: str
    family: str
    severity: Severity
    message: str
    primary: Label
    secondary: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    fixes: tuple[Fix, ...] = ()

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        place = self.primary.place
        return (place.source.name, place.span.start, place.span.end, self.code)
