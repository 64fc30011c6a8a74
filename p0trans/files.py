"""Reading sources and writing what is emitted. Trouble with a file is a diagnostic."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic
from p0trans.source import Place, Source, Span

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "<stdin>"
LARGEST_SOURCE = 64 * 2**20
"""Bytes. What is larger was not written as a program, and may have no end, as a device."""

_BOM = b"\xef\xbb\xbf"


def read_source(path: str | Path) -> Source | Diagnostic:
    """The text of the file at `path`, or of standard input when `path` is `-`.

    Line ends are kept; a byte order mark is taken off and recorded. A file that is missing
    (P1201), a folder (P1202), not UTF-8 text (P1203) or not readable (P1204) gives a diagnostic.
    """
    if str(path) == STANDARD_INPUT:
        return _read_standard_input()
    name = str(path)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST_SOURCE + 1)
    except FileNotFoundError:
        return _trouble("P1201", name)
    except IsADirectoryError:
        return _trouble("P1202", name)
    except (OSError, ValueError) as error:
        return _trouble("P1204", name, reason=_reason(error))
    return _decoded(name, data, Path(path))


def as_written(source: Source) -> str:
    """The text of `source` with the byte order mark that its file had."""
    return f"\ufeff{source.text}" if source.bom else source.text


def write_atomically(
    path: Path, text: str | bytes, inputs: Sequence[Source] = ()
) -> Diagnostic | None:
    """Write one file: `write_all_atomically` of it alone."""
    return write_all_atomically({path: text}, inputs)


def write_all_atomically(
    texts: Mapping[Path, str | bytes], inputs: Sequence[Source] = ()
) -> Diagnostic | None:
    """Write every text as UTF-8, or bytes, to its path, or nothing; P1205 says what stood in the
    way.

    Each text goes to a temporary file beside its target first; when all are on disk they are
    renamed into place. A symbolic link stays and its target is replaced, a replaced file's mode is
    kept, missing folders are made, and a device or pipe is written to directly. A path that is one
    of `inputs` is refused. Only a rename that fails after others have succeeded, which takes
    someone else's hand in the same folder at that moment, leaves some targets replaced.
    """
    prepared: list[tuple[Path, Path]] = []
    made: list[Path] = []
    path = Path()
    try:
        for path, text in texts.items():
            target = Path(os.path.realpath(path))
            _refuse(target, inputs)
            data = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
            if target.exists() and not target.is_file():
                target.write_bytes(data)
                continue
            for folder in _missing_folders(target.parent):
                folder.mkdir(exist_ok=True)
                made.append(folder)
            temporary = target.with_name(f".p0trans-{os.urandom(6).hex()}.tmp")
            prepared.append((temporary, target))
            _write_temporary(temporary, data, target)
        for temporary, path in prepared:
            os.replace(temporary, path)
    except BaseException as error:
        _undo((temporary for temporary, _ in prepared), made)
        if isinstance(error, (OSError, ValueError)):
            return _trouble("P1205", str(path), reason=_reason(error))
        raise
    return None


def _read_standard_input() -> Source | Diagnostic:
    try:
        data = sys.stdin.buffer.read(LARGEST_SOURCE + 1)
    except (OSError, ValueError, AttributeError) as error:
        return _trouble("P1204", STANDARD_INPUT_NAME, reason=_reason(error))
    return _decoded(STANDARD_INPUT_NAME, data, None)


def _decoded(name: str, data: bytes, path: Path | None) -> Source | Diagnostic:
    if len(data) > LARGEST_SOURCE:
        limit = f"it is larger than {LARGEST_SOURCE // 2**20} MiB"
        return _trouble("P1204", name, reason=limit)
    bom = data.startswith(_BOM)
    try:
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        return _not_text(name, data, error.start + (len(_BOM) if bom else 0))
    if "\0" in text:
        return _not_text(name, data, data.index(0))
    return Source(name, text, path, bom)


def _not_text(name: str, data: bytes, offset: int) -> Diagnostic:
    line = data.count(b"\n", 0, offset) + 1
    return _trouble("P1203", name, byte=data[offset], offset=offset, line=line)


def _refuse(target: Path, inputs: Sequence[Source]) -> None:
    if target.is_dir():
        raise IsADirectoryError("it is a folder")
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if any(source.path and _same_file(source.path, target) for source in inputs):
        raise PermissionError("it is the source that is being translated")
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError("it is read-only")


def _same_file(one: Path, other: Path) -> bool:
    with suppress(OSError):
        return one.samefile(other)
    return False


def _missing_folders(folder: Path) -> list[Path]:
    return [each for each in (folder, *folder.parents) if not each.exists()][::-1]


def _write_temporary(temporary: Path, data: bytes, target: Path) -> None:
    # Opened by hand: the mode is then what the user's umask makes of it, as for any new file.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with open(os.open(temporary, flags, 0o666), "wb") as file:
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _undo(temporaries: Iterable[Path], made: Sequence[Path]) -> None:
    for temporary in temporaries:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[:1].lower() + error.strerror[1:]
    return str(error) or "it is closed"


def _trouble(code: str, name: str, **facts: Any) -> Diagnostic:
    return diagnose(code, Place(Source(name, ""), Span(0, 0)), file=name, **facts)
