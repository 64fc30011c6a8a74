"""A text while it is being typed: the features answer at every point, from what is whole."""

from __future__ import annotations

from pathlib import Path

import pytest
from lsprotocol import types as lsp

from p0trans.lsp.features.actions import actions
from p0trans.lsp.features.completion import completion
from p0trans.lsp.features.diagnostics import diagnostics
from p0trans.lsp.features.formatting import formatting
from p0trans.lsp.features.hover import hover
from p0trans.lsp.features.inlay import inlay_hints
from p0trans.lsp.features.navigation import definition, highlights, references
from p0trans.lsp.features.outline import outline
from p0trans.lsp.features.rename import RenameError, prepare_rename, rename
from p0trans.lsp.features.tokens import semantic_tokens
from p0trans.lsp.workspace import Workspace

TEXT = (Path(__file__).parents[2] / "examples" / "casebook" / "block.p0").read_text()
URI = "untitled:block"


def whole_before(end: int) -> list[str]:
    """The definitions of TEXT that are complete before `end`."""
    starts = [TEXT.index(f"let {name} ") for name in ("rmsnorm", "swiglu_ffn")]
    ends = [TEXT.index("\n\n", start) for start in starts]
    names = ("rmsnorm", "swiglu_ffn")
    return [name for name, last in zip(names, ends, strict=True) if last < end]


@pytest.mark.parametrize("end", range(0, len(TEXT), 61))
def test_every_feature_at_the_end_of_what_is_typed(end: int) -> None:
    workspace = Workspace()
    for text in (TEXT[:end], TEXT[:end] + "(" + TEXT[end + 9 :], TEXT[:end] + TEXT[end + 9 :]):
        workspace.put(URI, text)
        view = workspace.view(URI)
        assert view is not None
        document = view.document
        assert "".join(placed.piece.source.text for placed in document.pieces) == text
        names = [symbol.name for symbol in outline(document)]
        assert [name for name in whole_before(end) if name not in names] == []
        data = semantic_tokens(workspace, document).data
        assert len(data) % 5 == 0
        assert all(part >= 0 for part in data)
        formatting(document)
        for found in diagnostics(view)[URI]:
            actions(view, found.range)
        inlay_hints(view, document.whole)
        at = document.position(end)
        for position in (at, lsp.Position(at.line + 1, 3)):
            completion(workspace, view, position)
            hover(workspace, view, position)
            definition(workspace, view, position)
            references(workspace, view, position, declaration=True)
            highlights(workspace, view, position)
            if prepare_rename(workspace, view, position) is not None:
                try:
                    edit = rename(workspace, view, position, "fresh_name")
                except RenameError:
                    continue
                assert edit.changes
