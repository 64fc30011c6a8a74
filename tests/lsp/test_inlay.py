"""Types behind `let`s."""

from __future__ import annotations

from lsprotocol import types as lsp

from tests.lsp.editor import Folder
from tests.lsp.test_hover import TEXT


def hints(folder: Folder, text: str, last: int = 99) -> list[tuple[int, str]]:
    """The line and the label of each hint; each stands behind the `in` of its `let`."""
    folder.open("file", text)
    range_ = lsp.Range(lsp.Position(0, 0), lsp.Position(last, 0))
    params = lsp.InlayHintParams(folder.document("file"), range_)
    found = folder.editor.wait(folder.editor.client.text_document_inlay_hint_async(params)) or ()
    lines = text.split("\n")
    for hint in found:
        units = hint.position.character * 2
        before = lines[hint.position.line].encode("utf-16-le")[:units].decode("utf-16-le")
        assert before.endswith(" in")
        assert hint.kind is lsp.InlayHintKind.Type
    return [(hint.position.line, str(hint.label)) for hint in found]


def test_hints(folder: Folder) -> None:
    assert hints(folder, TEXT) == [
        (7, "F32[B, 1, D]"),
        (8, "F32[B, D], I32[B]"),
        (9, "F32[B, K]"),
    ]


def test_only_those_in_sight(folder: Folder) -> None:
    assert hints(folder, TEXT, last=8) == [(7, "F32[B, 1, D]")]


def test_not_where_the_type_is_written(folder: Folder) -> None:
    text = TEXT.replace("let n =", "let n : Tensor[F32, [B, 1, D]] =")
    assert [line for line, _ in hints(folder, text)] == [8, 9]


def test_beside_an_error(folder: Folder) -> None:
    text = TEXT.replace("-slice[axis=1", "-slice[axis=7")
    assert [line for line, _ in hints(folder, text)] == [7, 8]
