"""The review page: sources, emitted Python and ledgers side by side, as one HTML file."""

from __future__ import annotations

from p0trans.driver import Built
from p0trans.emit.render import environment
from p0trans.tools.review_build import build_page
from p0trans.tools.review_code import visible


def render(now: Built, before: Built | None = None, compared: str = "") -> str:
    """The page of a program, right or wrong; with `before` also what changed since then, which
    `compared` names."""
    page = build_page(now, before, compared)
    template = environment().overlay(autoescape=True).get_template("review/page.html.j2")
    return template.render(page=page, visible=visible)
