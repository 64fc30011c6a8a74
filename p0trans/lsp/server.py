"""The language server: what comes in goes to the workspace and to the features, which answer."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from p0trans import __version__
from p0trans.lsp.features.actions import actions
from p0trans.lsp.features.completion import completion
from p0trans.lsp.features.diagnostics import diagnostics
from p0trans.lsp.features.formatting import formatting
from p0trans.lsp.features.hover import hover
from p0trans.lsp.features.inlay import inlay_hints
from p0trans.lsp.features.navigation import definition, highlights, references
from p0trans.lsp.features.outline import outline
from p0trans.lsp.features.rename import RenameError, prepare_rename, rename
from p0trans.lsp.features.tokens import LEGEND, semantic_tokens
from p0trans.lsp.positions import Encoding
from p0trans.lsp.workspace import View, Workspace

_PAUSE = 0.01
"""Seconds without a change until the text is checked: a burst of changes is checked once."""


class Server(LanguageServer):
    """A server for one client. `was_shut_down` says that the client has taken its leave."""

    def __init__(self) -> None:
        # Whole texts: pygls ends lines where Python does, at more characters than the protocol.
        super().__init__(
            "p0trans", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Full
        )
        self.files = Workspace()
        self.was_shut_down = False
        self._published: dict[str, list[lsp.Diagnostic]] = {}
        self._pending: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        self.files = Workspace(Encoding(self.workspace.position_encoding))

    def view(self, document: lsp.TextDocumentIdentifier) -> View:
        view = self.files.view(document.uri)
        if view is None:
            raise JsonRpcException(
                f"{document.uri} is not open", lsp.ErrorCodes.InvalidParams.value
            )
        return view

    def put(self, uri: str) -> None:
        self.files.put(uri, self.workspace.get_text_document(uri).source)
        self.check_soon()

    def check_soon(self) -> None:
        if self._pending is not None:
            self._pending.cancel()
        self._pending = asyncio.get_running_loop().call_later(_PAUSE, self._publish)

    def _publish(self) -> None:
        """Check what has changed and send what was found: always for a file that has changed, for
        another when it is something else than before."""
        changed = self.files.unchecked()
        found = self._found()
        for uri in self._published.keys() - found.keys():
            found[uri] = []
        for uri, items in found.items():
            if uri in changed or items != self._published.get(uri, []):
                is_open = uri in self.files.opened
                version = self.workspace.get_text_document(uri).version if is_open else None
                self.text_document_publish_diagnostics(
                    lsp.PublishDiagnosticsParams(uri, items, version)
                )
        self._published = {uri: items for uri, items in found.items() if items}

    def _found(self) -> dict[str, list[lsp.Diagnostic]]:
        """The findings by file: of an open one those of its own check, warnings included; of
        another all that those have that import it."""
        found: dict[str, list[lsp.Diagnostic]] = {}
        for view in self.files.views():
            for uri, items in diagnostics(view).items():
                if uri == view.document.uri:
                    found[uri] = items
                elif uri not in self.files.opened:
                    known = found.setdefault(uri, [])
                    known += (item for item in items if item not in known)
        return found


class _Unexpected(logging.Filter):
    """Lets a log have what went wrong, and not what a request was answered with."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.exc_info is None or not isinstance(record.exc_info[1], JsonRpcException)


def serve() -> bool:
    """Serve one client on standard input and output; whether it has taken its leave."""
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_Unexpected())
    server = create_server()
    server.start_io()
    return server.was_shut_down


def create_server() -> Server:
    """A server that has not been started."""
    server = Server()
    _follow_texts(server)
    _answer_positions(server)
    _answer_documents(server)
    _answer_renames(server)
    return server


def _follow_texts(server: Server) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.begin()

    @server.feature(lsp.INITIALIZED)
    def initialized(params: lsp.InitializedParams) -> None:
        workspace = server.client_capabilities.workspace
        watched = None if workspace is None else workspace.did_change_watched_files
        if watched is not None and watched.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions(
                [lsp.FileSystemWatcher("**/*.p0")]
            )
            server.client_register_capability(
                lsp.RegistrationParams(
                    [lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)]
                )
            )

    @server.feature(lsp.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.was_shut_down = True

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        server.put(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        server.put(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        server.files.close(params.text_document.uri)
        server.check_soon()

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: lsp.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.files.changed_on_disk(change.uri)
        server.check_soon()


def _answer_positions(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def on_hover(params: lsp.HoverParams) -> lsp.Hover | None:
        return hover(server.files, server.view(params.text_document), params.position)

    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: lsp.DefinitionParams) -> lsp.Location | None:
        return definition(server.files, server.view(params.text_document), params.position)

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        return references(
            server.files,
            server.view(params.text_document),
            params.position,
            declaration=params.context.include_declaration,
        )

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def on_highlight(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        return highlights(server.files, server.view(params.text_document), params.position)

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION,
        lsp.CompletionOptions(trigger_characters=["[", "(", "=", "."]),
    )
    def on_completion(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        return completion(server.files, server.view(params.text_document), params.position)


def _answer_documents(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return outline(server.view(params.text_document).document)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]),
    )
    def on_actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return actions(server.view(params.text_document), params.range)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def on_formatting(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return formatting(server.view(params.text_document).document)

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def on_inlay_hints(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        return inlay_hints(server.view(params.text_document), params.range)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, LEGEND)
    def on_tokens(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return semantic_tokens(server.files, server.view(params.text_document).document)

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, LEGEND)
    def on_tokens_in(params: lsp.SemanticTokensRangeParams) -> lsp.SemanticTokens:
        document = server.view(params.text_document).document
        return semantic_tokens(server.files, document, params.range)


def _answer_renames(server: Server) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        return prepare_rename(server.files, server.view(params.text_document), params.position)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def on_rename(params: lsp.RenameParams) -> lsp.WorkspaceEdit:
        view = server.view(params.text_document)
        try:
            return rename(server.files, view, params.position, params.new_name)
        except RenameError as error:
            raise JsonRpcException(str(error), lsp.LSPErrorCodes.RequestFailed.value) from None
