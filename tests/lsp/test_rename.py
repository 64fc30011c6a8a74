"""New names, and the ones that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.lsp.editor import Folder
from tests.lsp.test_navigation import NORM, USE


def rename(folder: Folder, at: lsp.TextDocumentPositionParams, new: str) -> dict[str, str]:
    """The texts after a rename, by the names of the files."""
    params = lsp.RenameParams(at.text_document, at.position, new)
    edit = folder.editor.wait(folder.editor.client.text_document_rename_async(params))
    assert edit is not None
    texts: dict[str, str] = {}
    for uri, edits in (edit.changes or {}).items():
        lines = folder.texts[uri].split("\n")
        for one in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character))[::-1]:
            line, start, end = one.range.start.line, one.range.start, one.range.end
            lines[line] = (
                lines[line][: start.character] + one.new_text + lines[line][end.character :]
            )
        texts[Path(uri).stem] = "\n".join(lines)
    return texts


def refused(folder: Folder, at: lsp.TextDocumentPositionParams, new: str) -> str:
    params = lsp.RenameParams(at.text_document, at.position, new)
    with pytest.raises(JsonRpcException) as refusal:
        folder.editor.wait(folder.editor.client.text_document_rename_async(params))
    assert refusal.value.code == lsp.LSPErrorCodes.RequestFailed.value
    return refusal.value.message


def test_a_local(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("let y", "let ‸y"))
    after = USE.replace("let y", "let why").replace("x + y", "x + why")
    assert rename(folder, at, "why") == {"use": after}


def test_one_scope_only(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("in x)", "in ‸x)"))
    assert rename(folder, at, "z") == {
        "use": USE.replace("(let x = x + x in x)", "(let z = x + x in z)")
    }


def test_a_shape_variable(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("w [B, D]\n", "w [B, ‸D]\n"))
    assert rename(folder, at, "Width") == {"norm": NORM.replace("D]", "Width]")}


def test_a_definition_across_files(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("let scale", "let ‸scale"))
    folder.open("use", USE)
    assert rename(folder, at, "stretch") == {
        "norm": NORM.replace("scale", "stretch"),
        "use": USE.replace("scale", "stretch"),
    }


def test_a_parameter_that_modules_speak_of(folder: Folder) -> None:
    at = folder.at("use", USE.replace("Scale(w", "Scale(‸w"))
    folder.open("norm", NORM)
    after = NORM.replace("(w :", "(gain :").replace("broadcast w", "broadcast gain")
    assert rename(folder, at, "gain") == {
        "norm": after.replace("param w", "param gain"),
        "use": USE.replace("Scale(w", "Scale(gain"),
    }


def test_a_module(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("module Scale", "module ‸Scale"))
    folder.open("use", USE)
    assert rename(folder, at, "Gain") == {
        "norm": NORM.replace("Scale", "Gain"),
        "use": USE.replace("Scale", "Gain"),
    }


@pytest.mark.parametrize("new", ["let", "inf", "1x", "a b", "", "a-b", "é", " y", "Tensor"])
def test_what_is_no_name(folder: Folder, new: str) -> None:
    at = folder.at("norm", NORM.replace("let scale", "let ‸scale"))
    assert refused(folder, at, new) == f"`{new}` is not a name"


@pytest.mark.parametrize(
    ("place", "new", "message"),
    [
        # The `x` of the result would be taken for what `y` was.
        ("let ‸y =", "x", "`x` would be taken for something else in line 7 of "),
        # The definition is applied where the local would be in sight.
        ("(‸v :", "scale", "would be"),
        ("twice [‸B, D]", "D", "would be"),
        ("(‸x : Tensor", "v", "would be"),
        ("let ‸twice", "scale", "would be"),
        ("module ‸Twice", "twice", "would be"),
    ],
)
def test_what_would_mean_something_else(folder: Folder, place: str, new: str, message: str) -> None:
    folder.write("norm", NORM)
    assert place.replace("‸", "") in USE
    at = folder.at("use", USE.replace(place.replace("‸", ""), place, 1))
    assert message in refused(folder, at, new)


def test_hiding_an_operation_that_is_used(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("(w :", "(‸w :"))
    assert "would be" in refused(folder, at, "broadcast")


def test_the_library_keeps_its_names(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("import rmsnorm", "import ‸rmsnorm"))
    assert refused(folder, at, "norm") == "`rmsnorm` belongs to the standard library"
    prepared = folder.editor.wait(
        folder.editor.client.text_document_prepare_rename_async(
            lsp.PrepareRenameParams(at.text_document, at.position)
        )
    )
    assert prepared is None


def test_a_file_that_is_not_open(folder: Folder) -> None:
    folder.write("norm", NORM)
    at = folder.at("use", USE.replace("import scale", "import ‸scale"))
    assert "norm.p0: open it first" in refused(folder, at, "stretch")


def test_text_that_does_not_parse(folder: Folder) -> None:
    text = f"{NORM}\nlet more [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = scale[B x\n"
    at = folder.at("norm", text.replace("let scale", "let ‸scale"))
    assert "has a syntax error and speaks of `scale`" in refused(folder, at, "stretch")


def test_what_has_no_name(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("x * ", "x ‸* "))
    assert refused(folder, at, "y") == "there is nothing here that can be renamed"


def test_prepare(folder: Folder) -> None:
    at = folder.at("norm", NORM.replace("broadcast w", "broadcast ‸w"))
    prepared = folder.editor.wait(
        folder.editor.client.text_document_prepare_rename_async(
            lsp.PrepareRenameParams(at.text_document, at.position)
        )
    )
    assert prepared == lsp.Range(lsp.Position(1, 16), lsp.Position(1, 17))
