"""Diagnostics for a reader at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from p0trans.diagnostics import excerpt, suggestion
from p0trans.diagnostics.excerpt import Role, Row
from p0trans.diagnostics.measure import columns, escaped, wrapped
from p0trans.diagnostics.model import Diagnostic, Fix, Label, Severity
from p0trans.source import Source

_RESET = "\x1b[0m"
_BOLD = "\x1b[1m"
_RULE = "\x1b[1;34m"
_SEVERITY = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.NOTE: "\x1b[1;36m",
}
_ROLE = {
    Role.SOURCE: "",
    Role.SECONDARY: "\x1b[1;34m",
    Role.INSERTED: "\x1b[32m",
    Role.DELETED: "\x1b[31m",
}
_LEAST_WIDTH = 40


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, width: int = 100) -> str:
    """Every diagnostic in order, where to read more, and the summary; empty when there is none.

    `width` is the terminal's, in columns. With `color` the text holds ANSI escape sequences;
    nothing that comes from a source can add one.
    """
    if not diagnostics:
        return ""
    reports = [render_diagnostic(item, color=color, width=width) for item in diagnostics]
    codes = list(dict.fromkeys(item.code for item in diagnostics))
    others = f" (also {', '.join(codes[1:])})" if len(codes) > 1 else ""
    more = wrapped(f"`p0trans explain {codes[0]}` says more{others}.", max(width, _LEAST_WIDTH))
    return "\n".join((*reports, *more, _painted(summary(diagnostics), _BOLD, color), ""))


def render_diagnostic(diagnostic: Diagnostic, *, color: bool = False, width: int = 100) -> str:
    """One diagnostic: its message, the excerpts with their labels, notes and fixes."""
    heading = _heading(diagnostic, color, max(width, _LEAST_WIDTH))
    return "\n".join((*heading, render_details(diagnostic, color=color, width=width)))


def render_details(diagnostic: Diagnostic, *, color: bool = False, width: int = 100) -> str:
    """One diagnostic without its message."""
    width = max(width, _LEAST_WIDTH)
    margin = _margin(diagnostic)
    room = width - margin - 3
    lines = [*_excerpts(diagnostic, margin, room, color)]
    if diagnostic.notes or diagnostic.fixes:
        lines.append(_rule(margin, color))
    for note in diagnostic.notes:
        lines += _remark("note", note, margin, color, width)
    for index, fix in enumerate(diagnostic.fixes):
        if index:
            lines.append(_rule(margin, color))
        lines += _remark("help", fix.title, margin, color, width)
        lines += _changes(diagnostic, fix, margin, color, room)
    return "\n".join((*lines, ""))


def render_places(
    primary: Label, secondary: Sequence[Label] = (), *, color: bool = False, width: int = 100
) -> str:
    """The excerpts of a diagnostic alone: the lines of some places, underlined."""
    shown = Diagnostic("", "", Severity.NOTE, "", primary, tuple(secondary))
    margin = _margin(shown)
    room = max(width, _LEAST_WIDTH) - margin - 3
    return "\n".join((*_excerpts(shown, margin, room, color), ""))


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning in 1 file`."""
    counts = (
        (sum(item.severity is severity for item in diagnostics), severity.value)
        for severity in Severity
    )
    found = ", ".join(_counted(count, noun) for count, noun in counts if count)
    files = {item.primary.place.source.name for item in diagnostics}
    return f"{found} in {_counted(len(files), 'file')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _heading(diagnostic: Diagnostic, color: bool, width: int) -> Iterator[str]:
    title = f"{diagnostic.severity.value}[{diagnostic.code}]"
    # The message is laid out behind its title, so the title goes in as part of the first word.
    first, *rest = wrapped(f"{title}: {diagnostic.message}", width)
    message = _painted(first[len(title) :], _BOLD, color)
    yield _painted(title, _SEVERITY[diagnostic.severity], color) + message
    yield from (_painted(line, _BOLD, color) for line in rest)


def _excerpts(diagnostic: Diagnostic, margin: int, room: int, color: bool) -> Iterator[str]:
    for source, labels in _by_source(diagnostic):
        yield _where(source, labels, margin, color)
        if source.text:
            yield _rule(margin, color)
            for row in excerpt.rows(source, labels, room):
                yield _row(row, margin, diagnostic.severity, color)


def _where(source: Source, labels: Sequence[tuple[Label, bool]], margin: int, color: bool) -> str:
    label, primary = labels[0]
    arrow = "-->" if primary else ":::"
    name = escaped(source.name)
    if source.text:
        line, column = source.position(label.place.span.start)
        name = f"{name}:{line}:{column}"
    return f"{' ' * margin}{_painted(arrow, _RULE, color)} {name}"


def _by_source(
    diagnostic: Diagnostic,
) -> Iterator[tuple[Source, list[tuple[Label, bool]]]]:
    """The labels by the source they are about, the primary one's first."""
    labels = [(diagnostic.primary, True), *((label, False) for label in diagnostic.secondary)]
    for source in dict.fromkeys(label.place.source for label, _ in labels):
        yield source, [item for item in labels if item[0].place.source is source]


def _margin(diagnostic: Diagnostic) -> int:
    """The width of the largest line number that the report can show."""
    places = [
        diagnostic.primary.place,
        *(label.place for label in diagnostic.secondary),
        *(edit.place for fix in diagnostic.fixes for edit in fix.edits),
    ]
    # A fix can add lines, and so show a higher number than any place has.
    added = sum(edit.text.count("\n") for fix in diagnostic.fixes for edit in fix.edits)
    last = max(place.source.position(max(place.span))[0] for place in places)
    return len(str(last + added))


def _remark(kind: str, text: str, margin: int, color: bool, width: int) -> Iterator[str]:
    lead = f"{' ' * margin} {_painted('=', _RULE, color)} {_painted(f'{kind}:', _BOLD, color)} "
    indent = margin + 3 + len(kind) + 2
    first, *rest = wrapped(text, width - indent)
    yield lead + first
    yield from (f"{' ' * indent}{line}".rstrip() for line in rest)


def _changes(
    diagnostic: Diagnostic, fix: Fix, margin: int, color: bool, room: int
) -> Iterator[str]:
    for source in dict.fromkeys(edit.place.source for edit in fix.edits):
        edits = [edit for edit in fix.edits if edit.place.source is source]
        if source is not diagnostic.primary.place.source:
            yield f"{' ' * margin}{_painted(':::', _RULE, color)} {escaped(source.name)}"
        yield _rule(margin, color)
        for row in suggestion.rows(source, edits, room):
            yield _row(row, margin, diagnostic.severity, color)


def _rule(margin: int, color: bool) -> str:
    return f"{' ' * margin} {_painted('|', _RULE, color)}"


def _row(row: Row, margin: int, severity: Severity, color: bool) -> str:
    if not row.rule:
        head = _painted(row.number, _RULE, color) + " " * (margin + 3 - len(row.number))
    else:
        number = _painted(row.number.rjust(margin), _RULE, color)
        style = {"+": _ROLE[Role.INSERTED], "-": _ROLE[Role.DELETED]}.get(row.rule, _RULE)
        head = f"{number} {_painted(row.rule, style, color)} "
    styles = {**_ROLE, Role.PRIMARY: _SEVERITY[severity]}
    return (head + _laid_out(row, styles, color)).rstrip()


def _laid_out(row: Row, styles: dict[Role, str], color: bool) -> str:
    pieces: list[str] = []
    position = 0
    for cell in row.cells:
        pieces += (" " * (cell.column - position), _painted(cell.text, styles[cell.role], color))
        position = cell.column + columns(cell.text)
    return "".join(pieces)


def _painted(text: str, style: str, color: bool) -> str:
    return f"{style}{text}{_RESET}" if color and style and text else text
