"""What checking a program is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from p0trans.checker.definition import CheckedDefinition, check_definition
from p0trans.checker.names import Scope
from p0trans.checker.warnings import Analysis, Subject, Survey, analyse, findings, survey
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Definition, Reference
from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed, parse


class Work:
    """The parts of a check, each done afresh. A subclass may know a part from before."""

    def parse(self, source: Source) -> Sequence[Parsed]:
        """`source` in pieces that follow each other, each with offsets and a source of its own."""
        return (parse(source),)

    def check(
        self, source: Source, unit: str, node: tree.Definition, scope: Scope
    ) -> CheckedDefinition:
        return check_definition(source, unit, node, scope)

    def analyse(self, definition: Definition, earlier: Mapping[Reference, Analysis]) -> Analysis:
        return analyse(definition, earlier)

    def survey(self, source: Source, node: tree.Definition) -> Survey:
        return survey(node)

    def findings(self, subject: Subject) -> tuple[Diagnostic, ...]:
        return findings(subject)
