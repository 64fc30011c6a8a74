"""`p0trans ir`: the typed intermediate representation of a program."""

from __future__ import annotations

import click

from p0trans.cli.options import read_sources, report_options
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity


@click.command("ir", short_help="Print the typed steps of a program.")
@click.argument("file")
@report_options
def command(file: str, format_: str, color: str) -> None:
    """Print the typed steps of FILE (`-` is standard input), one operation a line.

    \b
    Example:
      p0trans ir rmsnorm.p0
    """
    from p0trans import driver
    from p0trans.ir.printer import print_program

    sources, found = read_sources([file])
    if sources:
        checked = driver.check_sources(sources)
        found += [item for item in checked.diagnostics if item.severity is not Severity.NOTE]
    if found:
        report(found, format_, color, err=True)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)
    put(print_program(checked.program))
