"""Beginning and end, and what goes wrong in between."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException

from tests.cli.support import invoke
from tests.lsp.editor import Folder, editor

ASTRAL = "(* 𝛼é *) let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + y\n"
Encoding = lsp.PositionEncodingKind


def test_shutdown_then_exit() -> None:
    with editor() as one:
        assert one.stop() == 0


def test_exit_without_shutdown() -> None:
    with editor() as one:
        assert one.leave() == 1


def test_the_client_is_gone() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "p0trans", "lsp"], input=b"", capture_output=True, check=False
    )
    assert run.returncode == 1
    assert b"Traceback" not in run.stderr


@pytest.mark.parametrize(
    ("offered", "chosen", "columns"),
    [
        (None, Encoding.Utf16, (68, 69)),
        ([Encoding.Utf8, Encoding.Utf16], Encoding.Utf8, (71, 72)),
        ([Encoding.Utf32], Encoding.Utf32, (67, 68)),
    ],
)
def test_positions_are_counted_as_agreed(
    offered: list[Encoding] | None, chosen: Encoding, columns: tuple[int, int], tmp_path: Path
) -> None:
    with editor(offered) as one:
        assert one.capabilities.position_encoding == chosen
        (found,) = one.open((tmp_path / "f.p0").as_uri(), ASTRAL)
        assert (found.range.start.character, found.range.end.character) == columns


def test_a_request_about_a_file_that_is_not_open(folder: Folder) -> None:
    params = lsp.DocumentSymbolParams(folder.document("nothing"))
    with pytest.raises(JsonRpcException, match=r"nothing\.p0 is not open"):
        folder.editor.wait(folder.editor.client.text_document_document_symbol_async(params))


def test_a_text_that_is_no_file(folder: Folder) -> None:
    uri = "untitled:Untitled-1"
    (found,) = folder.editor.open(uri, "from norm import rmsnorm\n")
    assert found.code == "P1004"
    (found,) = folder.editor.change(uri, ASTRAL)
    assert found.code == "P0101"


def test_what_is_missing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p0trans.cli.lsp.find_spec", lambda name: None)
    result = invoke("lsp")
    assert result.exit_code == 1
    assert "pip install 'p0trans[lsp]'" in result.output


def test_the_page_starts_the_server_that_there_is() -> None:
    page = (Path(__file__).parents[2] / "docs" / "editors.md").read_text()
    (block,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    server = tomllib.loads(block)["language-server"]["p0trans"]
    assert [server["command"], *server["args"]] == ["p0trans", "lsp"]
    assert 'cmd = { "p0trans", "lsp" }' in page
    assert invoke("lsp", "--help").exit_code == 0
