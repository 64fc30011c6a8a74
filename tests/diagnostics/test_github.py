from __future__ import annotations

import pytest

from p0trans.diagnostics.github import render
from p0trans.diagnostics.model import Severity
from p0trans.source import Source
from tests.diagnostics.support import at, finding, fix

SOURCE = Source("dir/a.p0", "let a =\n  x + y\n")


@pytest.mark.parametrize(
    ("severity", "command"),
    [(Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.NOTE, "notice")],
)
def test_a_command_for_each_severity(severity: Severity, command: str) -> None:
    assert render([finding(at(SOURCE, "x + y"), severity=severity)]) == (
        f"::{command} file=dir/a.p0,line=2,col=3,endLine=2,endColumn=8,title=P0401::shapes differ\n"
    )


def test_label_notes_and_fixes_are_lines_of_the_message() -> None:
    place = at(SOURCE, "y")
    diagnostic = finding(place, label="[S]", notes=("note",), fixes=(fix((place, "z")),))
    assert render([diagnostic]).endswith("::shapes differ%0A[S]%0Anote%0Ahelp: mend it\n")


def test_what_would_end_a_property_or_a_line_is_escaped() -> None:
    odd = Source("a,b:c%\n.p0", "x")
    line = render([finding(at(odd, "x"), message="50%:\r\n,done")])
    assert line.startswith("::error file=a%2Cb%3Ac%25%0A.p0,line=1,")
    assert line.endswith("::50%25:%0D%0A,done\n")
    assert line.count("\n") == 1
