"""`p0trans review`: a program, what it becomes and what it costs, side by side on one page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from p0trans.cli.emission import emission, emission_options, unsuitable
from p0trans.cli.options import (
    color_option,
    files_argument,
    path_candidates,
    read_sources,
    required_path,
)
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity
from p0trans.files import STANDARD_INPUT, write_atomically

if TYPE_CHECKING:
    from p0trans.driver import Built, Options
    from p0trans.source import Source


@click.command("review", short_help="Write a page that shows source, Python and ledger together.")
@files_argument
@click.option(
    "-o",
    "--output",
    callback=required_path,
    shell_complete=path_candidates,
    metavar="FILE",
    default="-",
    help="Where to write the page; - is standard output, which is the default.",
)
@click.option(
    "--against",
    shell_complete=path_candidates,
    metavar="OLD",
    help="Show what changed since OLD: a revision of git, or a file with the earlier source.",
)
@emission_options
@color_option
def command(
    files: tuple[str, ...], output: str, against: str | None, color: str, **chosen: Any
) -> None:
    """Write one self-contained HTML page with the sources, the Python that they become and their
    shape ledgers in three columns, with findings in place and a picture of the data flow.

    Pointing at a line, or moving there with the arrow keys, shows what it became and what it came
    from, the rule behind it and where its sizes come from. The page needs no network and prints. A
    program with errors gives a page of its sources. Options that change the emitted code are those
    of `p0trans build`. Findings go to standard error as well.

    \b
    Examples:
      p0trans review block.p0 -o review.html
      p0trans review rmsnorm.p0 --style explicit > review.html
      p0trans review block.p0 -o review.html --against model/block.p0
      git fetch && p0trans review block.p0 -o review.html --against origin/main
      p0trans review model/*.p0 -o review.html

    Exit status: 0 when the page is written, 1 when the program is wrong or a file cannot be read or
    written, 2 when the command line is wrong.
    """
    from p0trans import driver
    from p0trans.emit.options import OptionError
    from p0trans.tools.review import render

    files = tuple(dict.fromkeys(files))
    options = emission(files, chosen)
    if against is not None and STANDARD_INPUT in files:
        raise click.UsageError("--against needs files, not standard input")
    sources, found = read_sources(files)
    if found:
        report(found, "text", color, err=True)
        raise click.exceptions.Exit(1)
    try:
        built = driver.build_sources(sources, options)
    except OptionError as error:
        raise unsuitable(error) from error
    before = None if against is None else _before(sources, against, options)
    page = render(built, before, against or "")
    found = [item for item in built.diagnostics if item.severity is not Severity.NOTE]
    if output == "-":
        put(page, encoding="utf-8")
    else:
        trouble = write_atomically(Path(output), page, sources)
        found += [trouble] if trouble else []
    if found:
        report(found, "text", color, err=True)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)


def _before(sources: Sequence[Source], against: str, options: Options) -> Built:
    """What the sources gave before; without files where they were wrong then."""
    from p0trans import driver
    from p0trans.driver import Built
    from p0trans.emit.options import OptionError
    from p0trans.tools.review_history import HistoryError, earlier

    try:
        old, loader = earlier(sources, against)
        try:
            return driver.build_sources(old, options, loader)
        except OptionError:
            # The options suit the program of now.
            checked = driver.check_sources(old, options.flags, loader)
            return Built((), checked.diagnostics, checked.program, checked.program)
    except HistoryError as error:
        raise click.BadParameter(str(error), param_hint="--against") from error
