"""Checking again after an edit: what has not changed is known from the check before."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeAlias

from p0trans.checker import Work
from p0trans.checker.definition import CheckedDefinition
from p0trans.checker.names import Scope, Signature
from p0trans.checker.warnings import Analysis, Subject, Survey
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Call, Definition, Reference
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed, parse
from p0trans.syntax.pieces import parse_pieces

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# What a definition can see of a name: the signature behind it, whether its declaration is wrong,
# and where it is declared further down.
_Sight: TypeAlias = tuple[Signature | None, bool, Place | None]


class _File(NamedTuple):
    """A file in pieces; equal pieces are told apart by how often their text came before."""

    text: str
    pieces: tuple[Parsed, ...]
    by_text: Mapping[tuple[str, int], Parsed]


class Texts:
    """Files in pieces, each as last asked for: a piece whose text stays is the same object."""

    def __init__(self) -> None:
        self._files: dict[tuple[str, Path | None], _File] = {}

    def copy(self) -> Texts:
        copy = Texts()
        copy._files.update(self._files)
        return copy

    def parse(self, source: Source) -> tuple[Parsed, ...]:
        key = (source.name, source.path)
        held = self._files.get(key)
        if held is None or held.text != source.text:
            held = _in_pieces(source, {} if held is None else held.by_text)
            self._files[key] = held
        return held.pieces


class _Check(NamedTuple):
    """A checked definition and what its check may have depended on beside its text."""

    result: CheckedDefinition
    unit: str
    seen: Mapping[str, _Sight]
    visible: tuple[str, ...]


class _Analysed(NamedTuple):
    """An analysis with all that went into it: of a callee, what its calls give."""

    definition: Definition
    calls: tuple[object, ...]
    analysis: Analysis


@dataclass(slots=True)
class _Generation:
    """What one check has found. Keys by identity stay true: their objects are in the values."""

    words: dict[Source, frozenset[str]] = field(default_factory=dict)
    checks: dict[tuple[Source, Span], _Check] = field(default_factory=dict)
    surveys: dict[tuple[Source, Span], Survey] = field(default_factory=dict)
    analyses: dict[int, _Analysed] = field(default_factory=dict)
    findings: dict[int, tuple[Analysis, tuple[Diagnostic, ...]]] = field(default_factory=dict)


class Memo(Work):
    """The parts of a check that the check before, of the same files, has already done.

    A definition is checked again when its text changes, or what a name in it stands for: the
    signature of a definition, not its body. `turn` comes before each check; what the last one
    did not use is forgotten then. Several memos may share the `texts`.
    """

    def __init__(self, texts: Texts | None = None) -> None:
        self._texts = texts or Texts()
        self._before = _Generation()
        self._now = _Generation()

    def turn(self) -> None:
        self._before, self._now = self._now, _Generation()

    def typed(self, source: Source, node: tree.Definition) -> CheckedDefinition | None:
        """What the last check has found out about a definition."""
        check = self._now.checks.get((source, node.span))
        return None if check is None else check.result

    def parse(self, source: Source) -> Sequence[Parsed]:
        return self._texts.parse(source)

    def check(
        self, source: Source, unit: str, node: tree.Definition, scope: Scope
    ) -> CheckedDefinition:
        key = (source, node.span)
        seen = self._seen(source, scope)
        held = self._before.checks.get(key)
        if held is None or held.unit != unit or not _same_sight(held, seen, scope):
            result = super().check(source, unit, node, scope)
            # What is near to an unknown name depends on all that could have been meant.
            held = _Check(result, unit, seen, tuple(scope.definitions))
        self._now.checks[key] = held
        # An error anywhere keeps the rules from running; they will be asked again when it is gone.
        if key in self._before.surveys:
            self._now.surveys[key] = self._before.surveys[key]
        return held.result

    def analyse(self, definition: Definition, earlier: Mapping[Reference, Analysis]) -> Analysis:
        calls = tuple(
            _given(earlier.get(step.node.definition))
            for step in definition.steps
            if isinstance(step.node, Call)
        )
        held = self._before.analyses.get(id(definition))
        if held is None or held.definition is not definition or held.calls != calls:
            held = _Analysed(definition, calls, super().analyse(definition, earlier))
        self._now.analyses[id(definition)] = held
        analysis = held.analysis
        findings = self._before.findings.get(id(analysis))
        if findings is not None and findings[0] is analysis:
            self._now.findings[id(analysis)] = findings
        return analysis

    def survey(self, source: Source, node: tree.Definition) -> Survey:
        key = (source, node.span)
        if key not in self._now.surveys:
            self._now.surveys[key] = super().survey(source, node)
        return self._now.surveys[key]

    def findings(self, subject: Subject) -> tuple[Diagnostic, ...]:
        analysis = subject.analysis
        if id(analysis) not in self._now.findings:
            self._now.findings[id(analysis)] = analysis, super().findings(subject)
        return self._now.findings[id(analysis)][1]

    def _seen(self, source: Source, scope: Scope) -> Mapping[str, _Sight]:
        words = self._before.words.get(source) or mentioned(source)
        self._now.words[source] = words
        return {
            word: (scope.definitions.get(word), word in scope.broken, scope.later.get(word))
            for word in words
            if word in scope.definitions or word in scope.broken or word in scope.later
        }


def mentioned(source: Source) -> frozenset[str]:
    """All that could be a name in a text, comments included."""
    return frozenset(_WORD.findall(source.text))


def _in_pieces(source: Source, known: Mapping[tuple[str, int], Parsed]) -> _File:
    by_text: dict[tuple[str, int], Parsed] = {}

    def parse_text(text: str) -> Parsed:
        count = 0
        while (text, count) in by_text:
            count += 1
        parsed = known.get((text, count)) or parse(Source(source.name, text, source.path))
        by_text[text, count] = parsed
        return parsed

    return _File(source.text, parse_pieces(source, parse_text), by_text)


def _same_sight(held: _Check, seen: Mapping[str, _Sight], scope: Scope) -> bool:
    """Whether a definition would be found as it was: a caller looks at signatures only, and a
    finding also shows where they stand."""
    if held.result.diagnostics:
        return (
            held.visible == tuple(scope.definitions)
            and held.seen.keys() == seen.keys()
            and all(_identical(held.seen[word], seen[word]) for word in seen)
        )
    return held.seen.keys() == seen.keys() and all(
        _equivalent(held.seen[word], seen[word]) for word in seen
    )


def _identical(one: _Sight, other: _Sight) -> bool:
    return one[0] is other[0] and one[1:] == other[1:]


def _equivalent(one: _Sight, other: _Sight) -> bool:
    if one[1] != other[1] or (one[2] is None) != (other[2] is None):
        return False
    before, after = one[0], other[0]
    if before is after or before is None or after is None:
        return before is after
    return _interface(before) == _interface(after)


def _interface(signature: Signature) -> tuple[object, ...]:
    return (
        signature.reference,
        signature.shape_parameters,
        signature.parameters,
        signature.result,
        signature.where,
        signature.assume,
    )


def _given(analysis: Analysis | None) -> object:
    """All that the analysis of a caller takes from that of a callee."""
    if analysis is None:
        return None
    provenance = analysis.provenance
    return provenance.shape_parameters, provenance.result, analysis.returned
