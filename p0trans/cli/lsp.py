"""`p0trans lsp`: the language server."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import click


@click.command("lsp", short_help="Serve an editor: errors while typing, hover, completion.")
def command() -> None:
    """Speak the language server protocol on standard input and output, until the editor leaves.

    An editor starts it: how to tell yours is in docs/editors.md.

    \b
    Examples:
      pip install 'p0trans[lsp]'
      p0trans lsp

    Exit status: 0 when the editor has ended it as the protocol says, 1 when it went without that or
    pygls is missing, 2 when the command line is wrong.
    """
    if find_spec("pygls") is None:
        raise click.ClickException("the language server needs pygls: pip install 'p0trans[lsp]'")
    if sys.stdin is None or sys.stdout is None:
        raise click.ClickException("the language server needs standard input and output")
    from p0trans.lsp.server import serve

    if not serve():
        raise click.exceptions.Exit(1)
