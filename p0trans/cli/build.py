"""`p0trans build`: Phase 0 to Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from p0trans.cli.options import files_argument, read_sources, report_options
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.emit.options import Annotate, Checks, Style, Target
from p0trans.files import STANDARD_INPUT, write_all_atomically

if TYPE_CHECKING:
    from p0trans.emit.options import EmittedFile


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where output goes: into `folder`, there as `name` if that is not None.

    Without a folder it goes to standard output.
    """

    folder: Path | None
    name: str | None = None

    def path(self, emitted: EmittedFile) -> Path:
        assert self.folder is not None
        return self.folder / (emitted.path if self.name is None else self.name)


@click.command("build", short_help="Translate programs to PyTorch modules.")
@files_argument
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE|-",
    help="Where to write: a folder (it exists, or ends in /), a file, or - for standard output.",
)
@click.option(
    "--style",
    type=click.Choice(get_args(Style)),
    default="explicit",
    show_default=True,
    help="How the emitted code is written; explicit: one torch call per operation.",
)
@click.option(
    "--target",
    type=click.Choice(get_args(Target)),
    default="torch",
    show_default=True,
    help="What the emitted code runs on.",
)
@click.option(
    "--checks",
    type=click.Choice(get_args(Checks)),
    default="full",
    show_default=True,
    help="Whether emitted code checks the shapes and dtypes of its inputs.",
)
@click.option(
    "--annotate",
    type=click.Choice(get_args(Annotate)),
    default="plain",
    show_default=True,
    help="How the emitted code annotates tensors.",
)
@click.option(
    "--dynamic",
    metavar="B,S",
    default="",
    help="With --target compile: shape variables that may change without a new compilation.",
)
@click.option(
    "--dynamic-shapes",
    is_flag=True,
    help="Give each module a method that says, for torch.export, which axes may vary.",
)
@click.option(
    "--param",
    "params",
    metavar="NAME=INIT",
    multiple=True,
    help="Make the argument NAME an nn.Parameter that begins as INIT.",
)
@click.option(
    "--const",
    "consts",
    metavar="NAME=LITERAL",
    multiple=True,
    help="Make the argument NAME a constructor argument with the default LITERAL.",
)
@report_options
def command(
    files: tuple[str, ...],
    output: str | None,
    style: Style,
    target: Target,
    checks: Checks,
    annotate: Annotate,
    dynamic: str,
    dynamic_shapes: bool,
    params: tuple[str, ...],
    consts: tuple[str, ...],
    format_: str,
    color: str,
) -> None:
    """Translate each FILE (`-` is standard input) to a Python file of PyTorch modules.

    One FILE gives one file, beside it unless -o says otherwise. Several give a package in the
    folder that -o names. Findings go to standard error; when there is an error nothing is written.

    \b
    Examples:
      p0trans build rmsnorm.p0
      p0trans build rmsnorm.p0 -o - --param weight=ones --const eps=1e-6
      p0trans build rmsnorm.p0 --target compile --dynamic B,S
      p0trans build model/*.p0 -o generated/
    """
    from p0trans import driver
    from p0trans.checker import StateFlags
    from p0trans.emit.options import OptionError
    from p0trans.emit.options import Options as EmitOptions

    files = tuple(dict.fromkeys(files))
    destination = _destination(files, output)
    options = driver.Options(
        emit=EmitOptions(style, target, checks, annotate, _names(dynamic), dynamic_shapes),
        flags=StateFlags(_pairs("--param", params), _pairs("--const", consts)),
        layout="file" if len(files) == 1 else "package",
    )
    sources, found = read_sources(files)
    emitted: Sequence[EmittedFile] = ()
    if not found:
        try:
            built = driver.build_sources(sources, options)
        except OptionError as error:
            raise click.BadParameter(str(error), param_hint="--dynamic") from error
        emitted = built.files
        found += [item for item in built.diagnostics if item.severity is not Severity.NOTE]
    if not _wrong(found) and destination.folder is not None:
        texts = {destination.path(file): file.text for file in emitted}
        trouble = write_all_atomically(texts, sources)
        found += [trouble] if trouble else []
    if found or format_ == "sarif":
        report(found, format_, color, err=True)
    if _wrong(found):
        raise click.exceptions.Exit(1)
    if destination.folder is None:
        for file in emitted:
            put(file.text, encoding="utf-8")


def _wrong(found: Sequence[Diagnostic]) -> bool:
    return any(item.severity is Severity.ERROR for item in found)


def _destination(files: Sequence[str], output: str | None) -> _Destination:
    if len(files) > 1:
        if output is None or output == "-" or _is_file(output):
            raise click.UsageError("several files need -o DIR, the folder of the package")
        return _Destination(Path(output))
    (file,) = files
    if output is None:
        return _Destination(None if file == STANDARD_INPUT else Path(file).parent)
    if output == "-":
        return _Destination(None)
    path = Path(output)
    if output.endswith(("/", "\\")) or path.is_dir():
        return _Destination(path)
    return _Destination(path.parent, path.name)


def _is_file(output: str) -> bool:
    path = Path(output)
    return path.exists() and not path.is_dir()


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _pairs(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, value) in zip(texts, pairs, strict=True):
        if not (name.strip() and equals and value.strip()):
            raise click.BadParameter(f"'{text}' is not NAME=VALUE", param_hint=option)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
