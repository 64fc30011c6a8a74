"""The parts of a review page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.diagnostics.text import summary
from p0trans.driver import Built
from p0trans.emit.options import EmittedFile
from p0trans.ir.program import Definition, Module, Reference, Unit, Value
from p0trans.source import Source
from p0trans.tools.correspondence import Match, matches
from p0trans.tools.explain import Block, sizes
from p0trans.tools.ledger import LedgerError, definition_costs, ledger
from p0trans.tools.ledger_cells import dtype_cell, ratio_text, shape_cell
from p0trans.tools.passages import line_range
from p0trans.tools.review_column import Column, note
from p0trans.tools.review_links import Links
from p0trans.tools.review_page import Account, Entry, File, Line, Page, Part
from p0trans.tools.review_picture import Picture, picture
from p0trans.types import TensorType

_DIGEST = re.compile(r"^# Source SHA-256: [0-9a-f]+$", re.MULTILINE)


class _Emitted(NamedTuple):
    """A file with the runs of lines that each subject has in it; the rest is before or behind."""

    column: Column
    runs: Mapping[Reference, Sequence[tuple[int, int]]]
    first: int
    last: int


class _Subject(NamedTuple):
    """A definition with the modules of its file that compute it, or a module of another file's
    definition; `runs` are its lines in its source."""

    reference: Reference
    definition: Definition | None
    modules: tuple[Module, ...]
    runs: tuple[tuple[int, int], ...]


def build_page(now: Built, before: Built | None, compared: str) -> Page:
    """The page of a program; with `before` what changed since then, which `compared` names."""
    return _Review(now, before, compared).page()


class _Review:
    def __init__(self, now: Built, before: Built | None, compared: str) -> None:
        self.now = now
        self.program = now.program
        self.compared = compared
        self.found = [d for d in now.diagnostics if d.severity is not Severity.NOTE]
        self.links = Links(now.program)
        self.costs = definition_costs(now.program) if now.files else {}
        self.old_sources = {u.name: u.source for u in before.program.units} if before else {}
        self.old_files = {file.path: file.text for file in before.files} if before else {}
        self.columns: list[Column] = []

    def page(self) -> Page:
        emitted = [self._emitted(file) for file in self.now.files]
        units = [*self.program.units]
        units.sort(key=lambda unit: unit.name not in self.program.roots)
        files = []
        for unit in units:
            parts = tuple(self._parts(unit, emitted) if self.now.files else self._whole(unit))
            if parts:
                names = {e.column.source.name for e in emitted if self._belongs(unit, e)}
                imported = unit.name not in self.program.roots
                files.append(File(unit.path, ", ".join(sorted(names)), imported, parts))
        others = tuple(self._others(emitted))
        if others:
            files.append(File("", "", False, others))
        return Page(
            title=", ".join(file.name for file in files if file.name and not file.imported),
            command=_command(self.now.files),
            summary=summary(self.found) if self.found else "No findings",
            compared=self.compared,
            changed=sum(part.changed for file in files for part in file.parts),
            notes=tuple(map(note, self._unplaced())),
            files=tuple(files),
        )

    def _unplaced(self) -> Iterator[Diagnostic]:
        """The findings that are on no line that is shown."""
        shown = {column.source: column for column in self.columns}
        for item in self.found:
            column = shown.get(item.primary.place.source)
            if column is None or any(item in left for left in column.found.values()):
                yield item

    # --- columns ------------------------------------------------------------------------

    def _source_column(self, unit: Unit) -> Column:
        found = [item for item in self.found if item.primary.place.source is unit.source]
        column = Column(
            f"p0-{_key(unit.name)}",
            "phase0",
            unit.source,
            self.links.of_lines(unit),
            found,
            self.old_sources.get(unit.name),
            bool(self.compared),
        )
        self.columns.append(column)
        return column

    def _emitted(self, file: EmittedFile) -> _Emitted:
        found = matches(self.program, file)
        old = self.old_files.get(file.path)
        marks = {}
        for match in found:
            here = self.links.of_match(match)
            marks.update(dict.fromkeys(range(match.first, match.last + 1), here))
        column = Column(
            f"py-{_key(file.path)}",
            "python",
            Source(file.path, file.text),
            marks,
            before=None if old is None else Source(file.path, _with_digest_of(file.text, old)),
            compared=bool(self.compared),
        )
        runs: dict[Reference, list[tuple[int, int]]] = {}
        behind = first = (found[0].first if found else column.last + 1) - 1
        before = None
        for match in found:
            subject = self._subject_of(match)
            if subject == before:
                runs[subject][-1] = (runs[subject][-1][0], match.last)
            else:
                runs.setdefault(subject, []).append((behind + 1, match.last))
            before, behind = subject, match.last
        return _Emitted(column, runs, first, behind + 1)

    def _subject_of(self, match: Match) -> Reference:
        """What a match is shown with."""
        module = self.links.module_of(match)
        return match.definition if module is None else _home(module)

    def _belongs(self, unit: Unit, emitted: _Emitted) -> bool:
        return any(reference.unit == unit.name for reference in emitted.runs)

    # --- parts --------------------------------------------------------------------------

    def _whole(self, unit: Unit) -> Iterator[Part]:
        """The source alone, of a program that is wrong."""
        found = any(item.primary.place.source is unit.source for item in self.found)
        if unit.name in self.program.roots or found:
            column = self._source_column(unit)
            yield self._part(_key(unit.name), "The source", [column.run(1, column.last)], [])

    def _parts(self, unit: Unit, emitted: Sequence[_Emitted]) -> Iterator[Part]:
        root = unit.name in self.program.roots
        subjects = [
            subject
            for subject in _subjects(unit, self.links)
            if root or any(subject.reference in each.runs for each in emitted)
        ]
        if not root and not subjects:
            return
        column = self._source_column(unit)
        own = [
            each
            for each in emitted
            if self._belongs(unit, each) and (len(self.now.files) > 1 or root)
        ]
        if root:
            first = min((start for s in subjects for start, _ in s.runs), default=column.last + 1)
            heads = [each.column.run(1, each.first) for each in own]
            yield self._part(f"{_key(unit.name)}-head", "Head", [column.run(1, first - 1)], heads)
        for subject in subjects:
            yield self._subject(unit, subject, column, emitted)
        if root:
            last = max((end for s in subjects for _, end in s.runs), default=column.last)
            tails = [each.column.run(each.last, each.column.last) for each in own]
            behind = [column.run(last + 1, column.last)] if last < column.last else []
            if any((*tails, *behind)):
                yield self._part(f"{_key(unit.name)}-end", "End", behind, tails)

    def _others(self, emitted: Sequence[_Emitted]) -> Iterator[Part]:
        """The files of a package that come from no source."""
        for each in emitted:
            if not each.runs:
                run = each.column.run(1, each.column.last)
                yield self._part(each.column.key, each.column.source.name, [], [run])

    def _subject(
        self, unit: Unit, subject: _Subject, column: Column, emitted: Sequence[_Emitted]
    ) -> Part:
        definition = subject.definition
        source = [column.run(*run) for run in subject.runs]
        python = [
            each.column.run(*run)
            for each in emitted
            for run in each.runs.get(subject.reference, ())
        ]
        part = self._part(
            f"{_key(unit.name)}.{subject.reference.name}", subject.reference.name, source, python
        )
        blocks: list[tuple[str, Block]] = []
        for module in subject.modules:
            if module.span != (definition and definition.span):
                blocks += self.links.module_explained(unit.source, module)
        if definition is None:
            return part._replace(blocks=tuple(blocks))
        blocks += self.links.explained(unit.source, definition)
        account = self._account(definition)
        return part._replace(
            title=_title(definition),
            facts=(*_facts(definition),),
            account=account,
            picture=_picture(unit, definition, subject.modules),
            blocks=tuple(blocks),
            mark=self.links.head(definition).removesuffix("h"),
        )

    def _part(
        self,
        key: str,
        label: str,
        source: Sequence[tuple[Line, ...]],
        python: Sequence[tuple[Line, ...]],
    ) -> Part:
        runs, code = tuple(filter(None, source)), tuple(filter(None, python))
        changed = any(line.state for run in (*runs, *code) for line in run)
        # What is the same in every file, or the same as before, is there for whoever asks.
        open_ = changed if self.compared else bool(runs)
        return Part(key, label, "", (), runs, code, None, None, (), changed, open_)

    def _account(self, definition: Definition) -> Account:
        try:
            found = ledger(self.program, definition, self.costs)
        except LedgerError as error:
            return Account(trouble=str(error))
        count = len(definition.parameters) + len(definition.steps)
        rows = tuple(
            Entry(
                self.links.value(
                    definition.reference, index if index < count else definition.result
                ),
                row.role,
                row.name,
                row.expression,
                shape_cell(row.output),
                isinstance(row.output, TensorType),
                dtype_cell(row.output),
                "" if row.role == "input" else str(row.cost.flops),
                "" if row.role == "input" else str(row.cost.bytes),
            )
            for index, row in enumerate(found.rows)
        )
        total = (str(found.total.flops), str(found.total.bytes), ratio_text(found.total))
        return Account(rows, total)


def _subjects(unit: Unit, links: Links) -> list[_Subject]:
    """What the declarations of a file are about, in the order of the text."""
    definitions = {definition.span: definition for definition in unit.definitions}
    modules = {module.span: module for module in unit.modules}
    runs: dict[Reference, list[tuple[int, int]]] = {}
    before = 0
    for span in links.declarations(unit.source):
        _, last = line_range(unit.source, span)
        if span in definitions:
            reference = definitions[span].reference
        elif span in modules:
            reference = _home(modules[span])
        else:
            before = last
            continue
        runs.setdefault(reference, []).append((before + 1, last))
        before = last
    by_reference = {definition.reference: definition for definition in unit.definitions}
    return [
        _Subject(
            reference,
            by_reference.get(reference),
            tuple(module for module in unit.modules if _home(module) == reference),
            tuple(lines),
        )
        for reference, lines in runs.items()
    ]


def _home(module: Module) -> Reference:
    """What a module is shown with."""
    if module.definition.unit == module.unit:
        return module.definition
    return Reference(module.unit, module.name)


def _key(name: str) -> str:
    """A name without what an id in HTML may not have."""
    return quote(name)


def _title(definition: Definition) -> str:
    names = ", ".join(definition.shape_parameters)
    return f"{definition.name} [{names}]" if names else definition.name


def _facts(definition: Definition) -> Iterator[str]:
    """Where the sizes come from, and what is known of them."""
    yield from sizes(definition)
    for word, constraints in (("where", definition.where), ("assume", definition.assume)):
        yield from (f"{word} {constraint}" for constraint in constraints)


def _picture(unit: Unit, definition: Definition, modules: Sequence[Module]) -> Picture | None:
    kinds: dict[Value, str] = {}
    for module in modules:
        kinds |= {state.parameter: state.kind for state in module.states}
        kinds |= {const.parameter: "const" for const in module.consts}
    return picture(definition, unit.source, kinds)


def _with_digest_of(new: str, old: str) -> str:
    """The old text with the digest in the header of the new one: that the sources changed is shown
    where they did."""
    digest = _DIGEST.search(new)
    return old if digest is None else _DIGEST.sub(digest[0], old, count=1)


def _command(files: Sequence[EmittedFile]) -> str:
    """The command in the header of an emitted file."""
    for file in files:
        if file.view is not None:
            return file.view.header[-2].strip()
    return ""
