"""Every rejected program: the family, the place, the fix and the words that it names."""

from __future__ import annotations

import pytest

from p0trans.diagnostics.apply import apply_fixes
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.source import Source
from tests.casefile import Case, cases


def errors_of(source: Source) -> list[Diagnostic]:
    return [d for d in check_sources([source]).diagnostics if d.severity is Severity.ERROR]


def source_of(case: Case) -> Source:
    source = read_source(case.path)
    assert isinstance(source, Source)
    return source


@pytest.mark.parametrize("case", cases("reject"), ids=lambda case: case.path.stem)
def test_reject(case: Case) -> None:
    found = errors_of(source_of(case))
    families = case.one("family")
    assert families is not None
    assert [d.family for d in found] == families.split(", ")
    at = case.one("at")
    assert at is None or found[0].primary.place.text == at
    for words in case.all("mentions"):
        assert any(words in d.message for d in found)
    fix = case.one("fix")
    offered = [edit.text for d in found for f in d.fixes if f.machine for edit in f.edits]
    assert fix is None or any(fix in text for text in offered)


@pytest.mark.parametrize(
    "case", [c for c in cases("reject") if c.one("fix")], ids=lambda case: case.path.stem
)
def test_fix_leads_on(case: Case) -> None:
    source = source_of(case)
    found = errors_of(source)
    text, applied = apply_fixes(source, found)
    assert applied > 0
    left = errors_of(Source(source.name, text))
    assert not left or left[0].message != found[0].message


def test_there_are_cases() -> None:
    assert len(cases("reject")) >= 18
    assert len(cases("accept")) >= 13
