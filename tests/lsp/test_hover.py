"""What is said of the thing under the cursor."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from p0trans.ops import CALLABLE, INFIX
from tests.lsp.editor import Folder, marked

TEXT = """from std.norm import rmsnorm

/// Halves the heads.
/// All of them.
let halve [B, D, K] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) (eps : Tensor[F32, []])
    : (Tensor[F32, [B, K]], Tensor[I32, [B]])
    where D == 2 * K =
  let n = rmsnorm[B, 1, D] (reshape x [B, 1, D]) w eps in
  let (flat, index) = (reshape n [B, D], iota[I32, axis=0] [B]) in
  (* 𝛼𝛽 *) let top = -slice[axis=1, start=0, stop=K] flat in
  (top * top, index)

module Halve = halve with
  param w = ones
"""


def said(folder: Folder, text: str) -> str | None:
    at = folder.at("halve", text)
    hover = folder.editor.wait(
        folder.editor.client.text_document_hover_async(
            lsp.HoverParams(at.text_document, at.position)
        )
    )
    if hover is None:
        return None
    assert isinstance(hover.contents, lsp.MarkupContent)
    return hover.contents.value


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("(reshape ‸n [B, D]", "n : Tensor[F32, [B, 1, D]]"),
        ("let ‸top =", "top : Tensor[F32, [B, K]]"),
        ("let (flat, ‸index)", "index : Tensor[I32, [B]]"),
        ("let (‸flat, ", "flat : Tensor[F32, [B, D]]"),
        ("let halve [B, D, K] (‸x :", "parameter of `halve`"),
        ("let n = ‸rmsnorm[", "let rmsnorm ["),
        ("let n = ‸rmsnorm[", "here: `Tensor[F32, [B, 1, D]]`"),
        ("= -‸slice[", CALLABLE["slice"].doc),
        ("= -‸slice[", "here: `Tensor[F32, [B, K]]`"),
        ("(top ‸* top", INFIX["*"].doc),
        ("let top = ‸-slice", "here: `Tensor[F32, [B, K]]`"),
        ("where D == 2 * ‸K", "`D == 2*K`"),
        ("where ‸D ==", "`D = x.shape[1]`"),
        ("(x : Tensor[‸F32", "torch.float32"),
        ("module Halve = ‸halve", "Halves the heads.\nAll of them."),
        ("module ‸Halve", "module Halve = halve with"),
        ("param ‸w =", "w : Tensor[F32, [D]]"),
        ("from std.‸norm", "std/norm.p0"),
        ("import ‸rmsnorm", "let rmsnorm ["),
    ],
)
def test_hover(folder: Folder, place: str, expected: str) -> None:
    assert place.replace("‸", "") in TEXT
    text = TEXT.replace(place.replace("‸", ""), place, 1)
    assert expected in (said(folder, text) or "")


@pytest.mark.parametrize("place", ["1‸, D] (reshape", "module Halve ‸= ", "(* 𝛼‸𝛽 *)"])
def test_nothing_to_say(folder: Folder, place: str) -> None:
    assert said(folder, TEXT.replace(place.replace("‸", ""), place, 1)) is None


def test_beside_an_error(folder: Folder) -> None:
    """What could be typed has its type, in the definition of the error and in the others."""
    text = TEXT.replace("let top", "let wrong = flat + n in\n  let top")
    assert "n : Tensor[F32, [B, 1, D]]" in (
        said(folder, text.replace("flat + n", "flat + ‸n")) or ""
    )


def test_beside_text_that_does_not_parse(folder: Folder) -> None:
    text = f"{TEXT}\nlet broken [B] (x : Tensor[F32, [B]]) : = \n"
    at = text.replace("(top * top", "(‸top * top")
    assert "top : Tensor[F32, [B, K]]" in (said(folder, at) or "")


def test_the_range_is_counted_in_utf_16(folder: Folder) -> None:
    at = folder.at("halve", TEXT.replace("let top", "let ‸top"))
    hover = folder.editor.wait(
        folder.editor.client.text_document_hover_async(
            lsp.HoverParams(at.text_document, at.position)
        )
    )
    _, position = marked(TEXT.replace("let top", "let ‸top"))
    assert hover is not None
    assert hover.range == lsp.Range(position, lsp.Position(position.line, position.character + 3))
