"""What a rule about a whole file is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from p0trans.checker.warnings.survey import Survey
from p0trans.source import Source
from p0trans.syntax import tree


class FileSubject(NamedTuple):
    """A file, the surveys of its definitions, and the top-level names that it uses."""

    file: tree.File
    surveys: tuple[tuple[tree.Definition, Survey], ...]
    used: frozenset[str]

    @property
    def source(self) -> Source:
        return self.file.source


def file_subject(file: tree.File, surveys: Sequence[tuple[tree.Definition, Survey]]) -> FileSubject:
    """Gather what the definitions and modules of `file` use."""
    used = {name for _, survey in surveys for name in survey.globals}
    for declaration in file.declarations:
        if isinstance(declaration, tree.Module):
            used.add(declaration.definition.text)
            used |= {item.module.text for item in declaration.items if isinstance(item, tree.Sub)}
    return FileSubject(file, tuple(surveys), frozenset(used))
