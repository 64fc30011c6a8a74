"""`p0trans verify`: emitted code beside the reference."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, get_args

import click

from p0trans.cli.options import (
    definition_names,
    files_argument,
    read_dims,
    read_sources,
    report_options,
)
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity
from p0trans.emit.options import Options as EmitOptions
from p0trans.emit.options import Style

if TYPE_CHECKING:
    from p0trans.tools.verify import Plan, Row

ENGINE_NAMES = ("eager", "compile", "xla")
_SHORT = 8
"""Parts of work; a bar for fewer would be gone before it is seen."""


def _engine_candidates(
    ctx: click.Context, parameter: click.Parameter, incomplete: str
) -> list[Any]:
    """What a shell completes the list of engines with."""
    from p0trans.cli.candidates import listed

    return list(listed(ENGINE_NAMES, incomplete))


@click.command("verify", short_help="Compare emitted code with the reference interpreter.")
@files_argument
@click.option(
    "--def",
    "only",
    metavar="NAME",
    shell_complete=definition_names,
    help="Only the definition or module NAME.",
)
@click.option("--dims", metavar="B=2,S=3", help="Sizes of some shape variables.")
@click.option("--seed", type=int, default=0, show_default=True, help="For sizes and inputs.")
@click.option(
    "--on",
    metavar="ENGINE,...",
    shell_complete=_engine_candidates,
    default="eager",
    show_default=True,
    help=f"What to run on: {', '.join(ENGINE_NAMES)}.",
)
@click.option("--grad", is_flag=True, help="Compare gradients as well.")
@click.option(
    "--runs",
    type=click.IntRange(min=1),
    default=4,
    show_default=True,
    help="How many sizes and inputs to try.",
)
@click.option(
    "--style",
    type=click.Choice(get_args(Style)),
    default=EmitOptions().style,
    show_default=True,
    help="How the emitted code is written, as in build.",
)
@report_options
def command(
    files: tuple[str, ...],
    only: str | None,
    dims: str | None,
    seed: int,
    on: str,
    grad: bool,
    runs: int,
    style: Style,
    format_: str,
    color: str,
) -> None:
    """Run what FILEs become beside the reference interpreter, and print how far they differ.

    Each module and function is run at several sizes that satisfy its constraints, on inputs drawn
    at random; the same seed draws the same. PyTorch is needed, and torch_xla for the engine xla.

    \b
    Examples:
      p0trans verify rmsnorm.p0
      p0trans verify rmsnorm.p0 --on eager,compile,xla --grad --runs 1
      p0trans verify model.p0 --def attention --dims B=2,S=128 --runs 1

    Exit status: 0 when every comparison agrees, 1 when one does not, an engine is not installed or
    the program is wrong, 2 when there is nothing of that name or it cannot have such sizes.

    Environment: PJRT_DEVICE is the device of the engine xla, by default CPU.
    """
    lacking = [name for name in ("torch", "numpy", "ml_dtypes") if find_spec(name) is None]
    if lacking:
        raise click.ClickException(
            f"verify needs {' and '.join(lacking)}: pip install 'p0trans[torch]'"
        )
    from p0trans.tools.verify import FAILURES, NothingToVerifyError, Plan, Request, plan
    from p0trans.tools.verify_table import render, summary

    request = Request(
        only, read_dims(dims), seed, _engines(on), grad, runs, EmitOptions(style=style)
    )
    sources, found = read_sources(files)
    works: list[Plan] = []
    for source in sources:
        try:
            planned = plan(source, request)
        except NothingToVerifyError as error:
            raise click.UsageError(str(error)) from error
        if isinstance(planned, Plan):
            works.append(planned)
        else:
            found += [item for item in planned if item.severity is Severity.ERROR]
    if found:
        report(found, format_, color, err=True)
        raise click.exceptions.Exit(1)
    rows = _rows(works)
    put(f"{render(rows)}{summary(rows)}\n")
    if any(row.verdict in FAILURES for row in rows):
        raise click.exceptions.Exit(1)


def _rows(works: Sequence[Plan]) -> list[Row]:
    """Do the work, behind a progress bar when someone is watching and it is not short."""
    from p0trans.tools.verify import verify

    length = sum(work.length for work in works)
    parts = (part for work in works for part in verify(work))
    watched = length > _SHORT and sys.stderr is not None and sys.stderr.isatty()
    with click.progressbar(
        parts, length=length, label="Verifying", file=sys.stderr, hidden=not watched
    ) as progress:
        return [row for part in progress for row in part]


def _engines(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in ENGINE_NAMES:
            raise click.BadParameter(
                f"'{name}' is not one of {', '.join(ENGINE_NAMES)}", param_hint="--on"
            )
    return names
