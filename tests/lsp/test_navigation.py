"""Going to a declaration, and to the uses."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from p0trans.driver import STD
from tests.lsp.editor import Folder, marked

NORM = """let scale [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  x * broadcast w [B, D]

module Scale = scale with
  param w = ones
"""
USE = """from norm import scale, Scale
from std.norm import rmsnorm

let twice [B, D] (x : Tensor[F32, [B, D]]) (v : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  let x = scale[B, D] x v in
  let y = (let x = x + x in x) in
  x + y

module Twice = twice with
  sub inner = Scale(w = v)
"""


def go(folder: Folder, text: str) -> tuple[str, int, int] | None:
    """The name of the file and the position where a marked name of USE is declared."""
    at = folder.at("use", text)
    found = folder.editor.wait(
        folder.editor.client.text_document_definition_async(
            lsp.DefinitionParams(at.text_document, at.position)
        )
    )
    if found is None:
        return None
    assert isinstance(found, lsp.Location)
    start = found.range.start
    return Path(found.uri).name, start.line, start.character


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("scale[B, D] ‸x v", ("use.p0", 3, 18)),
        ("(let x = ‸x + x", ("use.p0", 4, 6)),
        ("x + x in ‸x)", ("use.p0", 5, 15)),
        ("  ‸x + y", ("use.p0", 4, 6)),
        ("x + ‸y", ("use.p0", 5, 6)),
        ("scale[‸B, D]", ("use.p0", 3, 11)),
        ("let x = ‸scale[", ("norm.p0", 0, 4)),
        ("import scale‸,", ("norm.p0", 0, 4)),
        ("inner = ‸Scale", ("norm.p0", 3, 7)),
        ("Scale(‸w = v)", ("norm.p0", 0, 44)),
        ("w = ‸v)", ("use.p0", 3, 44)),
        ("Twice = ‸twice", ("use.p0", 3, 4)),
        ("from ‸norm", ("norm.p0", 0, 0)),
        ("from std.‸norm", ("norm.p0", 0, 0)),
    ],
)
def test_to_the_declaration(folder: Folder, place: str, expected: tuple[str, int, int]) -> None:
    folder.write("norm", NORM)
    assert place.replace("‸", "") in USE
    assert go(folder, USE.replace(place.replace("‸", ""), place, 1)) == expected


def test_into_the_library(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("import rmsnorm", "import ‸rmsnorm"))
    found = folder.editor.wait(
        folder.editor.client.text_document_definition_async(
            lsp.DefinitionParams(at.text_document, at.position)
        )
    )
    assert isinstance(found, lsp.Location)
    assert found.uri == (STD / "norm.p0").as_uri()


def test_nowhere(folder: Folder) -> None:
    assert go(folder, USE.replace("  x + y", "  x + ‸z")) is None


def references(
    folder: Folder, at: lsp.TextDocumentPositionParams, *, declaration: bool = True
) -> list[tuple[str, int, int]]:
    params = lsp.ReferenceParams(lsp.ReferenceContext(declaration), at.text_document, at.position)
    found = folder.editor.wait(folder.editor.client.text_document_references_async(params))
    return sorted(
        (Path(location.uri).stem, location.range.start.line, location.range.start.character)
        for location in found or ()
    )


def test_references_across_files(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("let scale", "let ‸scale"))
    folder.open("use", USE)
    declared = ("norm", 0, 4)
    used = [("norm", 3, 15), ("use", 0, 17), ("use", 4, 10)]
    assert references(folder, at) == [declared, *used]
    assert references(folder, at, declaration=False) == used


def test_references_of_a_parameter_in_modules(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("broadcast w", "broadcast ‸w"))
    folder.open("use", USE)
    assert references(folder, at) == [
        ("norm", 0, 44),
        ("norm", 1, 16),
        ("norm", 4, 8),
        ("use", 9, 20),
    ]


def test_references_of_an_operation(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("broadcast w", "‸broadcast w"))
    assert references(folder, at) == [("norm", 1, 6)]


def test_highlights_are_of_one_scope(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("in x)", "in ‸x)"))
    params = lsp.DocumentHighlightParams(at.text_document, at.position)
    found = folder.editor.wait(folder.editor.client.text_document_document_highlight_async(params))
    _, end = marked(USE.replace("in x)", "in ‸x)"))
    assert [h.range.start for h in found or ()] == [lsp.Position(5, 15), end]
