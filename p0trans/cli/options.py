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


def _program_files(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes a program's name with."""
    from p0trans.cli.candidates import program_files

    return list(program_files(incomplete, (".p0",)))


def path_candidates(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the path of any file with."""
    from p0trans.cli.candidates import any_files

    return list(any_files(incomplete))


def definition_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the name of a definition or module with."""
    from p0trans.cli.candidates import names

    return list(names(ctx, incomplete, definitions=True))


def files_argument(command: Command) -> Command:
    """`FILE...`, as the parameter `files`."""
    return click.argument(
        "files", metavar="FILE...", nargs=-1, required=True, shell_complete=_program_files
    )(command)


def program_argument(command: Command) -> Command:
    """`FILE`, as the parameter `file`."""
    return click.argument("file", shell_complete=_program_files)(command)


def required_path(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """A callback for the path of an output: an empty one, as of an unset variable of the shell,
    is a mistake."""
    if value == "":
        raise click.BadParameter("the path is empty")
    return value


def color_option(command: Command) -> Command:
    """`--color`, as the parameter `color`."""
    return click.option(
        "--color",
        type=click.Choice(COLORS),
        default="auto",
        show_default=True,
        help="Whether to colour findings; auto: when they go to a terminal.",
    )(command)


def report_options(command: Command) -> Command:
    """`--format` and `--color`, as the parameters `format_` and `color`."""
    option = click.option(
        "--format",
        "format_",
        type=click.Choice(FORMATS),
        default="text",
        show_default=True,
        help="How to write what is found; json is one object a line.",
    )
    return option(color_option(command))


def read_dims(text: str | None) -> dict[str, int]:
    """The sizes in `B=2,S=3`. Raises click.BadParameter for what is not such a list."""
    from p0trans.shapes.dim import LARGEST_SIZE

    sizes: dict[str, int] = {}
    for pair in () if text is None else text.split(","):
        name, _, size = (part.strip() for part in pair.partition("="))
        digits = size.lstrip("0")
        decimal = size.isascii() and size.isdigit() and len(digits) <= len(str(LARGEST_SIZE))
        if not name or not decimal or not 1 <= int(digits or "0") <= LARGEST_SIZE:
            raise click.BadParameter(f"'{pair}' is not NAME=SIZE", param_hint="--dims")
        if name in sizes:
            raise click.BadParameter(f"'{name}' is given twice", param_hint="--dims")
        sizes[name] = int(digits)
    return sizes


def read_sources(files: Sequence[str]) -> tuple[list[Source], list[Diagnostic]]:
    """The sources that can be read, each file once, and what is wrong with the others."""
    results = [read_source(file) for file in dict.fromkeys(files)]
    sources = [result for result in results if isinstance(result, Source)]
    troubles = [result for result in results if isinstance(result, Diagnostic)]
    return sources, troubles
