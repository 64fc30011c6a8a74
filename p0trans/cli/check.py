"""`p0trans check`: whether programs are right."""

from __future__ import annotations

from collections.abc import Sequence

import click

from p0trans.cli.options import files_argument, read_sources, report_options
from p0trans.cli.output import put, report, unified
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.source import Source


@click.command("check", short_help="Check programs and report what is wrong.")
@files_argument
@report_options
@click.option("--fix", is_flag=True, help="Apply the fixes that can be applied unseen.")
@click.option("--diff", is_flag=True, help="Show the fixes as a diff instead; change no file.")
@click.option("--werror", is_flag=True, help="Treat warnings as errors.")
@click.option("--notes", is_flag=True, help="Show notes as well.")
def command(
    files: tuple[str, ...],
    format_: str,
    color: str,
    fix: bool,
    diff: bool,
    werror: bool,
    notes: bool,
) -> None:
    """Check each FILE (`-` is standard input) and report what is wrong.

    Shapes and dtypes are proved, not tried: a program without errors has the shapes that it says
    for all sizes that it allows. One mistake gives one error, and all independent errors of a file
    are found in one run. `p0trans explain CODE` says more of each. What a FILE imports is checked
    with it.

    With --fix, standard input that has been fixed goes to standard output and the report to
    standard error; with --diff the diff does.

    \b
    Examples:
      p0trans check rmsnorm.p0
      p0trans check --fix model/*.p0
      p0trans check --diff rmsnorm.p0
      p0trans check --werror --notes rmsnorm.p0
      p0trans check --format sarif model/*.p0 > p0trans.sarif

    Exit status: 0 when there is no error, 1 when there is one (with --werror also a warning) or a
    file cannot be read or written, 2 when the command line is wrong.
    """
    if fix and diff:
        raise click.UsageError("--fix and --diff exclude each other")
    sources, found = read_sources(files)
    count = 0
    if diff:
        put(
            "".join(unified(source.name, source.text, _fixed(source)[0].text) for source in sources)
        )
    elif fix:
        sources, troubles, count = _fix_all(sources)
        found += troubles
    found += [item for item in _check(sources) if notes or item.severity is not Severity.NOTE]
    if werror:
        found = [_promoted(item) for item in found]
    on_standard_error = diff or (fix and any(source.path is None for source in sources))
    report(found, format_, color, err=on_standard_error)
    if format_ == "text":
        applied = f"applied {_counted(count, 'fix', 'fixes')}\n" if count else ""
        fine = "" if found else f"no problems in {_counted(len(sources), 'file', 'files')}\n"
        put(f"{applied}{fine}", err=on_standard_error)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)


def _check(sources: Sequence[Source]) -> Sequence[Diagnostic]:
    from p0trans import driver

    return driver.check_sources(sources).diagnostics if sources else ()


def _fixed(source: Source) -> tuple[Source, int]:
    from p0trans.diagnostics.apply import fix_until_stable

    return fix_until_stable(source, lambda current: _check([current]))


def _fix_all(sources: Sequence[Source]) -> tuple[list[Source], list[Diagnostic], int]:
    """Every source fixed and written back, what went wrong in writing, and the count of fixes."""
    from p0trans.files import as_written, write_atomically

    results: list[Source] = []
    troubles: list[Diagnostic] = []
    total = 0
    for source in sources:
        fixed, count = _fixed(source)
        total += count
        results.append(fixed)
        if source.path is None:
            put(as_written(fixed), encoding="utf-8")
        elif count:
            trouble = write_atomically(source.path, as_written(fixed))
            troubles += [trouble] if trouble else []
    return results, troubles, total


def _promoted(item: Diagnostic) -> Diagnostic:
    if item.severity is not Severity.WARNING:
        return item
    return item._replace(severity=Severity.ERROR)


def _counted(count: int, one: str, more: str) -> str:
    return f"{count} {one if count == 1 else more}"
