"""An earlier state of some sources: at a revision of git, or in another file."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from p0trans.checker import Found, Loader
from p0trans.driver import STD, load_import, locate_import
from p0trans.files import read_source
from p0trans.source import Source

_Before: TypeAlias = Callable[[Path], "str | None"]
"""The earlier text of a file by its path now; None where there was none."""


class HistoryError(Exception):
    """Why there is no earlier state, as one sentence."""


def earlier(sources: Sequence[Source], old: str) -> tuple[list[Source], Loader]:
    """The sources as they were, under their names and paths of now, and what loads their imports.

    `old` is a file, which then stands for the only source and has its imports beside it, or else a
    revision of git. A source that did not exist then is left out. Raises HistoryError.
    """
    before = _in_file(sources, Path(old)) if Path(old).is_file() else _in_git(sources, old)
    found = []
    for source in sources:
        assert source.path is not None
        text = before(source.path)
        if text is not None:
            found.append(Source(source.name, text, source.path))
    if not found:
        raise HistoryError(f"{', '.join(source.name for source in sources)}: not there in {old}")
    return found, _loader(before)


def _loader(before: _Before) -> Loader:
    def load(importer: Source, module: tuple[str, ...]) -> Found:
        imported = locate_import(importer, module)
        if imported.path is None or imported.path.is_relative_to(STD):
            return load_import(importer, module)
        text = before(imported.path)
        if text is None:
            return Found(imported.looked_for)
        return Found(imported.looked_for, Source(imported.name, text, imported.path))

    return load


def _in_file(sources: Sequence[Source], old: Path) -> _Before:
    if len(sources) != 1:
        raise HistoryError("a file is the earlier state of one source; several need a revision")
    now = sources[0].path
    assert now is not None

    def before(path: Path) -> str | None:
        place = old if path == now else old.parent / path.relative_to(now.parent)
        if path != now and not place.is_file():
            return None
        source = read_source(place)
        if not isinstance(source, Source):
            raise HistoryError(source.message)
        if path == now and not _is_program(source):
            raise HistoryError(f"{old} is no Phase 0 program: no definition in it can be read")
        return source.text

    return before


def _is_program(source: Source) -> bool:
    """Whether a text has a declaration, or is none so far; Python may have imports that parse."""
    from p0trans.syntax import tree
    from p0trans.syntax.parse import parse

    parsed = parse(source)
    declared = any(not isinstance(node, tree.Import) for node in parsed.file.declarations)
    return declared or not parsed.diagnostics


def _in_git(sources: Sequence[Source], revision: str) -> _Before:
    assert sources[0].path is not None
    folder = sources[0].path.parent
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^0")
    if commit is None:
        raise HistoryError(f"'{revision}' is neither a file nor a revision of git in {folder}")
    name = commit.decode("ascii").strip()

    def before(path: Path) -> str | None:
        data = _git(path.parent, "show", f"{name}:./{path.name}")
        try:
            return None if data is None else data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise HistoryError(f"{path} is not UTF-8 text in {revision}") from error

    return before


def _git(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it fails."""
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except OSError as error:
        raise HistoryError("git cannot be run") from error
    return done.stdout if done.returncode == 0 else None
