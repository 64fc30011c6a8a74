"""What could be written at the cursor."""

from __future__ import annotations

import pytest
from lsprotocol import types as lsp

from p0trans.checker.modules import INITIALIZERS
from p0trans.dtypes import DTYPES
from p0trans.ops import CALLABLE
from tests.lsp.editor import Folder
from tests.lsp.test_navigation import NORM

USE = """from norm import scale, Scale

let thrice [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  x + x + x

let twice [B, D] (x : Tensor[F32, [B, D]]) (v : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  let first = scale[B, D] x v in
  let second = (let inner = first * first in inner) in
  let third = reduce[mean, axis=1] second in
  second + first

module Twice = twice with
  sub inner = Scale(w = v)

let later [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x
"""


def items(folder: Folder, text: str) -> list[lsp.CompletionItem]:
    folder.write("norm", NORM)
    at = folder.at("use", text)
    answer = folder.editor.client.text_document_completion_async(
        lsp.CompletionParams(at.text_document, at.position)
    )
    found = folder.editor.wait(answer)
    assert isinstance(found, list | tuple)
    return list(found)


def offered(folder: Folder, text: str) -> list[str]:
    return [item.label for item in items(folder, text)]


def at(place: str, before: str = "", text: str = USE) -> str:
    """`text` with `before` (or the place without its mark) replaced by the marked place."""
    plain = before or place.replace("‸", "")
    assert plain in text
    return text.replace(plain, place, 1)


def test_values_the_nearest_first(folder: Folder) -> None:
    found = offered(folder, at("second + ‸", "second + first"))
    nearest = ["third", "second", "first", "x", "v", "thrice", "scale"]
    assert found[: len(nearest)] == nearest
    assert "inner" not in found
    assert "later" not in found
    assert "twice" not in found
    assert {*CALLABLE, "const"} <= set(found)
    assert {"not", "inf", "true", "false"} <= set(found)


def test_in_order_and_with_types(folder: Folder) -> None:
    found = items(folder, at("second + ‸first"))
    by_label = {item.label: item for item in found}
    assert by_label["third"].detail == "Tensor[F32, [B]]"
    assert by_label["v"].detail == "Tensor[F32, [D]]"
    assert by_label["reduce"].detail == CALLABLE["reduce"].form
    assert by_label["scale"].detail == "scale[B, D] x w"
    assert [item.sort_text for item in found] == sorted(item.sort_text or "" for item in found)


@pytest.mark.parametrize(
    ("place", "before", "expected"),
    [
        ("(let inner = first * ‸first in", "", ["first", "x", "v", "thrice"]),
        ("let first = ‸scale", "", ["x", "v", "thrice", "scale"]),
        ("in ‸inner)", "", ["inner", "first", "x", "v"]),
        # What is typed does not parse yet.
        ("  let fourth = exp (‸\n  second", "  second", ["third", "second", "first"]),
        ("  let fourth = rs‸\n  second", "  second", ["third", "second", "first"]),
    ],
)
def test_values_by_scope(folder: Folder, place: str, before: str, expected: list[str]) -> None:
    assert offered(folder, at(place, before))[: len(expected)] == expected


@pytest.mark.parametrize(
    ("place", "before", "expected"),
    [
        ("(v : Tensor[‸", "(v : Tensor[F32", [*DTYPES]),
        ("(v : Tensor[F32, [‸]])", "(v : Tensor[F32, [D]])", ["B", "D"]),
        ("(v : Tensor[F32, [B, ‸]])", "(v : Tensor[F32, [D]])", ["B", "D"]),
        ("(v : ‸)", "(v : Tensor[F32, [D]])", ["Tensor"]),
        ("scale[‸", "scale[B, D]", ["B", "D"]),
        ("scale[B, ‸", "scale[B, D]", ["B", "D"]),
        ("reduce[‸", "reduce[mean, axis=1]", [*CALLABLE["reduce"].attributes[0].choices, "axis="]),
        ("= broadcast x [‸] in", "= scale[B, D] x v in", ["B", "D"]),
        ("= iota[‸", "= scale[B, D] x v in", [*DTYPES, "axis="]),
        ("= cast[‸] x in", "= scale[B, D] x v in", [*DTYPES]),
        ("= slice[axis=0, start=0, stop=‸", "= scale[B, D] x v in", ["B", "D"]),
        ("D]] where ‸", "D]] =\n  let first", ["B", "D"]),
        ("let ‸", "let first", []),
        ("module Twice = ‸", "module Twice = twice", ["twice", "thrice", "scale"]),
        ("with\n  param ‸", "with\n", ["x", "v"]),
        ("with\n  param v = ‸", "with\n", [*INITIALIZERS]),
        ("sub inner = ‸", "sub inner = Scale(w = v)", ["Scale"]),
        ("Scale(‸", "Scale(w = v)", ["x", "w"]),
        ("Scale(w = ‸", "Scale(w = v)", ["x", "v"]),
        ("v)\n‸\nlet later", "v)\n\nlet later", ["buffer", "const", "from", "let", "module"]),
        ("from norm import ‸", "from norm import scale, Scale", ["scale", "Scale"]),
        ("from norm import scale, ‸", "from norm import scale, Scale", ["Scale"]),
    ],
)
def test_by_place(folder: Folder, place: str, before: str, expected: list[str]) -> None:
    found = offered(folder, at(place, before))
    assert found[: len(expected)] == expected
    if not expected:
        assert found == []


def test_files(folder: Folder) -> None:
    folder.write("deep/er", NORM)
    (folder.path / "not-a-name.p0").write_text(NORM)
    found = offered(folder, at("from ‸", "from norm import scale, Scale"))
    assert found[:2] == ["deep.er", "norm"]
    assert "std.norm" in found
    assert "use" not in found
    assert "not-a-name" not in found


def test_a_file_replaces_the_path_so_far(folder: Folder) -> None:
    found = items(folder, at("from std.no‸", "from norm import scale, Scale"))
    edit = next(item.text_edit for item in found if item.label == "std.norm")
    assert isinstance(edit, lsp.TextEdit)
    assert edit.range == lsp.Range(lsp.Position(0, 5), lsp.Position(0, 11))


@pytest.mark.parametrize(
    ("place", "before"),
    [
        ("// here ‸\n  second + first", "  second + first"),
        ("(* here ‸ *) second + first", "second + first"),
        ("axis=1‸]", "axis=1]"),
    ],
)
def test_nothing_in_comments_and_numbers(folder: Folder, place: str, before: str) -> None:
    assert offered(folder, at(place, before)) == []


def test_an_empty_file(folder: Folder) -> None:
    assert offered(folder, "‸") == ["from", "let", "module"]
