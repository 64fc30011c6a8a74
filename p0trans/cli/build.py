"""`p0trans build`: Phase 0 to Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import click

from p0trans.cli.emission import emission, emission_options, unsuitable
from p0trans.cli.options import (
    files_argument,
    path_candidates,
    read_sources,
    report_options,
    required_path,
)
from p0trans.cli.output import put, report, unified
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.files import STANDARD_INPUT, write_all_atomically

if TYPE_CHECKING:
    from p0trans.driver import Built, Options
    from p0trans.emit.options import EmittedFile
    from p0trans.source import Source
    from p0trans.tools.freshness import Stale

_Show: TypeAlias = Callable[[Sequence[Diagnostic]], None]


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


class _Translation(NamedTuple):
    """What was found in some sources, and what was built of those that could be read; with
    `mapped` each file gets a source map."""

    sources: Sequence[Source]
    found: Sequence[Diagnostic]
    built: Built | None
    mapped: bool

    @property
    def emitted(self) -> Sequence[EmittedFile]:
        return () if self.built is None else self.built.files

    def texts(self, destination: _Destination) -> dict[Path, str]:
        """All that is written, by its path."""
        texts = {destination.path(file): file.text for file in self.emitted}
        if self.built is not None and self.mapped:
            from p0trans.tools.sourcemap import SUFFIX, source_map, to_json

            for file in self.emitted:
                path = destination.path(file)
                map_ = source_map(self.built.program, file, path.parent)
                if map_.lines:
                    texts[path.with_name(path.name + SUFFIX)] = to_json(map_)
        return texts


@click.command("build", short_help="Translate programs to PyTorch modules.")
@files_argument
@click.option(
    "-o",
    "--output",
    callback=required_path,
    shell_complete=path_candidates,
    metavar="DIR|FILE|-",
    help="Where to write: a folder (it exists, or ends in /), a file, or - for standard output.",
)
@emission_options
@click.option(
    "--check",
    is_flag=True,
    help="Write nothing; exit 1 with a diff if a file is not what its source gives.",
)
@click.option(
    "--fail-on-change",
    is_flag=True,
    help="Write, but exit 1 if a file was missing or different: for commit hooks.",
)
@click.option(
    "--explain-rewrites",
    is_flag=True,
    help="Also list, on standard error, which idioms were recognised and which nearly were.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Build again whenever a program in or below the folder of a FILE changes.",
)
@click.option(
    "--source-map",
    is_flag=True,
    help="Write FILE.map.json beside each file: which line came from where, for `p0trans where`.",
)
@report_options
def command(
    files: tuple[str, ...],
    output: str | None,
    check: bool,
    fail_on_change: bool,
    explain_rewrites: bool,
    watch: bool,
    source_map: bool,
    format_: str,
    color: str,
    **chosen: Any,
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
      p0trans build rmsnorm.p0 && p0trans build --check rmsnorm.p0
      p0trans build --watch rmsnorm.p0
      p0trans build rmsnorm.p0 --explain-rewrites -o -
      p0trans build --source-map rmsnorm.p0 && p0trans where rmsnorm.py:30

    Exit status: 0 when the files are written (or, with --check, need not be; or --watch is
    interrupted), 1 when a program is wrong, a file cannot be read or written, or it is not what its
    source gives (--check, --fail-on-change), 2 when the command line is wrong.
    """
    files = tuple(dict.fromkeys(files))
    destination = _destination(files, output)
    options = replace(emission(files, chosen), explain=explain_rewrites)
    if watch and explain_rewrites:
        raise click.UsageError("--watch and --explain-rewrites exclude each other")
    _require_mode(files, destination, check, fail_on_change, watch, source_map)
    show = partial(report, format_=format_, color=color, err=True)
    if watch:
        _watch(partial(_translate, files, options, source_map), files, destination, show)
        return
    translation = _translate(files, options, source_map)
    found, stale = _settle(
        translation, destination, compare=check or fail_on_change, write=not check
    )
    if found or format_ == "sarif":
        show(found)
    if explain_rewrites and translation.emitted:
        from p0trans.tools.rewrites import render

        assert translation.built is not None
        put(render(translation.built), err=True)
    if check:
        put("".join(unified(str(file.path), file.before, file.after) for file in stale))
    elif not _wrong(found):
        put("".join(f"wrote {file.path}\n" for file in stale), err=True)
    if stale or _wrong(found):
        raise click.exceptions.Exit(1)
    if destination.folder is None:
        for file in translation.emitted:
            put(file.text, encoding="utf-8")


def _translate(files: Sequence[str], options: Options, source_map: bool) -> _Translation:
    from p0trans import driver
    from p0trans.emit.options import OptionError

    sources, found = read_sources(files)
    if found:
        return _Translation(sources, found, None, source_map)
    try:
        built = driver.build_sources(sources, options)
    except OptionError as error:
        raise unsuitable(error) from error
    found += [item for item in built.diagnostics if item.severity is not Severity.NOTE]
    return _Translation(sources, found, built, source_map)


def _settle(
    translation: _Translation, destination: _Destination, *, compare: bool, write: bool
) -> tuple[list[Diagnostic], Sequence[Stale]]:
    """Bring the files of a right program to its destination: all that was found, and with
    `compare` the files that were not what they should be, which are then all that is written."""
    found = [*translation.found]
    stale: Sequence[Stale] = ()
    if _wrong(found) or destination.folder is None:
        return found, stale
    texts = translation.texts(destination)
    if compare:
        from p0trans.tools.freshness import compare_files

        stale, unreadable = compare_files(texts)
        found += unreadable
        texts = {file.path: file.after for file in stale}
    if write and not _wrong(found):
        trouble = write_all_atomically(texts, translation.sources)
        found += [trouble] if trouble else []
    return found, stale


def _watch(
    translate: Callable[[], _Translation],
    files: Sequence[str],
    destination: _Destination,
    show: _Show,
) -> None:
    """Build now and after each change, until it is interrupted."""
    from p0trans.tools.freshness import WatchError, occasions

    folders = sorted({Path(file).parent for file in files})
    try:
        with suppress(KeyboardInterrupt):
            for number, _ in enumerate(occasions(folders)):
                if number == 0:
                    put(f"watching {', '.join(map(str, folders))}; Ctrl-C ends it\n")
                try:
                    _build_again(translate(), destination, show)
                except click.UsageError as error:
                    if number == 0:
                        raise
                    # A change of the program has taken away the dim that an option names.
                    error.show()
    except WatchError as error:
        raise click.ClickException(str(error)) from error


def _build_again(translation: _Translation, destination: _Destination, show: _Show) -> None:
    found, stale = _settle(translation, destination, compare=True, write=True)
    if found:
        show(found)
    if not _wrong(found):
        put("".join(f"wrote {file.path}\n" for file in stale) or "up to date\n")


def _require_mode(
    files: Sequence[str],
    destination: _Destination,
    check: bool,
    fail_on_change: bool,
    watch: bool,
    source_map: bool,
) -> None:
    """Raise click.UsageError for modes that exclude each other or lack a file."""
    chosen = [
        name
        for name, given in (
            ("--check", check),
            ("--fail-on-change", fail_on_change),
            ("--watch", watch),
        )
        if given
    ]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other")
    if chosen and destination.folder is None:
        raise click.UsageError(f"{chosen[0]} needs a file that is written, not standard output")
    if source_map and destination.folder is None:
        raise click.UsageError("--source-map needs a file that is written, not standard output")
    if (watch or source_map) and STANDARD_INPUT in files:
        mode = "--watch" if watch else "--source-map"
        raise click.UsageError(f"{mode} needs files, not standard input")


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
