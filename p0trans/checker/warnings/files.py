"""What a rule about a whole file is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from p0trans.checker.warnings.survey import Survey
from p0trans.source import Source
from p0trans.syntax import tree


class FileSubject(NamedTuple):
    """A file's declarations with the sources that they stand in, the surveys of its definitions
    by name, and the top-level names that it uses."""

    declarations: tuple[tuple[Source, tree.Declaration], ...]
    surveys: Mapping[str, Survey]
    used: frozenset[str]


def file_subject(files: Sequence[tree.File], surveys: Mapping[str, Survey]) -> FileSubject:
    """Gather what the definitions and modules of a file, given in pieces, use."""
    used = {name for survey in surveys.values() for name in survey.globals}
    declarations = tuple((file.source, node) for file in files for node in file.declarations)
    for _, declaration in declarations:
        if isinstance(declaration, tree.Module):
            used.add(declaration.definition.text)
            used |= {item.module.text for item in declaration.items if isinstance(item, tree.Sub)}
    return FileSubject(declarations, surveys, frozenset(used))
