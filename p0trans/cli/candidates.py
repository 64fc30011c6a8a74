"""What a shell offers to complete an argument with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

import click
from click.shell_completion import CompletionItem

_PLAIN = re.compile(r"[\w./+@%,-]*")
"""Names that no shell asks to quote."""


def program_files(incomplete: str, suffixes: tuple[str, ...]) -> list[CompletionItem]:
    """The files with one of `suffixes` and the folders whose paths begin with `incomplete`.

    A folder that is the only one is opened, since a shell ends the word behind a sole candidate.
    Where a name would have to be quoted the shell, which knows how, is left to find files itself.
    """
    paths = list(_paths(incomplete, suffixes))
    while len(paths) == 1 and paths[0].endswith("/"):
        inside = list(_paths(paths[0], suffixes))
        if not inside:
            break
        paths = inside
    if not all(map(_PLAIN.fullmatch, (incomplete, *paths))):
        return [CompletionItem(incomplete, type="file")]
    return [CompletionItem(path) for path in paths]


def any_files(incomplete: str) -> list[CompletionItem]:
    """The shell's own answer for a path."""
    return [CompletionItem(incomplete, type="file")]


def listed(words: Sequence[str], incomplete: str) -> list[CompletionItem]:
    """The words that go on with a list which commas part, each at most once in it."""
    before, comma, start = incomplete.rpartition(",")
    given = before.split(",")
    return [
        CompletionItem(f"{before}{comma}{word}")
        for word in words
        if word.startswith(start) and word not in given
    ]


def names(ctx: click.Context, incomplete: str, *, definitions: bool) -> list[CompletionItem]:
    """The modules, and with `definitions` also these, of the programs on the command line."""
    from p0trans import driver
    from p0trans.files import STANDARD_INPUT, read_source
    from p0trans.source import Source

    found: dict[str, str] = {}
    # An option without its value keeps click from giving the arguments their names.
    words = (*ctx.args, ctx.params.get("file"), *(ctx.params.get("files") or ()))
    for word in words:
        source = read_source(word) if word and word != STANDARD_INPUT else None
        if not isinstance(source, Source):
            continue
        program = driver.check_sources([source]).program
        unit = program.unit(program.roots[0])
        found |= {module.name: "module" for module in unit.modules}
        if definitions:
            found |= {definition.name: "definition" for definition in unit.definitions}
    return [
        CompletionItem(name, help=kind)
        for name, kind in found.items()
        if name.startswith(incomplete)
    ]


def codes(incomplete: str) -> list[CompletionItem]:
    """The codes of findings that begin so, with their titles."""
    from p0trans.diagnostics.codes import table

    start = incomplete.upper()
    return [
        # The script for fish takes a comma for the end of the help.
        CompletionItem(code, help=entry.title.replace(",", ";"))
        for code, entry in table().items()
        if code.startswith(start)
    ]


def operations(incomplete: str) -> list[CompletionItem]:
    """The operations whose names begin so, with their families."""
    from p0trans.ops import OPERATIONS

    return [
        CompletionItem(name, help=operation.family)
        for name, operation in OPERATIONS.items()
        if name.startswith(incomplete)
    ]


def _paths(incomplete: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    folder, start = os.path.split(incomplete)
    try:
        entries = sorted(os.scandir(folder or "."), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        hidden = entry.name.startswith(".") and not start.startswith(".")
        if not entry.name.startswith(start) or hidden:
            continue
        path = os.path.join(folder, entry.name)
        if entry.is_dir():
            yield f"{path}/"
        elif entry.name.endswith(suffixes):
            yield path
