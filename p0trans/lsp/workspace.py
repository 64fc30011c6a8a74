"""The files that are open, what they import, and what checking each has found."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

from lsprotocol.types import Location
from pygls.uris import from_fs_path, to_fs_path

from p0trans.checker import Checked, Found
from p0trans.checker.definition import CheckedDefinition
from p0trans.driver import STD, check_sources, load_import, locate_import
from p0trans.lsp.document import Document, Placed
from p0trans.lsp.memo import Memo, Texts
from p0trans.lsp.positions import Encoding
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree

# A file by its resolved path; a text that is no file by its address.
Key: TypeAlias = str

_LIBRARY = STD.resolve()

_DEEPEST = 3
"""How many folders down files to import are looked for: an editor may be open on a whole disk."""


class View:
    """One open document and what its last check has found in it and in what it imports.

    `asked` are the files that the check looked for, found or not.
    """

    def __init__(
        self,
        documents: dict[Key, Document],
        key: Key,
        checked: Checked,
        memo: Memo,
        asked: set[Key],
    ) -> None:
        self.documents = documents
        self.document = documents[key]
        self.checked = checked
        self.asked = asked
        self._memo = memo

    def typed(self, placed: Placed, node: tree.Definition) -> CheckedDefinition | None:
        """What the check has found out about a definition."""
        return self._memo.typed(placed.piece.source, node)

    def locate(self, place: Place) -> tuple[Document, Span]:
        """The document that a place is in, and its span there."""
        for document in self.documents.values():
            placed = document.starts.get(place.source)
            if placed is not None:
                return document, placed.span(place.span)
        # What is said of a file as a whole has no piece.
        return self.document, Span(0, 0)

    def location(self, place: Place) -> Location:
        document, span = self.locate(place)
        return Location(document.uri, document.range(span))


class _Open(NamedTuple):
    """An open document as the editor has it."""

    uri: str
    source: Source
    memo: Memo


class Workspace:
    """What an editor has open. It is told of changes and asked for documents and views."""

    def __init__(self, encoding: Encoding = Encoding.UTF_16) -> None:
        self.encoding = encoding
        self._texts = Texts()
        self._open: dict[Key, _Open] = {}
        self._documents: dict[Key, Document] = {}
        self._views: dict[Key, View] = {}

    # --- what the editor says -----------------------------------------------------------

    def put(self, uri: str, text: str) -> None:
        """A document was opened, or has a new text."""
        key = key_of(uri)
        path = None if to_fs_path(uri) is None else Path(key)
        held = self._open.get(key)
        memo = Memo(self._texts) if held is None else held.memo
        self._open[key] = _Open(uri, Source(_name(key), text, path), memo)
        self._forget(key)

    def close(self, uri: str) -> None:
        """The file on disk counts again."""
        key = key_of(uri)
        self._open.pop(key, None)
        self._views.pop(key, None)
        self._forget(key)

    def changed_on_disk(self, uri: str) -> None:
        self._forget(key_of(uri))

    def _forget(self, changed: Key) -> None:
        """Drop the views that have looked at a file."""
        for key, view in list(self._views.items()):
            if key == changed or changed in view.asked:
                del self._views[key]

    def copy(self) -> Workspace:
        """The same files, to try a change on."""
        copy = Workspace(self.encoding)
        copy._texts = self._texts.copy()
        for held in self._open.values():
            copy.put(held.uri, held.source.text)
        return copy

    # --- what is asked ------------------------------------------------------------------

    @property
    def opened(self) -> tuple[str, ...]:
        """The addresses of the open documents."""
        return tuple(held.uri for held in self._open.values())

    def unchecked(self) -> tuple[str, ...]:
        """The open documents that have to be checked again."""
        return tuple(held.uri for key, held in self._open.items() if key not in self._views)

    def view(self, uri: str) -> View | None:
        """The document, checked; None when it is not open."""
        key = key_of(uri)
        held = self._open.get(key)
        if held is None:
            return None
        if key not in self._views:
            self._views[key] = self._check(key, held)
        return self._views[key]

    def views(self) -> Iterator[View]:
        for uri in self.opened:
            view = self.view(uri)
            if view is not None:
                yield view

    def document(self, source: Source) -> Document:
        """The document of a file's present text."""
        key = source.name if source.path is None else str(source.path)
        opened = self._open.get(key)
        uri = from_fs_path(key) if opened is None else opened.uri
        assert uri is not None, "what is not open is a file"
        before = self._documents.get(key)
        parsed = self._texts.parse(source)
        if before is None or before.parsed is not parsed or before.uri != uri:
            self._documents[key] = Document(uri, source, parsed, self.encoding, before)
        return self._documents[key]

    def documents(self) -> list[Document]:
        """The open documents and all that they import, each once."""
        found: dict[Key, Document] = {}
        for view in self.views():
            found |= view.documents
        return list(found.values())

    def is_open(self, document: Document) -> bool:
        return key_of(document.uri) in self._open

    def is_library(self, document: Document) -> bool:
        """Whether it is a file of the standard library."""
        return document.source.path is not None and _is_library(document.source.path)

    def imported(self, document: Document, module: Sequence[str]) -> Document | None:
        """The document that an import leads to, in a document of a view that is up to date."""
        path = locate_import(document.source, tuple(module)).path
        key = "" if path is None else str(path.resolve())
        held = (view.documents.get(key) for view in self._views.values())
        return next((found for found in held if found is not None), None)

    def find(self, document: Document, module: Sequence[str]) -> Document | None:
        """The document of a file that `document` does not import, or not yet."""
        found = self._load(document.source, tuple(module)).source
        return None if found is None else self.document(found)

    def modules(self, document: Document) -> list[str]:
        """What a file can import: the files beside it and the standard library, dotted."""
        beside = [] if document.source.path is None else [(document.source.path.parent, "")]
        return sorted(
            prefix + ".".join(path.relative_to(folder).with_suffix("").parts)
            for folder, prefix in (*beside, (STD, "std."))
            for path in _sources(folder)
            if path != document.source.path
        )

    def _check(self, key: Key, held: _Open) -> View:
        asked: set[Key] = set()

        def loader(importer: Source, module: tuple[str, ...]) -> Found:
            path = locate_import(importer, module).path
            if path is not None:
                asked.add(str(path.resolve()))
            return self._load(importer, module)

        held.memo.turn()
        checked = check_sources([held.source], loader=loader, work=held.memo)
        documents = [self.document(unit.source) for unit in checked.program.units]
        return View({key_of(d.uri): d for d in documents}, key, checked, held.memo, asked)

    def _load(self, importer: Source, module: tuple[str, ...]) -> Found:
        """An imported file as the editor has it, else as it is on disk."""
        imported = locate_import(importer, module)
        if imported.path is None:
            return Found(imported.looked_for)
        key = str(imported.path.resolve())
        if key in self._open:
            return Found(imported.looked_for, self._open[key].source)
        found = load_import(importer, module)
        if found.source is None:
            return found
        return found._replace(source=replace(found.source, name=_name(key), path=Path(key)))


def key_of(uri: str) -> Key:
    path = to_fs_path(uri)
    return uri if path is None else str(Path(path).resolve())


def _name(key: Key) -> str:
    """What messages call a file."""
    path = Path(key)
    return f"std/{path.relative_to(_LIBRARY).as_posix()}" if _is_library(path) else key


def _is_library(path: Path) -> bool:
    return path.is_relative_to(_LIBRARY)


def _sources(folder: Path) -> Iterator[Path]:
    """The programs in a folder and the folders in it that an import can name."""
    for parent, folders, files in os.walk(folder):
        deep = len(Path(parent).relative_to(folder).parts)
        folders[:] = [name for name in folders if name.isidentifier() and deep < _DEEPEST]
        for name in files:
            path = Path(parent, name)
            if path.suffix == ".p0" and path.stem.isidentifier():
                yield path
