"""`p0trans ir`: the typed intermediate representation of a program."""

from __future__ import annotations

from typing import get_args

import click

from p0trans.cli.options import program_argument, read_sources, report_options
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity
from p0trans.emit.options import Options as EmitOptions
from p0trans.emit.options import Style


@click.command("ir", short_help="Print the typed steps of a program.")
@program_argument
@click.option(
    "--style",
    type=click.Choice(get_args(Style)),
    default="explicit",
    show_default=True,
    help="The steps as they were checked, or rewritten as `build --style idiomatic` emits them.",
)
@report_options
def command(file: str, style: Style, format_: str, color: str) -> None:
    """Print the typed steps of FILE (`-` is standard input), one operation a line.

    A step has the name of its `let`, or that of the `let` that it serves with a number, and its
    type. Above the steps stands how each shape variable gets its number. What FILE imports is
    printed as well. In the idiomatic style a module has steps of its own, in which its consts are
    numbers. Findings go to standard error.

    \b
    Examples:
      p0trans ir rmsnorm.p0
      p0trans ir --style idiomatic rmsnorm.p0
      p0trans ir - < block.p0

    Exit status: 0 when the steps are printed, 1 when the program is wrong or cannot be read.
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
    options = driver.Options(EmitOptions(style=style))
    program, _ = driver.in_style(checked.program, options)
    put(print_program(program))
