"""`p0trans explain`: what a code means."""

from __future__ import annotations

from pathlib import Path

import click

from p0trans.cli.output import put
from p0trans.diagnostics.codes import Code, table

_PACKAGE = Path(__file__).resolve().parent.parent
_PAGES = (_PACKAGE / "docs" / "errors", _PACKAGE.parent / "docs" / "errors")
"""Where the pages are: inside an installed package, else in the repository."""


@click.command("explain", short_help="Say what a finding means.")
@click.argument("code", metavar="CODE")
def command(code: str) -> None:
    """Say what the finding CODE means, with a program that has it and one that is mended.

    \b
    Example:
      p0trans explain P0501
    """
    entry = table().get(code.upper())
    if entry is None:
        raise click.BadParameter(_unknown(code), param_hint="CODE")
    put(_page(entry))


def _page(entry: Code) -> str:
    for folder in _PAGES:
        page = folder / f"{entry.code}.md"
        if page.is_file():
            return page.read_text(encoding="utf-8")
    # Without a page the table still has the words, with the names of the facts for the facts.
    return "\n\n".join((f"# {entry.code}: {entry.title}", entry.message, *entry.notes, ""))


def _unknown(code: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(code.upper(), table(), n=3, cutoff=0.6)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"there is no code '{code}'{hint}"
