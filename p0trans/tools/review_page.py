"""What the template of a review page is given: every string and flag that it needs."""

from __future__ import annotations

from typing import NamedTuple

from markupsafe import Markup

from p0trans.tools.explain import Block
from p0trans.tools.review_picture import Picture


class Note(NamedTuple):
    """A finding, as its report; `severity` is a CSS class."""

    severity: str
    summary: str
    report: str


class Line(NamedTuple):
    """A line of code. `state` is a CSS class: `new`, `old` or none; `key` is unique in the page."""

    key: str
    number: int
    code: Markup
    marks: str
    state: str
    notes: tuple[Note, ...] = ()


class Entry(NamedTuple):
    """A row of a ledger."""

    marks: str
    role: str
    name: str
    expression: str
    shape: str
    one_shape: bool
    dtype: str
    flops: str
    bytes: str


class Account(NamedTuple):
    """A ledger, or why there is none."""

    rows: tuple[Entry, ...] = ()
    total: tuple[str, str, str] = ("", "", "")
    trouble: str = ""


class Part(NamedTuple):
    """A definition with its modules, or what stands between them: runs of lines in each column.

    `title` is that of a definition; anything else has only a `label`. `mark` is what the marks of
    the definition begin with."""

    key: str
    label: str
    title: str
    facts: tuple[str, ...]
    source: tuple[tuple[Line, ...], ...]
    python: tuple[tuple[Line, ...], ...]
    account: Account | None
    picture: Picture | None
    blocks: tuple[tuple[str, Block], ...]
    changed: bool
    open: bool
    mark: str = ""


class File(NamedTuple):
    name: str
    emitted: str
    imported: bool
    parts: tuple[Part, ...]


class Page(NamedTuple):
    """`command` is the one that emits what is shown. `compared` says with what it is compared,
    empty for nothing, and `changed` counts the parts that are not the same there."""

    title: str
    command: str
    summary: str
    compared: str
    changed: int
    notes: tuple[Note, ...]
    files: tuple[File, ...]
