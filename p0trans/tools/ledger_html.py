"""Ledgers as one HTML page that needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from p0trans.diagnostics.measure import escaped
from p0trans.emit.render import environment
from p0trans.tools.ledger import Ledger
from p0trans.tools.ledger_cells import NAME, facts, heading, table


def render(ledgers: Sequence[Ledger], sources: bool) -> str:
    templates = environment().overlay(autoescape=True)
    sections = [
        {
            "heading": heading(ledger),
            "paragraphs": [_visible(part) for part in (ledger.doc or "").split("\n\n") if part],
            "facts": list(facts(ledger)),
            "table": table(ledger, sources),
        }
        for ledger in ledgers
    ]
    page = templates.get_template("ledger.html.j2")
    return page.render(sections=sections, name_column=NAME, visible=escaped)


def _visible(paragraph: str) -> str:
    return "\n".join(map(escaped, paragraph.splitlines()))
