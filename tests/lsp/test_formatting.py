"""The one layout, asked for by an editor."""

from __future__ import annotations

from lsprotocol import types as lsp

from tests.lsp.editor import Folder

LAID_OUT = """/// Twice.
let twice [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  let y = x + x in
  y
"""


def formatted(folder: Folder, text: str) -> list[lsp.TextEdit]:
    folder.open("file", text)
    params = lsp.DocumentFormattingParams(folder.document("file"), lsp.FormattingOptions(2, True))
    found = folder.editor.wait(folder.editor.client.text_document_formatting_async(params))
    return list(found or ())


def test_formatting(folder: Folder) -> None:
    text = LAID_OUT.replace("let y = x + x in", "let y=x+x   in")
    (edit,) = formatted(folder, text)
    assert edit.new_text == LAID_OUT
    assert edit.range == lsp.Range(lsp.Position(0, 0), lsp.Position(4, 0))


def test_nothing_to_do(folder: Folder) -> None:
    assert formatted(folder, LAID_OUT) == []


def test_text_that_does_not_parse_is_left_alone(folder: Folder) -> None:
    assert formatted(folder, LAID_OUT.replace(" in", "").replace("x + x", "x+(")) == []
