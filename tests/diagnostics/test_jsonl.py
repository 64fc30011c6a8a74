from __future__ import annotations

import json

from p0trans.diagnostics.jsonl import render
from p0trans.diagnostics.model import Label, Severity
from p0trans.source import Source
from tests.diagnostics.support import at, finding, fix

SOURCE = Source("é.p0", "let é =\n  α + β\n")


def test_one_object_a_line_with_everything() -> None:
    diagnostic = finding(
        at(SOURCE, "α + β"),
        Label(at(SOURCE, "β"), "[S]"),
        label="here",
        severity=Severity.WARNING,
        notes=("a note",),
        fixes=(fix((at(SOURCE, "β"), "γ"), title="mend", machine=False),),
    )
    (line,) = render([diagnostic]).splitlines()
    start = {"line": 2, "column": 3, "offset": 10}
    end = {"line": 2, "column": 8, "offset": 15}
    beta = {"file": "é.p0", "start": {"line": 2, "column": 7, "offset": 14}, "end": end}
    place = {"file": "é.p0", "start": start, "end": end}
    assert json.loads(line) == {
        "code": "P0401",
        "family": "order",
        "severity": "warning",
        "message": "shapes differ",
        **place,
        "labels": [
            {**place, "text": "here", "primary": True},
            {**beta, "text": "[S]", "primary": False},
        ],
        "notes": ["a note"],
        "fixes": [{"title": "mend", "machine": False, "edits": [{**beta, "text": "γ"}]}],
    }


def test_it_is_ascii_and_one_line_each_whatever_the_text() -> None:
    diagnostic = finding(at(SOURCE, "β"), message="a\nb\u2028c \udc80", label="é")
    text = render([diagnostic, diagnostic])
    assert text.isascii()
    assert text.count("\n") == 2
    assert [json.loads(line)["message"] for line in text.splitlines()] == ["a\nb\u2028c \udc80"] * 2


def test_nothing_found_is_no_text() -> None:
    assert render([]) == ""
