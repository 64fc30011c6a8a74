"""Checking again after an edit finds what checking afresh would find."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from p0trans.checker import Checked, Work
from p0trans.checker.definition import check_definition
from p0trans.checker.warnings import Subject, findings
from p0trans.diagnostics.model import Diagnostic
from p0trans.driver import check_sources
from p0trans.lsp.memo import Memo
from p0trans.source import Place, Source
from p0trans.syntax.parse import Parsed

ROOT = Path(__file__).parent.parent.parent
BLOCK = (ROOT / "examples" / "casebook" / "block.p0").read_text()
PROGRAMS = {path.stem: path.read_text() for path in sorted((ROOT / "tests/cases").rglob("*.p0"))}
PROGRAMS |= {path.stem: path.read_text() for path in (ROOT / "examples/casebook").glob("*.p0")}
# Several declarations, some wrong, in a file each.
MIXED = {
    "reject": "\n".join(PROGRAMS[path.stem] for path in (ROOT / "tests/cases/reject").glob("*.p0")),
    "twice": BLOCK + BLOCK,
    "block": BLOCK,
    # Warnings that follow axes and softmaxes through calls.
    "clean": (ROOT / "tests/checker/warnings/programs/clean.p0").read_text(),
}
SNIPPETS = (
    ("in", ""),
    ("\n", "\nlet y = x in\n"),
    ("(*", ""),
    ("", "(* "),
    ("", " *)"),
    ("=", "= ("),
    (" in", " in (\nlet a = 1.0 in\na)"),
    ("let", "def"),
    ("B", "Q"),
    ("eps", "esp"),
    ("let ", "\n"),
    ("\n", "\r\n"),
    ("", "\n// p0: allow P1111\n"),
    ("", "/// Words.\n"),
    ("module", "\u00a0module"),
    ("]", ""),
    ("axis=2", "axis=1"),
    ("axis=1", "axis=2"),
)


def edits(text: str, seed: int, count: int) -> Iterator[str]:
    """Texts that each differ from the one before by an edit, some undone at once."""
    draw = random.Random(seed)
    for _ in range(count):
        old, new = draw.choice(SNIPPETS)
        start = text.find(old, draw.randrange(len(text)))
        if start < 0:
            continue
        edited = text[:start] + new + text[start + len(old) :]
        yield edited
        text = draw.choice((text, edited))
        yield text


def offsets(pieces: Sequence[Parsed]) -> dict[Source, int]:
    found: dict[Source, int] = {}
    length = 0
    for piece in pieces:
        found[piece.file.source] = length
        length += len(piece.file.source.text)
    return found


def said(diagnostics: Sequence[Diagnostic], starts: dict[Source, int]) -> list[object]:
    """All of the findings, with places as offsets into the whole text."""

    def at(place: Place) -> tuple[int, int]:
        start = starts[place.source]
        return place.span.start + start, place.span.end + start

    return [
        (
            d.code,
            d.severity,
            d.message,
            at(d.primary.place),
            d.primary.text,
            [(at(label.place), label.text) for label in d.secondary],
            d.notes,
            [
                (fix.title, fix.machine, [(at(edit.place), edit.text) for edit in fix.edits])
                for fix in d.fixes
            ],
        )
        for d in diagnostics
    ]


def check(source: Source, work: Work) -> Checked:
    return check_sources([source], work=work)


@pytest.mark.parametrize("name", [*PROGRAMS, *MIXED])
def test_pieces_are_checked_as_a_whole(name: str) -> None:
    text = {**PROGRAMS, **MIXED}[name]
    source, memo = Source("main.p0", text), Memo()
    held = check(source, memo)
    whole = check(source, Work())
    starts = offsets(memo.parse(source))
    assert sum(len(piece.text) for piece in starts) == len(text)
    assert said(held.diagnostics, starts) == said(whole.diagnostics, {source: 0})


@pytest.mark.parametrize("name", MIXED)
def test_after_edits(name: str) -> None:
    memo = Memo()
    for text in edits(MIXED[name], 1, 60):
        source = Source("main.p0", text)
        memo.turn()
        held = check(source, memo)
        whole = check(source, Work())
        starts = offsets(memo.parse(source))
        assert "".join(piece.text for piece in starts) == text
        assert said(held.diagnostics, starts) == said(whole.diagnostics, {source: 0}), text


CHAIN = """let one [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] where B >= 1 =
  x * x

let two [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  one[B] x + x

let three [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  let y = two[B] x in
  y * y
"""


@pytest.mark.parametrize(
    ("old", "new", "checked", "looked_at"),
    [
        ("  x * x", "  x * x * x", ["one"], ["one"]),
        ("  y * y", "  y * x", ["three"], ["three"]),
        ("\nlet two", "\n\n// A comment.\nlet two", ["two"], ["two"]),
        ("where B >= 1", "where B >= 2", ["one", "two"], []),
        ("let one [B] (x :", "let one [B] (z :", ["one", "two"], []),
        ("let three", "let four", ["four"], ["four"]),
        ("let two", "let one", ["one", "three"], []),
        ("one[B] x + x", "one[B] x + y", ["two"], []),
    ],
)
def test_what_is_done_again(
    old: str, new: str, checked: list[str], looked_at: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    memo = Memo()
    check(Source("main.p0", CHAIN), memo)
    done: dict[str, list[str]] = {"check": [], "findings": []}

    def counted_check(*given: Any) -> Any:
        done["check"].append(given[2].name.text)
        return check_definition(*given)

    def counted_findings(subject: Subject) -> tuple[Diagnostic, ...]:
        done["findings"].append(subject.definition.name)
        return findings(subject)

    monkeypatch.setattr("p0trans.checker.work.check_definition", counted_check)
    monkeypatch.setattr("p0trans.checker.work.findings", counted_findings)
    assert old in CHAIN
    memo.turn()
    check(Source("main.p0", CHAIN.replace(old, new, 1)), memo)
    assert done == {"check": checked, "findings": looked_at}


def test_an_error_does_not_make_the_rules_forget(monkeypatch: pytest.MonkeyPatch) -> None:
    memo = Memo()
    check(Source("main.p0", CHAIN), memo)
    memo.turn()
    assert not check(Source("main.p0", CHAIN.replace("y * y", "y * 1")), memo).ok
    looked_at: list[str] = []

    def counted(subject: Subject) -> tuple[Diagnostic, ...]:
        looked_at.append(subject.definition.name)
        return findings(subject)

    monkeypatch.setattr("p0trans.checker.work.findings", counted)
    memo.turn()
    assert check(Source("main.p0", CHAIN), memo).ok
    assert looked_at == ["three"]


ONE = "let one [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
USER = "let user [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = one[B] x\n"

ATTEND = """let softmax [N, S] (x : Tensor[F32, [N, S, S]]) : Tensor[F32, [N, S, S]] =
  let e = exp (x - broadcast (reduce_keep[max, axis=2] x) [N, S, S]) in
  e / broadcast (reduce_keep[sum, axis=2] e) [N, S, S]

let attend [N, S, K] (x : Tensor[F32, [N, S, S]]) (v : Tensor[F32, [N, S, K]])
    : Tensor[F32, [N, S, K]] =
  matmul (softmax[N, S] x) v
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # Another name is now the nearest to an unknown one.
        (USER.replace("user", "onee") + USER, USER.replace("user", "ones") + USER),
        # A declaration that was wrong, that is below, that is gone.
        (ONE.replace("[F32", "[F33") + USER, USER),
        (USER, ONE.replace("[F32", "[F33") + USER),
        (USER + ONE, USER),
        (USER, USER + ONE),
        (USER + ONE, ONE + USER),
        (ONE.replace("[F32", "[F33") + USER, USER + ONE),
        # The place of a header that a finding shows.
        (ONE + USER.replace("] x", "] 1.0"), "\n" + ONE + USER.replace("] x", "] 1.0")),
        # A softmax along another axis, which a caller goes on with.
        (ATTEND, ATTEND.replace("axis=2", "axis=1")),
    ],
)
def test_what_depends_on_other_declarations(before: str, after: str) -> None:
    memo = Memo()
    for text in (before, after, before):
        source = Source("main.p0", text)
        memo.turn()
        held = check(source, memo)
        whole = check(source, Work())
        starts = offsets(memo.parse(source))
        assert said(held.diagnostics, starts) == said(whole.diagnostics, {source: 0})
