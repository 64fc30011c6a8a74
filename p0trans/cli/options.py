"""What several commands take: files, the format of a report, colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from p0trans.cli.output import COLORS, FORMATS
from p0trans.diagnostics.model import Diagnostic
from p0trans.files import read_source
from p0trans.source import Source

Command = TypeVar("Command", bound=Callable[..., Any])


def files_argument(command: Command) -> Command:
    return click.argument("files", metavar="FILE...", nargs=-1, required=True)(command)


def report_options(command: Command) -> Command:
    """`--format` and `--color`, as the parameters `format_` and `color`."""
    for option in (
        click.option(
            "--color",
            type=click.Choice(COLORS),
            default="auto",
            show_default=True,
            help="Whether to colour text; auto: when it goes to a terminal.",
        ),
        click.option(
            "--format",
            "format_",
            type=click.Choice(FORMATS),
            default="text",
            show_default=True,
            help="How to write what is found; json is one object a line.",
        ),
    ):
        command = option(command)
    return command


def read_sources(files: Sequence[str]) -> tuple[list[Source], list[Diagnostic]]:
    """The sources that can be read, each file once, and what is wrong with the others."""
    results = [read_source(file) for file in dict.fromkeys(files)]
    sources = [result for result in results if isinstance(result, Source)]
    troubles = [result for result in results if isinstance(result, Diagnostic)]
    return sources, troubles
