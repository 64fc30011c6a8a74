"""`p0trans export`: a module as a program of torch.export or as StableHLO."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from p0trans.cli.options import read_sources, report_options
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity
from p0trans.files import STANDARD_INPUT, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p0trans.ir.program import Program

SUFFIXES = {"export": ".pt2", "stablehlo": ".mlir"}


@click.command("export", short_help="Export a module through torch.export or to StableHLO.")
@click.argument("file")
@click.option("--module", metavar="NAME", help="The module; needed when FILE has several.")
@click.option(
    "--dims",
    metavar="B=2,S=3",
    default="",
    help="Sizes: for export those that the constructor takes, for stablehlo all.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(tuple(SUFFIXES)),
    default="export",
    show_default=True,
    help="export: a .pt2 file for all sizes; stablehlo: text for the sizes given.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE|-",
    help="Where to write; without it beside FILE, as .pt2 or .mlir. - prints StableHLO.",
)
@report_options
def command(
    file: str,
    module: str | None,
    dims: str,
    form: str,
    output: str | None,
    format_: str,
    color: str,
) -> None:
    """Export a module of FILE (`-` is standard input) for use without Python code.

    Parameters are exported with the values that a new module begins with.

    \b
    Examples:
      p0trans export rmsnorm.p0
      p0trans export block.p0 --module SwiGLU --dims D=64,H=256
      p0trans export rmsnorm.p0 --to stablehlo --dims B=2,S=128,D=64 -o -
    """
    from p0trans import driver
    from p0trans.tools.export import ExportError

    sizes = _sizes(dims)
    path = _path(file, output, form)
    sources, found = read_sources([file])
    if sources:
        checked = driver.check_sources(sources)
        found += [item for item in checked.diagnostics if item.severity is not Severity.NOTE]
    if found:
        report(found, format_, color, err=True)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)
    try:
        data = _exported(checked.program, module, sizes, form)
    except ExportError as error:
        raise click.ClickException(str(error)) from error
    if path is None:
        put(data.decode(), encoding="utf-8")
        return
    trouble = write_atomically(path, data, sources)
    if trouble is not None:
        report([trouble], format_, color, err=True)
        raise click.exceptions.Exit(1)


def _exported(program: Program, module: str | None, dims: Mapping[str, int], form: str) -> bytes:
    from p0trans.tools.export import choose_module, exported_bytes, stablehlo_text

    subject = choose_module(program, module)
    if form == "export":
        return exported_bytes(program, subject, dims)
    # Lowering runs nothing, so that no accelerator need be there; torch_xla asks for a runtime.
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    return stablehlo_text(program, subject, dims).encode()


def _sizes(text: str) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for pair in filter(None, text.split(",")):
        name, _, size = (part.strip() for part in pair.partition("="))
        if not name or not (size.isascii() and size.isdigit()) or int(size) < 1:
            raise click.BadParameter(f"'{pair}' is not NAME=SIZE", param_hint="--dims")
        sizes[name] = int(size)
    return sizes


def _path(file: str, output: str | None, form: str) -> Path | None:
    """Where to write; None is standard output."""
    if output is None and file != STANDARD_INPUT:
        return Path(file).with_suffix(SUFFIXES[form])
    if output in (None, "-"):
        if form == "export":
            raise click.UsageError("a .pt2 file is not text: say where to write it with -o FILE")
        return None
    return Path(output or "")
