"""Diagnostics as JSON lines: one object a line, ASCII only."""

from __future__ import annotations

import json
from collections.abc import Sequence

from p0trans.diagnostics.model import Diagnostic, Fix, Label
from p0trans.source import Place


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """One JSON object for each diagnostic, in order, each ended by a newline.

    A position is `line` and `column`, from 1, and `offset`, from 0, all in characters (code
    points) of the text without its byte order mark; `end` is the first position after.
    """
    return "".join(f"{json.dumps(_diagnostic(item))}\n" for item in diagnostics)


def _diagnostic(item: Diagnostic) -> dict[str, object]:
    return {
        "code": item.code,
        "family": item.family,
        "severity": item.severity.value,
        "message": item.message,
        **_place(item.primary.place),
        "labels": [
            _label(item.primary, primary=True),
            *(_label(label, primary=False) for label in item.secondary),
        ],
        "notes": list(item.notes),
        "fixes": [_fix(fix) for fix in item.fixes],
    }


def _label(label: Label, *, primary: bool) -> dict[str, object]:
    return {**_place(label.place), "text": label.text, "primary": primary}


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "title": fix.title,
        "machine": fix.machine,
        "edits": [{**_place(edit.place), "text": edit.text} for edit in fix.edits],
    }


def _place(place: Place) -> dict[str, object]:
    return {
        "file": place.source.name,
        "start": _position(place, place.span.start),
        "end": _position(place, place.span.end),
    }


def _position(place: Place, offset: int) -> dict[str, int]:
    line, column = place.source.position(offset)
    return {"line": line, "column": column, "offset": offset}
