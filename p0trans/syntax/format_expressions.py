"""How an expression that does not fit into its line is spread over several.

Each function here that can meet a part of its own kind is a generator that yields the steps of
the part: `put_expression` keeps them on a list, so that no depth of nesting needs a deep stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from p0trans.syntax import tree
from p0trans.syntax.format_page import Page
from p0trans.syntax.format_words import Words

STEP = 2
"""The indentation of what is inside something."""

_WIDEST_NAME = 32
_WIDEST_TYPE = 48
"""What is wider stands out of its column instead of pushing its neighbours to the right."""

_LEVEL = {"-": "+", "/": "*"}
"""Operators that have the precedence of another, which stands for both."""

_Steps: TypeAlias = "Iterator[_Steps]"


class _Head(NamedTuple):
    """The words of `let pattern : type =` by their indices; `colon` is `equals` without a type."""

    let: int
    colon: int
    equals: int

    @property
    def typed(self) -> bool:
        return self.colon < self.equals


class _Columns(NamedTuple):
    """How wide the pattern and the type of a `let` are made."""

    pattern: int
    type: int


def put_expression(words: Words, page: Page, start: int, node: tree.Expr) -> None:
    """Put the expression whose first word, parentheses included, is `start`."""
    pending = [_expression(words, page, start, node)]
    while pending:
        part = next(pending[-1], None)
        if part is None:
            pending.pop()
        else:
            pending.append(part)


def put_list(words: Words, page: Page, first: int, last: int, indent: int) -> None:
    """Put a range with as many items between commas on a line as fit. In brackets the next line
    begins under the first item, elsewhere at `indent`."""
    indents = [indent]
    item_ends = (k for k in range(first, last + 1) if _ends_item(words, k, last))
    end = next(item_ends)
    for word in range(first, last + 1):
        if word > end:
            end = next(item_ends)
            if words.gaps[word].breaks or not page.fits(word, end):
                page.newline(indents[-1])
        page.word(word)
        if word in words.closers:
            indents.append(page.column)
        elif words.closes(word):
            indents.pop()


def put_line_start(words: Words, page: Page, word: int, indent: int) -> None:
    """Go on in a new line, below a blank one if one was there."""
    page.newline(indent)
    if words.gaps[word].blank_above():
        page.blank()


def _ends_item(words: Words, word: int, last: int) -> bool:
    return word == last or words.tokens[word].type == "COMMA"


# --- expressions --------------------------------------------------------------------------


def _expression(words: Words, page: Page, start: int, node: tree.Expr) -> _Steps:
    end = _end(words, start, node)
    indent = page.place(start)
    if page.fits(start, end):
        page.words(start, end)
    elif start < words.starting_at(node.span.start):
        page.word(start)
        yield _expression(words, page, start + 1, node)
        page.word(end)
    else:
        match node:
            case tree.Unary():
                page.word(start)
                yield _expression(words, page, start + 1, node.operand)
            case tree.Binary():
                yield _operands(words, page, indent, start, node)
            case tree.Apply():
                yield _application(words, page, indent, start, node)
            case tree.Tuple():
                yield _items(words, page, start, node)
            case tree.Block():
                yield _block(words, page, indent, start, node)
            case _:
                put_list(words, page, start, end, indent)


def _end(words: Words, start: int, node: tree.Expr) -> int:
    """The last word of the expression, its parentheses included."""
    if start < words.starting_at(node.span.start):
        return words.closers[start]
    return words.ending_at(node.span.end)


def _operands(words: Words, page: Page, indent: int, start: int, node: tree.Binary) -> _Steps:
    """Operands under each other, each but the first behind its operator."""
    level = _LEVEL.get(node.operator, node.operator)
    chain = [node]
    while (
        isinstance(left := chain[-1].left, tree.Binary)
        and _LEVEL.get(left.operator, left.operator) == level
        and words.starting_at(left.span.start) == start
    ):
        chain.append(left)
    yield _expression(words, page, start, chain[-1].left)
    for binary in reversed(chain):
        operator = words.starting_at(binary.operator_span.start)
        page.newline(indent)
        page.word(operator)
        yield _expression(words, page, operator + 1, binary.right)


def _application(words: Words, page: Page, indent: int, start: int, node: tree.Apply) -> _Steps:
    """Arguments under each other, further in than the head."""
    end = start
    if node.attributes_span is not None:
        end = words.ending_at(node.attributes_span.end)
    put_list(words, page, start, end, indent)
    for argument in node.arguments:
        page.newline(indent + STEP)
        start = end + 1
        end = _end(words, start, argument)
        yield _expression(words, page, start, argument)


def _items(words: Words, page: Page, start: int, node: tree.Tuple) -> _Steps:
    """The items of a tuple under each other."""
    page.word(start)
    indent = page.column
    for number, item in enumerate(node.items):
        if number:
            page.newline(indent)
        end = _end(words, start + 1, item)
        yield _expression(words, page, start + 1, item)
        start = end + 1
        page.word(start)


# --- let … in -----------------------------------------------------------------------------


def _block(words: Words, page: Page, indent: int, start: int, node: tree.Block) -> _Steps:
    """A `let` a line, with the equals signs of neighbours in a column, and then the result."""
    heads = [_head(words, binding) for binding in node.bindings]
    columns = _columns(words, heads)
    for number, (binding, head) in enumerate(zip(node.bindings, heads, strict=True)):
        if number:
            put_line_start(words, page, head.let, indent)
        _put_head(words, page, head, columns[number])
        value = head.equals + 1
        end = _end(words, value, binding.value)
        if words.gaps[value].breaks or not page.fits(value, end):
            page.newline(indent + STEP)
        yield _expression(words, page, value, binding.value)
        page.word(end + 1)
    result = words.ending_at(node.bindings[-1].span.end) + 1
    put_line_start(words, page, result, indent)
    yield _expression(words, page, result, node.result)


def _head(words: Words, binding: tree.Binding) -> _Head:
    let = words.starting_at(binding.span.start)
    after = words.closers.get(let + 1, let + 1) + 1
    if binding.type is None:
        return _Head(let, after, after)
    return _Head(let, after, words.ending_at(binding.type.span.end) + 1)


def _columns(words: Words, heads: Sequence[_Head]) -> list[_Columns]:
    """The columns of each `let`. Neighbours share them where no blank line is between them and
    all of them have a type or none has."""
    columns: list[_Columns] = []
    for run in _runs(words, heads):
        pattern = _widest((_pattern_width(words, head) for head in run), _WIDEST_NAME)
        type_ = _widest((_type_width(words, head) for head in run if head.typed), _WIDEST_TYPE)
        columns += [_Columns(pattern, type_)] * len(run)
    return columns


def _runs(words: Words, heads: Sequence[_Head]) -> list[list[_Head]]:
    runs = [[heads[0]]]
    for before, head in pairwise(heads):
        if head.typed == before.typed and not words.gaps[head.let].any_blank():
            runs[-1].append(head)
        else:
            runs.append([head])
    return runs


def _widest(widths: Iterable[int], limit: int) -> int:
    return max((width for width in widths if width <= limit), default=0)


def _pattern_width(words: Words, head: _Head) -> int:
    return words.width(head.let + 1, head.colon - 1)


def _type_width(words: Words, head: _Head) -> int:
    return words.width(head.colon, head.equals - 1)


def _put_head(words: Words, page: Page, head: _Head, columns: _Columns) -> None:
    indent = page.place(head.let) + 2 * STEP
    if words.must_break(head.let, head.equals) or not page.fits(head.let, head.equals):
        put_list(words, page, head.let, head.equals, indent)
        return
    page.words(head.let, head.colon - 1)
    page.pad(columns.pattern - _pattern_width(words, head))
    if head.typed:
        page.words(head.colon, head.equals - 1)
        page.pad(columns.type - _type_width(words, head))
    page.word(head.equals)
