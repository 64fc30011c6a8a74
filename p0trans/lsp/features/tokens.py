"""What each word of a file is, for an editor to colour."""

from __future__ import annotations

from typing import Final

from lsprotocol import types as lsp

from p0trans.lsp.document import Document, Occurrence, Placed
from p0trans.lsp.names import Kind
from p0trans.lsp.symbols import resolve
from p0trans.lsp.words import Lexical, Word
from p0trans.lsp.workspace import Workspace

_Type = lsp.SemanticTokenTypes
_Modifier = lsp.SemanticTokenModifiers
_TYPES: Final = {
    Kind.SHAPE: _Type.TypeParameter,
    Kind.PARAMETER: _Type.Parameter,
    Kind.LOCAL: _Type.Variable,
    Kind.DEFINITION: _Type.Function,
    Kind.MODULE: _Type.Class,
    Kind.OPERATION: _Type.Function,
    Kind.DTYPE: _Type.Type,
    Kind.ATTRIBUTE: _Type.EnumMember,
    Kind.FILE: _Type.Namespace,
    Kind.PART: _Type.Property,
    Lexical.KEYWORD: _Type.Keyword,
    Lexical.NUMBER: _Type.Number,
    Lexical.COMMENT: _Type.Comment,
}
_LEGEND: Final = tuple(dict.fromkeys(_TYPES.values()))
_INDEX: Final = {what: _LEGEND.index(type_) for what, type_ in _TYPES.items()}
LEGEND: Final = lsp.SemanticTokensLegend(
    [type_.value for type_ in _LEGEND],
    [_Modifier.Declaration.value, _Modifier.DefaultLibrary.value],
)
_DECLARATION, _LIBRARY = 1, 2


def semantic_tokens(
    workspace: Workspace, document: Document, range_: lsp.Range | None = None
) -> lsp.SemanticTokens:
    """All words, or those of the pieces that `range_` touches, as the protocol packs them: each
    by its distance from the one before."""
    first, last = 0, len(document.source.text)
    if range_ is not None:
        first, last = document.offset(range_.start), document.offset(range_.end)
    data: list[int] = []
    line, column = 0, 0
    for placed in document.pieces:
        if placed.start > last or placed.end < first:
            continue
        top = document.position(placed.start).line
        for word in placed.piece.words:
            kind, modifiers = _meaning(workspace, document, placed, word)
            if kind not in _INDEX:
                continue
            below = top + word.line - line
            aside = word.column - (0 if below else column)
            data += (below, aside, word.length, _INDEX[kind], modifiers)
            line, column = top + word.line, word.column
    return lsp.SemanticTokens(data)


def _meaning(
    workspace: Workspace, document: Document, placed: Placed, word: Word
) -> tuple[Kind | Lexical, int]:
    name = word.what
    if isinstance(name, Lexical):
        return name, 0
    kind = name.kind
    if kind is Kind.TOP_LEVEL:
        symbol = resolve(workspace, document, Occurrence(placed, name))
        kind = Kind.UNKNOWN if symbol is None else symbol.kind
    library = kind is Kind.OPERATION or kind is Kind.DTYPE
    return kind, (_DECLARATION if name.declares else 0) | (_LIBRARY if library else 0)
