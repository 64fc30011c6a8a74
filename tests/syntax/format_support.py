"""What formatting has to leave as it is."""

from __future__ import annotations

from collections.abc import Iterator

from p0trans.source import Source, Span
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.format import format_source
from p0trans.syntax.grammar import grammar
from p0trans.syntax.parse import parse


def formatted(text: str) -> str:
    return format_source(Source("test.p0", text))


def content(text: str) -> list[str]:
    """The words and the comments of a text in their order, without its white space."""
    stripped = strip_comments(Source("test.p0", text))
    pieces = [(token.span, token.text) for token in grammar().scanner.scan(stripped.text)]
    pieces += [(comment.span, " ".join(comment.text.split())) for comment in stripped.comments]
    return [piece for _, piece in sorted(pieces)]


def shape(text: str) -> list[object]:
    """The tree of a text in preorder, without its spans."""
    parsed = parse(Source("test.p0", text))
    assert parsed.diagnostics == ()
    return list(_flat(parsed.file.declarations))


def _flat(root: object) -> Iterator[object]:
    todo = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, tuple) and not isinstance(node, Span):
            yield type(node), len(node)
            todo += reversed(node)
        elif not isinstance(node, Span):
            yield node


def assert_formats(text: str) -> str:
    """The formatted text, which has to be the same program and to be formatted already."""
    result = formatted(text)
    assert content(result) == content(text)
    assert shape(result) == shape(text)
    assert formatted(result) == result
    lines = result.replace("\r\n", "\n").split("\n")
    assert all(line == line.rstrip() for line in lines)
    assert result == "" or (lines[-1] == "" != lines[-2] and lines[0])
    return result
