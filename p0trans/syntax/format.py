"""The one layout that a program has, whatever white space it was written with.

Words and comments stay as they are and in their order: only what is between them changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from p0trans.diagnostics.model import Diagnostic
from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.syntax.format_expressions import STEP, put_expression, put_line_start, put_list
from p0trans.syntax.format_page import Page
from p0trans.syntax.format_words import Words
from p0trans.syntax.parse import parse

_HEADER = 2 * STEP
"""The indentation of what belongs to the first line of a declaration."""


class FormatError(ValueError):
    """A text that cannot be formatted. `diagnostics` say what is wrong with it."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics[0].message)
        self.diagnostics = tuple(diagnostics)


def format_source(source: Source) -> str:
    """The text of `source` in the one layout; raises FormatError where it has a syntax error.

    The tree stays the same, and formatting again changes nothing. Lines end as the first of the
    text does, in LF or CRLF. Takes time linear in the text, and no stack.
    """
    plain = replace(source, text=source.text.replace("\r\n", "\n").replace("\r", "\n"))
    parsed = parse(plain)
    if parsed.diagnostics:
        raise FormatError(parse(source).diagnostics)
    words = Words(plain)
    page = Page(words)
    previous: tree.Declaration | None = None
    for declaration in parsed.file.declarations:
        word = words.starting_at(declaration.span.start)
        _separate(words, page, word, previous, declaration)
        _put_declaration(words, page, word, declaration)
        previous = declaration
    _finish(words, page, previous)
    return _ended_as(source.text, page.text())


def _ended_as(original: str, text: str) -> str:
    """`text` with the line ends that the first line of `original` has."""
    first, _, _ = original.partition("\n")
    return text.replace("\n", "\r\n") if first.endswith("\r") else text


# --- between declarations -----------------------------------------------------------------


def _separate(
    words: Words,
    page: Page,
    word: int,
    previous: tree.Declaration | None,
    declaration: tree.Declaration,
) -> None:
    """Go on to a declaration, below a blank line. Only declarations of one line and one kind may
    follow each other without one."""
    inner = _put_inner_comments(words, page, word, previous)
    page.newline(0)
    may_touch = type(previous) is type(declaration) and _is_line(previous) and _is_line(declaration)
    if not may_touch or words.gaps[word].blank_above(inner):
        page.blank()


def _finish(words: Words, page: Page, previous: tree.Declaration | None) -> None:
    """The comments after the last declaration."""
    end = len(words.tokens)
    inner = _put_inner_comments(words, page, end, previous)
    page.newline(0)
    if inner < len(words.gaps[end].lines):
        page.blank()
        page.comments(end)


def _put_inner_comments(
    words: Words, page: Page, word: int, previous: tree.Declaration | None
) -> int:
    """Put those comments above `word` that are indented, as a part of the declaration before:
    how many there were."""
    if previous is None:
        return 0
    inner = 0
    for line in words.gaps[word].lines:
        if line.column == 0 or line.documents:
            break
        inner += 1
    if inner:
        put_line_start(words, page, word, STEP)
        page.comments(word, inner)
    return inner


def _is_line(declaration: tree.Declaration | None) -> bool:
    match declaration:
        case tree.Import() | tree.Module(items=()):
            return True
    return False


# --- declarations -------------------------------------------------------------------------


def _put_declaration(words: Words, page: Page, word: int, declaration: tree.Declaration) -> None:
    match declaration:
        case tree.Import(span=span):
            put_list(words, page, word, words.ending_at(span.end), _HEADER)
        case tree.Definition():
            _put_definition(words, page, word, declaration)
        case tree.Module():
            _put_module(words, page, word, declaration)


def _put_definition(words: Words, page: Page, word: int, definition: tree.Definition) -> None:
    equals = words.starting_at(definition.equals_span.start)
    if page.fits(word, equals):
        page.words(word, equals)
    else:
        starts = _header_lines(words, definition)
        put_list(words, page, word, starts[0] - 1, _HEADER)
        for start, after in pairwise((*starts, equals + 1)):
            page.newline(_HEADER)
            put_list(words, page, start, after - 1, 2 * _HEADER)
    page.newline(STEP)
    put_expression(words, page, equals + 1, definition.body)


def _header_lines(words: Words, definition: tree.Definition) -> list[int]:
    """The words that begin a line where a header does not fit into one."""
    starts = [words.starting_at(parameter.span.start) for parameter in definition.parameters]
    starts.append(words.starting_at(definition.result.span.start) - 1)
    starts += [
        words.starting_at(constraints[0].span.start) - 1
        for constraints in (definition.where, definition.assume)
        if constraints
    ]
    return starts


def _put_module(words: Words, page: Page, word: int, module: tree.Module) -> None:
    starts = [words.starting_at(item.span.start) for item in module.items]
    end = words.ending_at(module.span.end)
    for start, after in pairwise((word, *starts, end + 1)):
        if start > word:
            if start == starts[0]:
                page.newline(STEP)
            else:
                put_line_start(words, page, start, STEP)
        put_list(words, page, start, after - 1, _HEADER)
