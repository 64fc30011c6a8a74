"""Whether emitted files are what their sources give, and when to look again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.source import Place, Source, Span

SOURCE_SUFFIX = ".p0"

_FIRST_LOOK = 100
"""Milliseconds until a watch that has begun says so; nothing earlier tells that it has."""


class WatchError(Exception):
    """Files cannot be watched; the message says why."""


class Stale(NamedTuple):
    """A file that is not what its source gives; `before` is None where there is none."""

    path: Path
    before: str | None
    after: str


def compare_files(texts: Mapping[Path, str]) -> tuple[list[Stale], list[Diagnostic]]:
    """The texts that differ from the file at their path, and what is wrong with those (P1204)
    that cannot be read.

    A checkout that rewrites line ends does not make a file stale; bytes that are not UTF-8 do.
    """
    stale: list[Stale] = []
    unreadable: list[Diagnostic] = []
    for path, text in texts.items():
        try:
            before = _read(path)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            place = Place(Source(str(path), ""), Span(0, 0))
            unreadable.append(diagnose("P1204", place, file=str(path), reason=reason))
            continue
        if before != text:
            stale.append(Stale(path, before, text))
    return stale, unreadable


def _read(path: Path) -> str | None:
    if path.exists() and not path.is_file():
        # Reading a pipe would wait for someone to write.
        raise OSError("it is not a regular file")
    try:
        return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n")
    except (FileNotFoundError, NotADirectoryError):
        return None


def occasions(folders: Sequence[Path]) -> Iterator[None]:
    """An item when the watch on `folders` and all below them has begun, and another whenever
    Phase 0 files there have changed. Raises WatchError."""
    for folder in folders:
        # The library would wait for a folder that may never be made.
        if not folder.is_dir():
            raise WatchError(f"there is no folder '{folder}' to watch")
    try:
        from watchfiles import watch
    except ImportError as error:
        message = "watching needs watchfiles: pip install 'p0trans[watch]'"
        raise WatchError(message) from error
    try:
        # Not the library's filter: it would hold back the first item where other files change.
        for number, changes in enumerate(
            watch(
                *folders,
                watch_filter=None,
                rust_timeout=_FIRST_LOOK,
                yield_on_timeout=True,
                ignore_permission_denied=True,
            )
        ):
            if number == 0 or any(path.endswith(SOURCE_SUFFIX) for _, path in changes):
                yield
    except (OSError, RuntimeError) as error:
        raise WatchError(f"the files cannot be watched: {error}") from error
