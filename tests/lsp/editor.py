"""An editor for the tests: pygls' own client, with a server of its own process behind it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

T = TypeVar("T")


class Editor:
    """Speaks with `p0trans lsp`; every answer is waited for."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.client = LanguageClient("editor", "0")
        self.shown: dict[str, list[lsp.Diagnostic]] = {}
        self.registered: list[str] = []
        self.logged: str | None = None
        self._waiting: dict[str, asyncio.Future[None]] = {}
        self._versions: dict[str, int] = {}

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)  # type: ignore[untyped-decorator]
        def on_diagnostics(params: lsp.PublishDiagnosticsParams) -> None:
            self.shown[params.uri] = list(params.diagnostics)
            waiting = self._waiting.get(params.uri)
            current = params.version is None or params.version == self._versions.get(params.uri)
            if waiting is not None and not waiting.done() and current:
                waiting.set_result(None)

        @self.client.feature(lsp.CLIENT_REGISTER_CAPABILITY)  # type: ignore[untyped-decorator]
        def on_register(params: lsp.RegistrationParams) -> None:
            self.registered += [item.method for item in params.registrations]

    def wait(self, answer: Awaitable[T]) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(_awaited(answer), 60))

    def start(self, encodings: Sequence[lsp.PositionEncodingKind] | None = None) -> None:
        """Start the server and agree on what both can do."""
        self.wait(self.client.start_io(sys.executable, "-m", "p0trans", "lsp"))
        self._log = self.loop.create_task(self._read_log())
        capabilities = lsp.ClientCapabilities(
            general=lsp.GeneralClientCapabilities(position_encodings=encodings),
            workspace=lsp.WorkspaceClientCapabilities(
                did_change_watched_files=lsp.DidChangeWatchedFilesClientCapabilities(
                    dynamic_registration=True
                )
            ),
        )
        result = self.wait(
            self.client.initialize_async(lsp.InitializeParams(capabilities, process_id=None))
        )
        self.client.initialized(lsp.InitializedParams())
        self.capabilities = result.capabilities

    def open(self, uri: str, text: str) -> list[lsp.Diagnostic]:
        """Open a document; what the server finds in it."""
        self._versions[uri] = 1
        item = lsp.TextDocumentItem(uri, "phase0", 1, text)
        return self._shown_after(
            uri, lambda: self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
        )

    def change(self, uri: str, text: str, awaited: str | None = None) -> list[lsp.Diagnostic]:
        """Type; what the server then finds in that document, or in the `awaited` one."""
        self._versions[uri] += 1
        params = lsp.DidChangeTextDocumentParams(
            lsp.VersionedTextDocumentIdentifier(self._versions[uri], uri),
            [lsp.TextDocumentContentChangeWholeDocument(text)],
        )
        return self._shown_after(
            awaited or uri, lambda: self.client.text_document_did_change(params)
        )

    def close(self, uri: str, awaited: str | None = None) -> list[lsp.Diagnostic]:
        """Close a document; what the server then finds in the `awaited` one, if any."""
        params = lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri))
        self._versions.pop(uri)
        if awaited is None:
            self.client.text_document_did_close(params)
            return []
        return self._shown_after(awaited, lambda: self.client.text_document_did_close(params))

    def tell(self, uri: str, awaited: str) -> list[lsp.Diagnostic]:
        """Say that a file has changed on disk."""
        event = lsp.FileEvent(uri, lsp.FileChangeType.Changed)
        params = lsp.DidChangeWatchedFilesParams([event])
        return self._shown_after(
            awaited, lambda: self.client.workspace_did_change_watched_files(params)
        )

    async def _read_log(self) -> bytes:
        stderr = self._process().stderr
        assert stderr is not None, "pygls reads it"
        return await stderr.read()

    def _process(self) -> asyncio.subprocess.Process:
        assert self.client._server is not None, "the server was started"
        return self.client._server

    def close_all(self) -> None:
        for uri in list(self._versions):
            self.close(uri)

    def _shown_after(self, uri: str, act: Callable[[], None]) -> list[lsp.Diagnostic]:
        self._waiting[uri] = self.loop.create_future()
        act()
        self.wait(self._waiting[uri])
        return self.shown[uri]

    def stop(self) -> int | None:
        """Take leave; the exit status of the server."""
        self.wait(self.client.shutdown_async(None))
        return self.leave()

    def leave(self) -> int | None:
        """Go without a shutdown."""
        self.client.exit(None)
        server = self._process()
        if server.stdin is not None:
            server.stdin.close()
        self.logged = self.wait(self._log).decode()
        self.wait(server.wait())
        self.wait(self.client.stop())  # type: ignore[no-untyped-call]
        return server.returncode


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer


@contextmanager
def editor(encodings: Sequence[lsp.PositionEncodingKind] | None = None) -> Iterator[Editor]:
    """An editor with a server that has been started."""
    loop = asyncio.new_event_loop()
    try:
        one = Editor(loop)
        one.start(encodings)
        yield one
        if one.logged is None:
            one.stop()
        assert "Traceback" not in (one.logged or "")
    finally:
        loop.close()


def marked(text: str) -> tuple[str, lsp.Position]:
    """A text without its `‸`, and where that stood, counted as UTF-16."""
    before, after = text.split("‸")
    line = before.rpartition("\n")[2]
    position = lsp.Position(before.count("\n"), len(line.encode("utf-16-le")) // 2)
    return before + after, position


class Folder:
    """A folder of programs that an editor looks at; each is named by its stem."""

    def __init__(self, editor: Editor, path: Path) -> None:
        self.editor = editor
        self.path = path
        self.texts: dict[str, str] = {}

    def uri(self, name: str) -> str:
        return (self.path / f"{name}.p0").as_uri()

    def document(self, name: str) -> lsp.TextDocumentIdentifier:
        return lsp.TextDocumentIdentifier(self.uri(name))

    def write(self, name: str, text: str) -> None:
        path = self.path / f"{name}.p0"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def open(self, name: str, text: str) -> list[lsp.Diagnostic]:
        self.texts[self.uri(name)] = text
        return self.editor.open(self.uri(name), text)

    def at(self, name: str, marked_text: str) -> lsp.TextDocumentPositionParams:
        """Open a text with a `‸` in it; the place where that stood."""
        text, position = marked(marked_text)
        self.open(name, text)
        return lsp.TextDocumentPositionParams(self.document(name), position)
