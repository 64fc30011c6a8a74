"""The declarations of a file as an outline."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from tests.lsp.editor import Folder

BLOCK = Path(__file__).parents[2] / "examples" / "casebook" / "block.p0"


def outline(folder: Folder, text: str) -> list[lsp.DocumentSymbol]:
    folder.open("file", text)
    params = lsp.DocumentSymbolParams(folder.document("file"))
    found = folder.editor.wait(folder.editor.client.text_document_document_symbol_async(params))
    return [symbol for symbol in found or () if isinstance(symbol, lsp.DocumentSymbol)]


def test_outline(folder: Folder) -> None:
    text = BLOCK.read_text()
    found = outline(folder, text)
    names = ["rmsnorm", "swiglu_ffn", "transformer_block_partial"]
    modules = ["RMSNorm", "SwiGLU", "TransformerBlockPartial"]
    assert [symbol.name for symbol in found] == names + modules
    assert [symbol.kind for symbol in found] == (
        [lsp.SymbolKind.Function] * 3 + [lsp.SymbolKind.Class] * 3
    )
    assert found[0].detail == "Tensor[F32, [B, S, D]]"
    assert [child.name for child in found[0].children or ()] == ["mean_sq", "rstd", "normed"]
    assert [child.name for child in found[5].children or ()] == ["norm", "ffn"]
    lines = text.splitlines()
    for symbol in found:
        start = symbol.selection_range.start
        assert lines[start.line][start.character :].startswith(symbol.name)
        assert symbol.range.start <= start <= symbol.range.end


def test_text_that_does_not_parse_keeps_the_rest(folder: Folder) -> None:
    text = BLOCK.read_text().replace("let swiglu_ffn [B, S, D, H]", "let swiglu_ffn [B, S D, H")
    found = outline(folder, text)
    assert [symbol.name for symbol in found][:3] == [
        "rmsnorm",
        "swiglu_ffn",
        "transformer_block_partial",
    ]
    assert len(found) == 6


def test_an_empty_file(folder: Folder) -> None:
    assert outline(folder, "") == []
