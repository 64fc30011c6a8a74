"""`p0trans export`: a module for torch.export, as StableHLO, or compiled for a TPU."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from p0trans.cli.options import (
    path_candidates,
    read_dims,
    read_sources,
    report_options,
    required_path,
)
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity
from p0trans.files import STANDARD_INPUT, write_atomically

if TYPE_CHECKING:
    from collections.abc import Mapping

    from p0trans.ir.program import Program

STABLEHLO_SUFFIX = ".mlir"
SUFFIXES = {"export": ".pt2", "stablehlo": STABLEHLO_SUFFIX}
FORMS = (*SUFFIXES, "tpu")
TOPOLOGY = re.compile(r"\w+:[1-9]\d*(x[1-9]\d*){1,2}", re.ASCII)


def _candidates(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the argument with: programs, and StableHLO for a TPU."""
    from p0trans.cli.candidates import program_files

    return list(program_files(incomplete, (".p0", STABLEHLO_SUFFIX)))


def _modules(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the name of a module with."""
    from p0trans.cli.candidates import names

    return list(names(ctx, incomplete, definitions=False))


@click.command("export", short_help="Export a module: torch.export, StableHLO, or for a TPU.")
@click.argument("file", shell_complete=_candidates)
@click.option(
    "--module",
    metavar="NAME",
    shell_complete=_modules,
    help="The module; needed when FILE has several.",
)
@click.option(
    "--dims",
    metavar="B=2,S=3",
    help="Sizes: for export those that the constructor takes, else all.",
)
@click.option(
    "--to",
    "form",
    type=click.Choice(FORMS),
    default="export",
    show_default=True,
    help="export: a .pt2 file for all sizes; stablehlo: text for the sizes given; tpu: what a"
    " TPU's compiler says of them.",
)
@click.option("--topology", metavar="v5e:2x2", help="For tpu: the chips, by generation and shape.")
@click.option(
    "--tpu-python",
    "python",
    metavar="PATH",
    shell_complete=path_candidates,
    envvar="P0TRANS_TPU_PYTHON",
    show_envvar=True,
    help="For tpu: the Python that has jax and libtpu; without it this one.",
)
@click.option(
    "-o",
    "--output",
    callback=required_path,
    shell_complete=path_candidates,
    metavar="FILE|-",
    help="Where to write; without it beside FILE, as .pt2 or .mlir, and what tpu says is printed."
    " - prints StableHLO.",
)
@report_options
def command(
    file: str,
    module: str | None,
    dims: str | None,
    form: str,
    topology: str | None,
    python: str | None,
    output: str | None,
    format_: str,
    color: str,
) -> None:
    """Export a module of FILE (`-` is standard input) for use without Python code.

    Parameters are exported with the values that a new module begins with. With `--to tpu` the
    module, or FILE itself if it is StableHLO in a .mlir file, is compiled for a TPU that need not
    be there, and its costs are reported, as JSON with `--format json`.

    \b
    Examples:
      p0trans export rmsnorm.p0
      p0trans export block.p0 --module SwiGLU --dims D=64,H=256
      p0trans export rmsnorm.p0 --to stablehlo --dims B=2,S=128,D=64 -o -
      p0trans export rmsnorm.p0 --to tpu --topology v5e:2x2 --dims B=2,S=128,D=64

    Exit status: 0 when the module is exported, 1 when the program is wrong, the module cannot be
    exported, or does not fit into the memory of the chip, 2 when the command line is wrong.
    """
    from p0trans import driver
    from p0trans.tools.export import ExportError
    from p0trans.tools.tpu_aot import TpuError

    sizes = read_dims(dims)
    path = _path(file, output, form)
    target = _target(topology, python, form)
    lowered = target is not None and file.endswith(STABLEHLO_SUFFIX)
    if lowered and (module or sizes):
        raise click.UsageError("a file of StableHLO takes neither --module nor --dims")
    sources, found = read_sources([file])
    program: Program | None = None
    if sources and not lowered:
        checked = driver.check_sources(sources)
        program = checked.program
        found += [item for item in checked.diagnostics if item.severity is not Severity.NOTE]
    if found:
        report(found, format_, color, err=True)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)
    fits = True
    try:
        if program is None:
            name, data = file, sources[0].text.encode()
        else:
            name, data = _exported(program, module, sizes, form)
        if target is not None:
            data, fits = _compiled(name, data, target, format_)
    except (ExportError, TpuError) as error:
        raise click.ClickException(str(error)) from error
    if path is None:
        put(data.decode(), encoding="utf-8")
    else:
        trouble = write_atomically(path, data, sources)
        if trouble is not None:
            report([trouble], format_, color, err=True)
            raise click.exceptions.Exit(1)
    if not fits:
        raise click.exceptions.Exit(1)


@dataclass(frozen=True, slots=True)
class _Target:
    """A topology to compile for, and the Python that can; None is this one."""

    topology: str
    python: str | None


def _target(topology: str | None, python: str | None, form: str) -> _Target | None:
    """What to compile for, where that is asked for; what is missing is said before work begins."""
    if form != "tpu":
        given = click.get_current_context().get_parameter_source("python")
        for option, is_given in (
            ("--topology", topology is not None),
            ("--tpu-python", given is ParameterSource.COMMANDLINE),
        ):
            if is_given:
                raise click.UsageError(f"{option} goes with --to tpu")
        return None
    from p0trans.tools import tpu_aot

    if topology is None:
        raise click.UsageError("--to tpu needs --topology, such as v5e:2x2")
    if not TOPOLOGY.fullmatch(topology):
        raise click.BadParameter(
            f"'{topology}' is not GENERATION:AxB or GENERATION:AxBxC", param_hint="--topology"
        )
    sentence = None if python else tpu_aot.missing()
    if sentence is not None:
        raise click.ClickException(sentence)
    return _Target(topology, python)


def _exported(
    program: Program, module: str | None, dims: Mapping[str, int], form: str
) -> tuple[str, bytes]:
    """The name of the module, and its `.pt2` file or else its StableHLO."""
    from p0trans.tools.export import choose_module, exported_bytes, stablehlo_text

    subject = choose_module(program, module)
    if form == "export":
        return subject.name, exported_bytes(program, subject, dims)
    # Lowering runs nothing, so that no accelerator need be there; torch_xla asks for a runtime.
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    return subject.name, stablehlo_text(program, subject, dims).encode()


def _compiled(name: str, stablehlo: bytes, target: _Target, format_: str) -> tuple[bytes, bool]:
    """What the compiler says of a module, and whether the module fits into memory."""
    from p0trans.tools import tpu_aot

    found = tpu_aot.compile_for_tpu(stablehlo.decode(), target.topology, target.python)
    render = tpu_aot.render_json if format_ == "json" else tpu_aot.render_text
    return render(name, found).encode(), found.fits


def _path(file: str, output: str | None, form: str) -> Path | None:
    """Where to write; None is standard output."""
    if output is None and file != STANDARD_INPUT and form in SUFFIXES:
        return Path(file).with_suffix(SUFFIXES[form])
    if output in (None, "-"):
        if form == "export":
            raise click.UsageError("a .pt2 file is not text: say where to write it with -o FILE")
        return None
    return Path(output or "")
