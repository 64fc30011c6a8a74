"""The source map of an emitted file: a small JSON file that says where each line came from.

docs/source-map.md describes the format. Lines and columns count from 1, columns in characters.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from p0trans.driver import STD
from p0trans.emit.options import EmittedFile
from p0trans.ir.program import Program
from p0trans.source import Source, Span
from p0trans.tools.correspondence import matches

VERSION = 1
SUFFIX = ".map.json"


class MapError(Exception):
    """Why a text is no source map that can be used, as the end of a sentence."""


class Origin(NamedTuple):
    """A source: its path from the map's folder, or from the library's; empty for standard input.
    `digest` is that of `Source.digest`."""

    path: str
    library: bool
    digest: str

    def locate(self, folder: Path) -> Path:
        return (STD if self.library else folder) / self.path


class Area(NamedTuple):
    """A part of a source; `end_column` is the one behind its last character."""

    line: int
    column: int
    end_line: int
    end_column: int

    def span(self, source: Source) -> Span:
        """Raises IndexError where the source has no such line."""
        starts = source.line_starts
        return Span(
            starts[self.line - 1] + self.column - 1, starts[self.end_line - 1] + self.end_column - 1
        )


class Mapped(NamedTuple):
    """The emitted lines `first` to `last` and the parts of a source that they came from: those
    lines of `definition` are in the class `module`, where they are in one, compute the `let`s
    `lets` and were rewritten as `idioms`."""

    first: int
    last: int
    source: int
    definition: str
    module: str | None
    areas: tuple[Area, ...]
    lets: tuple[str, ...]
    idioms: tuple[str, ...]


class SourceMap(NamedTuple):
    """`digest` is the SHA-256 (hex) of the emitted text."""

    digest: str
    sources: tuple[Origin, ...]
    lines: tuple[Mapped, ...]

    def at(self, line: int) -> Mapped | None:
        return next((each for each in self.lines if each.first <= line <= each.last), None)


def text_digest(text: str) -> str:
    """The digest of an emitted text, whatever its line ends."""
    return Source("", text).digest()


def source_map(program: Program, file: EmittedFile, folder: Path) -> SourceMap:
    """The map of `file`, which `program` gave and which is written into `folder`."""
    units: dict[str, int] = {}
    lines = []
    for match in matches(program, file):
        source = program.unit(match.unit).source
        lines.append(
            Mapped(
                match.first,
                match.last,
                units.setdefault(match.unit, len(units)),
                match.definition.name,
                match.module,
                tuple(
                    Area(*source.position(span.start), *source.position(span.end))
                    for span in match.spans
                ),
                match.lets,
                match.idioms,
            )
        )
    sources = (program.unit(name).source for name in units)
    return SourceMap(
        text_digest(file.text),
        tuple(_origin(source, folder) for source in sources),
        tuple(lines),
    )


def _origin(source: Source, folder: Path) -> Origin:
    if source.path is None:
        return Origin("", False, source.digest())
    path = source.path.resolve()
    library = path.is_relative_to(STD.resolve())
    start = STD.resolve() if library else folder.resolve()
    return Origin(Path(os.path.relpath(path, start)).as_posix(), library, source.digest())


# --- JSON -------------------------------------------------------------------------------


def to_json(map_: SourceMap) -> str:
    """The map as JSON, a line for each entry, so that a change of the program is a small diff."""
    sources = [
        {"library" if each.library else "path": each.path, "sha256": each.digest}
        for each in map_.sources
    ]
    lines = [
        {
            "lines": [each.first, each.last],
            "source": each.source,
            "definition": each.definition,
            "module": each.module,
            "spans": each.areas,
            "lets": each.lets,
            "idioms": each.idioms,
        }
        for each in map_.lines
    ]
    return (
        "{\n"
        f'"version": {VERSION},\n'
        f'"sha256": "{map_.digest}",\n'
        f'"sources": {_listed(sources)},\n'
        f'"lines": {_listed(lines)}\n'
        "}\n"
    )


def _listed(items: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"


def from_json(text: str) -> SourceMap:
    """Raises MapError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MapError("is not JSON") from error
    if not isinstance(data, dict) or data.get("version") != VERSION:
        raise MapError(f"is no source map of version {VERSION}")
    try:
        sources = tuple(map(_read_origin, data["sources"]))
        lines = tuple(_read_lines(data["lines"], len(sources)))
        return SourceMap(str(data["sha256"]), sources, lines)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise MapError("is no source map: it lacks a part or has another one in its place") from (
            error
        )


def _read_origin(item: dict[str, Any]) -> Origin:
    library = "library" in item
    return Origin(str(item["library" if library else "path"]), library, str(item["sha256"]))


def _read_lines(items: list[dict[str, Any]], sources: int) -> Iterator[Mapped]:
    for item in items:
        first, last = map(int, item["lines"])
        if not 0 <= item["source"] < sources:
            raise ValueError(item["source"])
        yield Mapped(
            first,
            last,
            int(item["source"]),
            str(item["definition"]),
            None if item["module"] is None else str(item["module"]),
            tuple(_read_area(area) for area in item["spans"]),
            tuple(map(str, item["lets"])),
            tuple(map(str, item["idioms"])),
        )


def _read_area(numbers: list[Any]) -> Area:
    line, column, end_line, end_column = map(int, numbers)
    if min(line, column, end_line, end_column) < 1:
        raise ValueError(numbers)
    return Area(line, column, end_line, end_column)
