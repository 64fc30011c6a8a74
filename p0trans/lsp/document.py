"""A file as an editor sees it: its pieces where they stand now, and the names in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from lsprotocol.types import Position, Range

from p0trans.lsp.names import Kind, Name, names
from p0trans.lsp.positions import Encoding, offset_at, position_at, range_of
from p0trans.lsp.words import Word, words
from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed


class Piece:
    """A piece of a file; what is found out about it holds wherever it moves."""

    def __init__(self, parsed: Parsed, encoding: Encoding) -> None:
        self.parsed = parsed
        self.encoding = encoding

    @property
    def source(self) -> Source:
        return self.parsed.file.source

    @property
    def declarations(self) -> tuple[tree.Declaration, ...]:
        return self.parsed.file.declarations

    @cached_property
    def names(self) -> tuple[Name, ...]:
        return names(self.declarations)

    @cached_property
    def words(self) -> tuple[Word, ...]:
        return words(self.source, self.names, self.encoding)

    def definitions(self) -> Iterator[tree.Definition]:
        for declaration in self.declarations:
            if isinstance(declaration, tree.Definition):
                yield declaration


class Placed(NamedTuple):
    """A piece and the offset where it begins in its document."""

    piece: Piece
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.piece.source.text)

    def span(self, span: Span) -> Span:
        """A span of the piece as one of the document."""
        return Span(span.start + self.start, span.end + self.start)


class Occurrence(NamedTuple):
    """A name where it stands in a document."""

    placed: Placed
    name: Name

    @property
    def span(self) -> Span:
        return self.placed.span(self.name.span)


class Declared(NamedTuple):
    """A top-level declaration in the piece that holds it."""

    placed: Placed
    node: tree.Declaration


class Document:
    """A text with its address. `before` is the same file before an edit."""

    def __init__(
        self,
        uri: str,
        source: Source,
        parsed: tuple[Parsed, ...],
        encoding: Encoding,
        before: Document | None = None,
    ) -> None:
        self.uri = uri
        self.source = source
        self.parsed = parsed
        self.encoding = encoding
        known = {placed.piece.source: placed.piece for placed in (before.pieces if before else ())}
        self.pieces: list[Placed] = []
        start = 0
        for part in parsed:
            piece = known.get(part.file.source)
            if piece is None or piece.parsed is not part:
                piece = Piece(part, encoding)
            self.pieces.append(Placed(piece, start))
            start += len(piece.source.text)

    # --- positions ----------------------------------------------------------------------

    def offset(self, position: Position) -> int:
        return offset_at(self.source, position, self.encoding)

    def position(self, offset: int) -> Position:
        return position_at(self.source, offset, self.encoding)

    def range(self, span: Span) -> Range:
        return range_of(self.source, span, self.encoding)

    @property
    def whole(self) -> Range:
        return self.range(Span(0, len(self.source.text)))

    @cached_property
    def starts(self) -> dict[Source, Placed]:
        """The pieces by their sources."""
        return {placed.piece.source: placed for placed in self.pieces}

    def placed_at(self, offset: int) -> Placed:
        """The piece that `offset` is in."""
        index = bisect_right(self.pieces, offset, key=lambda placed: placed.start)
        return self.pieces[max(index - 1, 0)]

    # --- names --------------------------------------------------------------------------

    def name_at(self, offset: int) -> Occurrence | None:
        """The name that `offset` is in, or just behind."""
        placed = self.placed_at(offset)
        local = offset - placed.start
        held = placed.piece.names
        index = bisect_right(held, local, key=lambda name: name.span.start) - 1
        if index < 0 or held[index].span.end < local:
            return None
        return Occurrence(placed, held[index])

    def names(self) -> Iterator[Occurrence]:
        for placed in self.pieces:
            for name in placed.piece.names:
                yield Occurrence(placed, name)

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """What each top-level name stands for: the first declaration or import of it."""
        found: dict[str, Declared] = {}
        for placed in self.pieces:
            for node in placed.piece.declarations:
                for name in node.names if isinstance(node, tree.Import) else (node.name,):
                    found.setdefault(name.text, Declared(placed, node))
        return found

    def definition_at(self, offset: int) -> tuple[Placed, tree.Definition] | None:
        """The definition whose text `offset` is in."""
        placed = self.placed_at(offset)
        local = offset - placed.start
        for node in placed.piece.definitions():
            if node.span.start <= local <= node.span.end:
                return placed, node
        return None


def declared_kind(node: tree.Declaration) -> Kind:
    return Kind.MODULE if isinstance(node, tree.Module) else Kind.DEFINITION
