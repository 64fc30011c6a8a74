"""Every rule on programs that say where it must apply and where it must not.

A file of `rules/` holds definitions; the comments right above one name the rules that have to fire
in it (`// fires: silu`) and those that must not (`// keeps: silu (why)`). Whatever fires, the
rewritten definition and the emitted file have the value of the source.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import p0trans
from p0trans.emit.options import Options
from p0trans.interpret import interpret
from p0trans.ir.program import Definition, Program, Reference
from p0trans.ir.verify import verify
from p0trans.rewrite import Rewritten, rewrite
from p0trans.rewrite.rules import RULES
from p0trans.source import Source
from p0trans.targets import Target
from p0trans.tools import verify as verifying
from p0trans.tools.verify_compare import difference
from p0trans.tools.verify_inputs import flat, given_sizes
from p0trans.tools.verify_subjects import Subject
from p0trans.types import tensors

FIXTURES = sorted((Path(__file__).parent / "rules").glob("*.p0"))
_ABOVE = re.compile(r"((?:^//.*\n)+)(?:^///.*\n)*^let (\w+)", re.MULTILINE)
_WORDS = re.compile(r"// (fires|keeps): ([^(\n]*)(\([^)]*\))?$")
_FLOAT = re.compile(r"(?:const\[F32\] )?(?<![\w.])(\d+\.\d*(?:e-?\d+)?|\d+e-?\d+|inf\b)")
_TARGET = re.compile(r"\A// target: (\w+)$", re.MULTILINE)


class Wanted(NamedTuple):
    """What a fixture says of one definition."""

    fixture: Path
    definition: str
    fires: frozenset[str]
    keeps: frozenset[str]

    def __str__(self) -> str:
        return f"{self.fixture.stem}-{self.definition}"


def wanted(fixture: Path) -> list[Wanted]:
    found = []
    for comments, name in _ABOVE.findall(fixture.read_text()):
        rules: dict[str, set[str]] = {"fires": set(), "keeps": set()}
        for line in comments.splitlines():
            words = _WORDS.match(line)
            if words:
                rules[words[1]].update(rule.strip() for rule in words[2].split(","))
        found.append(Wanted(fixture, name, frozenset(rules["fires"]), frozenset(rules["keeps"])))
    return found


WANTED = [one for fixture in FIXTURES for one in wanted(fixture)]


def target(fixture: Path) -> Target:
    found = _TARGET.search(fixture.read_text())
    return found[1] if found else "torch"  # type: ignore[return-value]


@cache
def rewritten(text: str, target: Target) -> Rewritten:
    checked = p0trans.check(text)
    assert checked.ok, [found.message for found in checked.diagnostics]
    return rewrite(checked.program, target)


@pytest.mark.parametrize("want", WANTED, ids=str)
def test_fires_where_it_should(want: Wanted) -> None:
    result = rewritten(want.fixture.read_text(), target(want.fixture))
    fired = {event.rule for event in result.events if event.definition == want.definition}
    assert want.fires <= fired, f"fired: {sorted(fired)}"
    assert not want.keeps & fired


def test_names_are_those_of_rules() -> None:
    named = {rule for want in WANTED for rule in (*want.fires, *want.keeps)}
    assert named <= {rule.name for rule in RULES}


def test_every_rule_fires_somewhere() -> None:
    fired = {rule for want in WANTED for rule in want.fires}
    assert {rule.name for rule in RULES} - fired == set()


def test_every_idiom_has_a_near_miss() -> None:
    """A rule that says something to the reader is also seen not to apply."""
    kept = {rule for want in WANTED for rule in want.keeps}
    telling = {rule.name for rule in RULES if rule.pattern.operations() > 1}
    assert telling - kept == set()


def texts(fixture: Path) -> list[str]:
    """The fixture, and the same in BF16 where that checks, too."""
    text = fixture.read_text()
    half = _FLOAT.sub(r"(const[BF16] \1)", text)
    half = half.replace("F32", "BF16")
    return [text, half] if p0trans.check(half).ok else [text]


def body(program: Program, subject: Subject) -> Definition:
    """The rewritten definition that a subject computes."""
    if subject.plan is not None:
        module = subject.plan.module
        own = program.module(Reference(module.unit, module.name)).body
        if own is not None:
            return own
    return program.definition(subject.definition.reference)


VARIANTS = [
    pytest.param(text, target(fixture), id=f"{fixture.stem}-{dtype}")
    for fixture in FIXTURES
    for text, dtype in zip(texts(fixture), ("F32", "BF16"), strict=False)
]


@pytest.mark.parametrize(("text", "target"), VARIANTS)
def test_rewritten_equals_source(text: str, target: Target) -> None:
    """By the interpreter alone: a rule's two sides have one value."""
    program = p0trans.check(text).program
    result = rewritten(text, target).program
    verify(result)
    request = verifying.Request(runs=3, emit=Options(target=target))
    work = verifying.plan(Source("fixture.p0", text), request)
    assert isinstance(work, verifying.Plan)
    for subject in work.subjects:
        definition = subject.definition
        for sizes in verifying.draw_sizes(subject, request):
            evaluated = verifying.draw_inputs(program, subject, sizes, "seed")
            found = interpret(
                result, body(result, subject), evaluated.inputs, given_sizes(definition, sizes)
            )
            dtypes = [type_.dtype for type_ in tensors(definition.result_type)]
            far = difference(tuple(flat(found)), tuple(flat(evaluated.result)), dtypes)
            assert far.within, (definition.name, sizes, far)


@pytest.mark.parametrize(("text", "target"), VARIANTS)
def test_emitted_equals_interpreter(text: str, target: Target) -> None:
    request = verifying.Request(runs=3, emit=Options(target=target))
    work = verifying.plan(Source("fixture.p0", text), request)
    assert isinstance(work, verifying.Plan)
    rows = [row for rows in verifying.verify(work) for row in rows]
    assert rows
    assert [row for row in rows if row.verdict in verifying.FAILURES] == []
