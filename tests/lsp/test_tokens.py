"""What each word is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from tests.lsp.editor import Folder
from tests.lsp.test_hover import TEXT

ROOT = Path(__file__).parents[2]


def tokens(
    folder: Folder, text: str, range_: lsp.Range | None = None
) -> list[tuple[str, str, tuple[str, ...]]]:
    """Each word with its type and modifiers, unpacked from what the protocol sends."""
    folder.open("file", text)
    client, document = folder.editor.client, folder.document("file")
    if range_ is None:
        answer = client.text_document_semantic_tokens_full_async(lsp.SemanticTokensParams(document))
    else:
        answer = client.text_document_semantic_tokens_range_async(
            lsp.SemanticTokensRangeParams(document, range_)
        )
    found = folder.editor.wait(answer)
    assert found is not None
    provider = folder.editor.capabilities.semantic_tokens_provider
    assert provider is not None
    lines = text.replace("\r\n", "\n").split("\n")
    result: list[tuple[str, str, tuple[str, ...]]] = []
    line = column = 0
    for at in range(0, len(found.data), 5):
        below, aside, length, type_, bits = found.data[at : at + 5]
        line, column = line + below, aside + (0 if below else column)
        raw = lines[line].encode("utf-16-le")[2 * column : 2 * (column + length)]
        names = [n for i, n in enumerate(provider.legend.token_modifiers) if bits >> i & 1]
        word = raw.decode("utf-16-le")
        result.append((word, provider.legend.token_types[type_], tuple(names)))
    return result


@pytest.mark.parametrize(
    "expected",
    [
        ("from", "keyword", ()),
        ("std", "namespace", ()),
        ("rmsnorm", "function", ()),
        ("/// All of them.", "comment", ()),
        ("(* 𝛼𝛽 *)", "comment", ()),
        ("halve", "function", ("declaration",)),
        ("B", "typeParameter", ("declaration",)),
        ("B", "typeParameter", ()),
        ("x", "parameter", ("declaration",)),
        ("x", "parameter", ()),
        ("F32", "type", ("defaultLibrary",)),
        ("2", "number", ()),
        ("flat", "variable", ("declaration",)),
        ("flat", "variable", ()),
        ("slice", "function", ("defaultLibrary",)),
        ("axis", "enumMember", ()),
        ("Halve", "class", ("declaration",)),
        ("param", "keyword", ()),
        ("w", "parameter", ()),
    ],
)
def test_words(folder: Folder, expected: tuple[str, str, tuple[str, ...]]) -> None:
    assert expected in tokens(folder, TEXT)


def test_every_name_and_keyword_is_there(folder: Folder) -> None:
    text = (ROOT / "examples" / "casebook" / "block.p0").read_text()
    found = [word for word, type_, _ in tokens(folder, text) if type_ not in ("comment", "number")]
    without_comments = re.sub("//.*", "", text)
    assert found == re.findall(r"(?<![0-9.])\b[A-Za-z_]\w*", without_comments)


def test_a_range_has_its_declarations_only(folder: Folder) -> None:
    range_ = lsp.Range(lsp.Position(13, 0), lsp.Position(13, 3))
    words = [word for word, _, _ in tokens(folder, TEXT, range_)]
    assert words[:2] == ["module", "Halve"]


def test_comments_of_several_lines(folder: Folder) -> None:
    text = "(* one\r\n  two *)\r\n" + TEXT.replace("\n", "\r\n")
    assert [word for word, type_, _ in tokens(folder, text) if type_ == "comment"][:2] == [
        "(* one",
        "  two *)",
    ]
