"""`p0trans where`: the source of a line of an emitted file, or of a traceback through it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from p0trans.cli.options import color_option, path_candidates
from p0trans.cli.output import put, terminal_width, wants_color
from p0trans.diagnostics.measure import escaped
from p0trans.diagnostics.model import Label
from p0trans.files import STANDARD_INPUT, read_source
from p0trans.source import Source

if TYPE_CHECKING:
    from p0trans.driver import Built
    from p0trans.tools.where import Found


def _candidates(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the argument with: Python files, whose line is still to come."""
    from p0trans.cli.candidates import program_files

    return list(program_files(incomplete, (".py",)))


@click.command("where", short_help="Show which source an emitted line came from.")
@click.argument("place", metavar="FILE:LINE|-", required=False, shell_complete=_candidates)
@click.option(
    "--map",
    "map_",
    metavar="MAP",
    type=click.Path(path_type=Path),
    help="The source map of FILE, where it is not beside it.",
)
@click.option(
    "--traceback",
    metavar="TEXT",
    shell_complete=path_candidates,
    help="Show the emitted lines of the Python traceback in the file TEXT; - is standard input.",
)
@color_option
def command(place: str | None, map_: Path | None, traceback: str | None, color: str) -> None:
    """Show where line LINE of the emitted FILE comes from, or (`-`) the sources of the emitted
    lines in a Python traceback on standard input.

    The source map is read that `p0trans build --source-map` has written beside FILE. Without one
    the build command in the header of FILE is run again, beside FILE and in this folder, and its
    result used if it is FILE as it stands.

    \b
    Examples:
      p0trans where rmsnorm.py:30
      p0trans where rmsnorm.py:30 --map rmsnorm.py.map.json
      python train.py 2>&1 | p0trans where -
      python train.py 2> error.log; p0trans where --traceback error.log

    Exit status: 0 when a place is shown, 1 when there is none or a file cannot be read or is not
    what the map was made for, 2 when the command line is wrong.
    """
    from p0trans.tools.where import Tracer, WhereError, trace

    if (place is None) == (traceback is None):
        raise click.UsageError("give a FILE:LINE, or a traceback")
    tracer = Tracer(map_, _rebuild)
    try:
        if place is None or place == STANDARD_INPUT:
            items = trace(_text(traceback or STANDARD_INPUT), tracer)
        else:
            items = [tracer.find(*_place(place))]
    except WhereError as error:
        raise click.ClickException(str(error)) from error
    for item in items:
        put(f"{escaped(item)}\n" if isinstance(item, str) else _shown(item, color))


def _place(text: str) -> tuple[Path, int]:
    file, colon, line = text.rpartition(":")
    if not (file and colon and line.isascii() and line.isdigit() and 1 <= len(line) <= 9):
        raise click.BadParameter(f"'{text}' is not FILE:LINE", param_hint="FILE:LINE")
    return Path(file), int(line)


def _text(file: str) -> str:
    source = read_source(file)
    if not isinstance(source, Source):
        raise click.ClickException(source.message)
    return source.text


def _shown(found: Found, color: str) -> str:
    """The excerpts of a place. What stands last made the value of the line."""
    from p0trans.diagnostics.text import render_places

    mapped = found.mapped
    *others, last = found.places
    heading = f"{found.emitted}:{found.line} comes from `{mapped.definition}`"
    if mapped.module is not None:
        heading += f", in the class of `{mapped.module}`"
    excerpts = render_places(
        Label(last, f"rewritten: {', '.join(mapped.idioms)}" if mapped.idioms else ""),
        [Label(place) for place in others],
        color=wants_color(color, sys.stdout),
        width=terminal_width(sys.stdout),
    )
    return f"{escaped(heading)}\n{excerpts}"


def _rebuild(line: str, folder: Path) -> Built | None:
    """What the build command `line` gives in `folder`."""
    import shlex

    from p0trans import driver
    from p0trans.cli.build import command as build
    from p0trans.cli.emission import emission
    from p0trans.emit.options import OptionError

    try:
        words = shlex.split(line)[2:]
        if not {"-h", "--help"}.isdisjoint(words):
            return None
        given = build.make_context("build", words).params
        options = emission(given["files"], given)
        sources = [read_source(folder / file) for file in given["files"]]
        right = [source for source in sources if isinstance(source, Source)]
        return driver.build_sources(right, options) if len(right) == len(sources) else None
    except (click.ClickException, OptionError, ValueError):
        # A header that was edited may say anything.
        return None
