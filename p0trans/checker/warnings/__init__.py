"""Warnings for programs that are well typed and may still be wrong, and for what is left over.

A rule is a function and a file: it looks at one definition, or at one file, and yields its
findings. `RULES` and `FILE_RULES` are all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

from p0trans.checker.warnings.alignment import alignment
from p0trans.checker.warnings.allow import apply_allows
from p0trans.checker.warnings.analysis import Analysis, analyse
from p0trans.checker.warnings.cast_order import cast_order
from p0trans.checker.warnings.files import FileSubject, file_subject
from p0trans.checker.warnings.masked_row import masked_row
from p0trans.checker.warnings.merge_order import merge_order
from p0trans.checker.warnings.no_effect import no_effect
from p0trans.checker.warnings.regroup import regroup
from p0trans.checker.warnings.shadowing import shadowing
from p0trans.checker.warnings.single_element import single_element
from p0trans.checker.warnings.softmax_axis import softmax_axis
from p0trans.checker.warnings.subject import Subject
from p0trans.checker.warnings.survey import Survey, survey
from p0trans.checker.warnings.unused_binding import unused_binding
from p0trans.checker.warnings.unused_import import unused_import
from p0trans.checker.warnings.unused_parameter import unused_parameter
from p0trans.checker.warnings.unused_shape_parameter import unused_shape_parameter
from p0trans.diagnostics.model import Diagnostic
from p0trans.ir.program import Reference, Unit
from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed

if TYPE_CHECKING:
    from p0trans.checker.work import Work

__all__ = [
    "FILE_RULES",
    "RULES",
    "Analysis",
    "Subject",
    "Survey",
    "analyse",
    "findings",
    "survey",
    "warn",
]

Rule: TypeAlias = Callable[[Subject], Iterator[Diagnostic]]
FileRule: TypeAlias = Callable[[FileSubject], Iterator[Diagnostic]]

RULES: Final[tuple[Rule, ...]] = (
    regroup,
    alignment,
    softmax_axis,
    single_element,
    masked_row,
    cast_order,
    merge_order,
    unused_binding,
    unused_parameter,
    unused_shape_parameter,
    no_effect,
)

FILE_RULES: Final[tuple[FileRule, ...]] = (unused_import, shadowing)


def findings(subject: Subject) -> tuple[Diagnostic, ...]:
    """What the rules about a definition find in this one."""
    return tuple(found for rule in RULES for found in rule(subject))


def warn(
    pieces: Sequence[Parsed], unit: Unit, analyses: Mapping[Reference, Analysis], work: Work
) -> tuple[Diagnostic, ...]:
    """What every rule finds in a file without errors.

    `analyses` has at least the definitions of `unit`. Notes are among the findings: showing
    them is for the caller to decide. What an `allow` comment silences is not.
    """
    written = {
        node.name.text: (piece.file.source, node, work.survey(piece.file.source, node))
        for piece in pieces
        for node in piece.file.declarations
        if isinstance(node, tree.Definition)
    }
    found: list[Diagnostic] = []
    for definition in unit.definitions:
        found += work.findings(Subject(*written[definition.name], analyses[definition.reference]))
    whole = file_subject(
        [piece.file for piece in pieces],
        {name: survey for name, (_, _, survey) in written.items()},
    )
    for file_rule in FILE_RULES:
        found += file_rule(whole)
    by_source: dict[Source, list[Diagnostic]] = {piece.file.source: [] for piece in pieces}
    for diagnostic in found:
        by_source[diagnostic.primary.place.source].append(diagnostic)
    return tuple(
        diagnostic
        for piece in pieces
        for diagnostic in _allowed(piece.file, by_source[piece.file.source])
    )


def _allowed(file: tree.File, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    return sorted(apply_allows(file.source, file.comments, found), key=lambda d: d.sort_key)
