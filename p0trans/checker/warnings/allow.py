"""`// p0: allow CODE[, CODE]`: findings that are meant, silenced where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix
from p0trans.source import Place, Source, Span
from p0trans.syntax.tree import Comment

_ALLOW = re.compile(r"//\s*p0:\s*allow\b\s*(?P<codes>P\d{4}(?:\s*,\s*P\d{4})*)?")
_CODE = re.compile(r"P\d{4}")


class _Allow(NamedTuple):
    """One comment: the codes that it names, and the line that it speaks of."""

    comment: Comment
    codes: tuple[str, ...]
    line: int


def apply_allows(
    source: Source, comments: Iterable[Comment], found: Sequence[Diagnostic]
) -> list[Diagnostic]:
    """`found` without what is allowed, and P1120 for each `allow` that allows nothing."""
    allows = [allow for comment in comments if (allow := _read(source, comment)) is not None]
    if not allows:
        return list(found)
    allowed: dict[tuple[int, str], bool] = {
        (allow.line, code): False for allow in allows for code in allow.codes
    }
    kept: list[Diagnostic] = []
    for diagnostic in found:
        line, _ = source.position(diagnostic.primary.place.span.start)
        key = (line, diagnostic.code)
        if key in allowed:
            allowed[key] = True
        else:
            kept.append(diagnostic)
    for allow in allows:
        useless = [code for code in allow.codes if not allowed[allow.line, code]]
        if useless or not allow.codes:
            kept.append(_without_effect(source, allow, useless))
    return kept


def _read(source: Source, comment: Comment) -> _Allow | None:
    match = _ALLOW.match(comment.text) if comment.kind == "line" else None
    if match is None:
        return None
    line, column = source.position(comment.span.start)
    alone = not source.line(line)[: column - 1].strip()
    codes = tuple(dict.fromkeys(_CODE.findall(match["codes"] or "")))
    return _Allow(comment, codes, line + 1 if alone else line)


def _without_effect(source: Source, allow: _Allow, useless: Sequence[str]) -> Diagnostic:
    if not useless:
        what = "names no code"
    else:
        here = source.position(allow.comment.span.start)[0] == allow.line
        which = "this line" if here else "the next line"
        what = f"silences nothing: there is no {' or '.join(useless)} in {which}"
    left = [code for code in allow.codes if code not in useless]
    span = allow.comment.span
    if left:
        text = f"// p0: allow {', '.join(left)}"
        rest = _ALLOW.sub("", allow.comment.text, count=1)
        fix = Fix(f"write `{text}`", (Edit(Place(source, span), text + rest),))
    else:
        before = source.text[: span.start]
        start = len(before.rstrip(" \t"))
        fix = Fix("leave it out", (Edit(Place(source, Span(start, span.end)), ""),))
    return diagnose("P1120", Place(source, span), fixes=(fix,), what=what)
