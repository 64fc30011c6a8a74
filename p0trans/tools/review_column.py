"""One text of a review as runs of lines, with what was there before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from p0trans.diagnostics.model import Diagnostic
from p0trans.diagnostics.text import render_details
from p0trans.source import Source, Span
from p0trans.tools.review_changes import UNCHANGED, Changes, changes
from p0trans.tools.review_code import Language, Mark, code_lines
from p0trans.tools.review_page import Line, Note


class Column:
    """A text and all that is shown on its lines.

    `marks` are those of its lines. `changed` says that the text is compared with `before`, which is
    None where there was nothing.
    """

    def __init__(
        self,
        key: str,
        language: Language,
        source: Source,
        marks: Mapping[int, tuple[str, ...]],
        found: Sequence[Diagnostic] = (),
        before: Source | None = None,
        compared: bool = False,
    ) -> None:
        self.key = key
        self.source = source
        self.marks = marks
        self.found: dict[int, list[Diagnostic]] = {}
        for item in found:
            line, _ = source.position(item.primary.place.span.start)
            self.found.setdefault(line, []).append(item)
        self.changes: Changes = changes(before, source) if compared else UNCHANGED
        self.code = code_lines(source, language, [_underlined(item, source) for item in found])
        self.old = code_lines(before, language) if before is not None and compared else []

    @property
    def last(self) -> int:
        """The last line that is not the empty one behind the last line end."""
        count = len(self.source.line_starts)
        return count - 1 if count > 1 and not self.source.line(count) else count

    def run(self, first: int, last: int) -> tuple[Line, ...]:
        """The lines from `first` to `last`, and those that are gone, without blank ends."""
        lines = list(self._lines(first, last))
        while lines and _is_blank(lines[-1]):
            lines.pop()
        start = next((index for index, line in enumerate(lines) if not _is_blank(line)), 0)
        return tuple(lines[start:])

    def _lines(self, first: int, last: int) -> Iterator[Line]:
        for number in range(first, last + 1):
            yield from self._gone(number)
            yield Line(
                f"{self.key}-{number}",
                number,
                self.code[number - 1],
                " ".join(self.marks.get(number, ())),
                "new" if number in self.changes.new else "",
                tuple(map(note, self.found.pop(number, ()))),
            )
        if last >= self.last:
            for number in range(last + 1, len(self.source.line_starts) + 2):
                yield from self._gone(number)

    def _gone(self, before: int) -> Iterator[Line]:
        for number in self.changes.gone.get(before, ()):
            yield Line(f"{self.key}-old-{number}", number, self.old[number - 1], "", "old")


def note(item: Diagnostic) -> Note:
    summary = f"{item.severity.value}[{item.code}]: {item.message}"
    return Note(item.severity.value, summary, render_details(item, width=80))


def _underlined(item: Diagnostic, source: Source) -> Mark:
    start, end = item.primary.place.span
    # Between two characters something is missing: the one before is drawn.
    if start == end:
        start, end = max(0, start - 1), min(len(source.text), max(end, 1))
    return Mark(Span(start, end), f"found {item.severity.value}")


def _is_blank(line: Line) -> bool:
    return not (line.code or line.state or line.notes)
