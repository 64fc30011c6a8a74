"""What is found while typing."""

from __future__ import annotations

from pathlib import Path

from lsprotocol import types as lsp

from p0trans.lsp.features.actions import actions
from p0trans.lsp.features.diagnostics import diagnostics
from p0trans.lsp.workspace import Workspace
from tests.lsp.editor import Folder

NORM = """/// Scales each row.
let scale [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  x * broadcast w [B, D]
"""
USE = """from norm import scale

let twice [B, D] (x : Tensor[F32, [B, D]]) (w : Tensor[F32, [D]]) : Tensor[F32, [B, D]] =
  let y = scale[B, D] x w in
  y + y
"""
MISMATCH = """let add [B, D] (x : Tensor[F32, [B, D]]) (y : Tensor[F32, [D]])
    : Tensor[F32, [B, D]] =
  x + y
"""


def codes(found: list[lsp.Diagnostic]) -> list[object]:
    return [diagnostic.code for diagnostic in found]


def test_while_typing(folder: Folder) -> None:
    assert folder.open("norm", NORM) == []
    wrong = folder.editor.change(folder.uri("norm"), NORM.replace("x * ", "x * * "))
    assert codes(wrong) == ["P0001"]
    assert folder.editor.change(folder.uri("norm"), NORM) == []


def test_what_is_shown(folder: Folder) -> None:
    (found,) = folder.open("add", MISMATCH)
    assert found.message == "`y` is [D] where [B, D] is needed: nothing is broadcast for you"
    assert found.severity is lsp.DiagnosticSeverity.Error
    assert found.source == "p0trans"
    assert found.range == lsp.Range(lsp.Position(2, 6), lsp.Position(2, 7))
    labels = {related.message for related in found.related_information or ()}
    assert "`y` is declared here" in labels


def test_warnings_and_notes(folder: Folder) -> None:
    found = folder.open("norm", NORM.replace("  x *", "  let a = x in\n  x *"))
    assert [(d.code, d.severity) for d in found] == [("P1111", lsp.DiagnosticSeverity.Warning)]


def test_an_unsaved_import_counts(folder: Folder) -> None:
    folder.write("norm", NORM)
    assert folder.open("use", USE) == []
    folder.open("norm", NORM)
    renamed = NORM.replace("let scale", "let scaled")
    found = folder.editor.change(folder.uri("norm"), renamed, awaited=folder.uri("use"))
    assert codes(found) == ["P1002"]
    assert folder.editor.close(folder.uri("norm"), awaited=folder.uri("use")) == []


def test_a_file_that_is_imported_and_wrong(folder: Folder) -> None:
    folder.write("norm", NORM.replace("broadcast w", "broadcast v"))
    assert folder.open("use", USE) == []
    assert codes(folder.editor.shown[folder.uri("norm")]) == ["P0101"]


def test_a_file_that_changes_on_disk(folder: Folder) -> None:
    assert lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES in folder.editor.registered
    assert codes(folder.open("use", USE)) == ["P1001"]
    folder.write("norm", NORM)
    assert folder.editor.tell(folder.uri("norm"), awaited=folder.uri("use")) == []


def test_errors_of_a_closed_importer_are_taken_back(folder: Folder) -> None:
    folder.write("norm", NORM.replace("broadcast w", "broadcast v"))
    folder.open("use", USE)
    assert folder.editor.shown[folder.uri("norm")] != []
    assert folder.editor.close(folder.uri("use"), awaited=folder.uri("norm")) == []


def test_quick_fixes(folder: Folder) -> None:
    (found,) = folder.open("add", MISMATCH)
    here = lsp.Range(found.range.start, found.range.start)
    params = lsp.CodeActionParams(folder.document("add"), here, lsp.CodeActionContext([found]))
    offered = folder.editor.wait(folder.editor.client.text_document_code_action_async(params))
    assert offered is not None
    first = offered[0]
    assert isinstance(first, lsp.CodeAction)
    assert (first.title, first.kind, first.is_preferred) == (
        "broadcast it to [B, D]",
        lsp.CodeActionKind.QuickFix,
        True,
    )
    assert first.edit is not None
    assert first.edit.changes == {
        folder.uri("add"): (lsp.TextEdit(found.range, "broadcast y [B, D]"),)
    }


def test_no_fix_elsewhere() -> None:
    workspace = Workspace()
    workspace.put("untitled:add", MISMATCH)
    view = workspace.view("untitled:add")
    assert view is not None
    top = lsp.Position(0, 0)
    assert actions(view, lsp.Range(top, top)) == []


def test_a_file_is_found_by_whatever_path(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "there")
    (tmp_path / "there" / "norm.p0").write_text(NORM)
    workspace = Workspace()
    workspace.put((tmp_path / "there" / "norm.p0").as_uri(), NORM.replace("let scale", "let s"))
    uri = (tmp_path / "link" / "use.p0").as_uri()
    workspace.put(uri, USE)
    view = workspace.view(uri)
    assert view is not None
    assert codes(diagnostics(view)[uri]) == ["P1002"]
