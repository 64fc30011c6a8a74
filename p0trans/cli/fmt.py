"""`p0trans fmt`: programs in the one layout."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from p0trans.cli.options import files_argument, read_sources, report_options
from p0trans.cli.output import put, report, unified
from p0trans.files import STANDARD_INPUT, as_written, write_all_atomically


@click.command("fmt", short_help="Lay programs out in the one way.")
@files_argument
@click.option("--check", is_flag=True, help="Change no file; exit 1 if one would be changed.")
@click.option("--diff", is_flag=True, help="Change no file; show what would be changed.")
@report_options
def command(files: tuple[str, ...], check: bool, diff: bool, format_: str, color: str) -> None:
    """Rewrite each FILE in the one layout that Phase 0 has; only white space changes.

    A FILE that is a folder stands for all .p0 files in it and below. `-` is standard input, whose
    layout goes to standard output. A file with a syntax error is left as it is.

    \b
    Examples:
      p0trans fmt rmsnorm.p0
      p0trans fmt --check model/
      p0trans fmt --diff model.p0
      p0trans fmt - < rmsnorm.p0

    Exit status: 0 when all is well, 1 when a file has a syntax error or cannot be read or written
    (with --check also when one would be changed).
    """
    from p0trans.syntax.format import FormatError, format_source

    sources, found = read_sources([path for file in files for path in _expanded(file)])
    changed = []
    for source in sources:
        try:
            after = replace(source, text=format_source(source))
        except FormatError as error:
            found += error.diagnostics
            continue
        if after.text != source.text:
            changed.append(after)
        if diff:
            put(unified(source.name, source.text, after.text))
        elif source.path is None and not check:
            put(as_written(after), encoding="utf-8")
    if not check and not diff:
        texts = {after.path: as_written(after) for after in changed if after.path is not None}
        trouble = write_all_atomically(texts)
        if trouble is not None:
            found.append(trouble)
            changed = []
    if found or format_ == "sarif":
        report(found, format_, color, err=True)
    if format_ == "text":
        verb = "would change" if check or diff else "changed"
        names = [after.name for after in changed if check or diff or after.path is not None]
        put("".join(f"{verb} {name}\n" for name in names), err=True)
    if found or (check and changed):
        raise click.exceptions.Exit(1)


def _expanded(file: str) -> Iterator[str]:
    """The files that an argument stands for."""
    if file == STANDARD_INPUT or not os.path.isdir(file):
        yield file
        return
    found = 0
    for folder, folders, names in os.walk(file, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        programs = [str(Path(folder, name)) for name in sorted(names) if name.endswith(".p0")]
        found += len(programs)
        yield from programs
    if not found:
        raise click.ClickException(f"there is no .p0 file in the folder '{file}'")


def _refuse(error: OSError) -> None:
    raise click.ClickException(f"the folder '{error.filename}' cannot be read: {error.strerror}")
