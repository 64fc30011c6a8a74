"""`p0trans explain`: what a code means, and why a line is well typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from p0trans.cli.options import color_option, read_sources
from p0trans.cli.output import put, report
from p0trans.diagnostics.codes import Code, table

_PACKAGE = Path(__file__).resolve().parent.parent
_PAGES = (_PACKAGE / "docs" / "errors", _PACKAGE.parent / "docs" / "errors")
"""Where the pages are: inside an installed package, else in the repository."""

_DIGITS = str.maketrans("OIL", "011")
"""Letters that are taken for digits."""


def _candidates(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the argument with: programs and codes."""
    from p0trans.cli.candidates import codes, program_files

    return [*program_files(incomplete, (".p0",)), *codes(incomplete)]


@click.command("explain", short_help="Say what a finding means, or why a line is well typed.")
@click.argument("what", metavar="CODE|FILE:LINE", shell_complete=_candidates)
@color_option
def command(what: str, color: str) -> None:
    """Say what the finding CODE means, with a program that has it and one that is mended; or show
    the typing rule of each step on line LINE of FILE, with its premises filled in.

    \b
    Examples:
      p0trans explain P0501
      p0trans explain rmsnorm.p0:11

    Exit status: 0 when there is an explanation, 1 when the line has no step or an error of its
    own, 2 when there is no such code.
    """
    file, colon, line = what.rpartition(":")
    if colon and file and line.isascii() and line.isdigit():
        _explain_line(file, int(line), color)
        return
    entry = table().get(what.upper())
    if entry is None:
        raise click.BadParameter(_unknown(what), param_hint="CODE|FILE:LINE")
    put(_page(entry))


def _explain_line(file: str, line: int, color: str) -> None:
    from p0trans import driver
    from p0trans.tools.explain import explain_line

    sources, errors = read_sources([file])
    found = False
    if sources:
        explanation = explain_line(driver.check_sources(sources), sources[0], line)
        put(explanation.text, err=not explanation.found)
        errors += explanation.errors
        found = explanation.found
    report(errors, "text", color, err=True)
    if not found:
        raise click.exceptions.Exit(1)


def _page(entry: Code) -> str:
    for folder in _PAGES:
        page = folder / f"{entry.code}.md"
        if page.is_file():
            return page.read_text(encoding="utf-8")
    # Without a page the table still has the words, with the names of the facts for the facts.
    return "\n\n".join((f"# {entry.code}: {entry.title}", entry.message, *entry.notes, ""))


def _unknown(code: str) -> str:
    if not code.isalnum():
        return f"'{code}' is neither a code nor FILE:LINE"
    # Codes with similar numbers are not similar: only another way to write a code is meant as one.
    meant = f"P{code.upper().translate(_DIGITS).removeprefix('P'):0>4}"
    hint = f"; did you mean {meant}?" if meant in table() else ""
    return f"there is no code '{code}'{hint}"
