"""How the command line writes: encodings, colours, widths and the formats of a report."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import TextIO

import click

from p0trans import __version__
from p0trans.diagnostics.model import Diagnostic

FORMATS = ("text", "json", "sarif", "github")
COLORS = ("auto", "always", "never")
DEFAULT_WIDTH = 100
BROKEN_PIPE = 141


def put(text: str, *, err: bool = False, encoding: str | None = None) -> None:
    """Write `text` to standard output, or with `err` to standard error.

    What the stream's encoding (or `encoding`) lacks is written as a backslash escape. A reader
    who has gone away ends the program quietly; another failure is a `click.ClickException`.
    """
    stream = sys.stderr if err else sys.stdout
    if stream is None or not text:
        return
    data = text.encode(encoding or stream.encoding or "utf-8", "backslashreplace")
    try:
        stream.buffer.write(data)
        stream.buffer.flush()
    except OSError as error:
        abandon(stream)
        if isinstance(error, BrokenPipeError):
            raise click.exceptions.Exit(BROKEN_PIPE) from error
        raise unwritable(error) from error


def unwritable(error: OSError) -> click.ClickException:
    """What is said when the output cannot be written."""
    return click.ClickException(f"the output cannot be written: {error.strerror}")


def report(
    diagnostics: Sequence[Diagnostic], format_: str, color: str, *, err: bool = False
) -> None:
    """Write `diagnostics` in one of FORMATS."""
    stream = sys.stderr if err else sys.stdout
    put(_rendered(diagnostics, format_, color, stream), err=err)


def unified(name: str, before: str | None, after: str) -> str:
    """The change of the file called `name` as a unified diff; `before` is None for a new file."""
    from difflib import unified_diff

    path = Path(name).as_posix()
    old, new = (StringIO(text, newline="\n").readlines() for text in (before or "", after))
    origin = "/dev/null" if before is None else f"a/{path}"
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in unified_diff(old, new, origin, f"b/{path}")
    )


def wants_color(choice: str, stream: TextIO | None) -> bool:
    """Whether to colour what goes to `stream`, by the choice of the user and the environment.

    For `auto` the conventions of NO_COLOR, CLICOLOR_FORCE and TERM=dumb hold, in this order.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("CLICOLOR_FORCE", "0") not in ("", "0"):
        return True
    return os.environ.get("TERM") != "dumb" and stream is not None and stream.isatty()


def _rendered(
    diagnostics: Sequence[Diagnostic], format_: str, color: str, stream: TextIO | None
) -> str:
    match format_:
        case "json":
            from p0trans.diagnostics import jsonl

            return jsonl.render(diagnostics)
        case "sarif":
            from p0trans.diagnostics import sarif

            return sarif.render(diagnostics, version=__version__)
        case "github":
            from p0trans.diagnostics import github

            return github.render(diagnostics)
    if not diagnostics:
        return ""
    from p0trans.diagnostics import text

    return text.render(diagnostics, color=wants_color(color, stream), width=terminal_width(stream))


def terminal_width(stream: TextIO | None) -> int:
    """The columns of the terminal behind `stream`, or DEFAULT_WIDTH when there is none."""
    try:
        columns = os.get_terminal_size(stream.fileno()).columns if stream else 0
    except (OSError, ValueError):
        columns = 0
    return columns or DEFAULT_WIDTH


def abandon(stream: TextIO) -> None:
    """Let what `stream` still holds go nowhere, so that closing it at exit cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
