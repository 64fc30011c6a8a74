"""A text in pieces has what the text as one has."""

from __future__ import annotations

import pytest

from p0trans.source import Source
from p0trans.syntax.parse import Parsed, parse
from p0trans.syntax.pieces import parse_pieces

HEAD = "(x : Tensor[F32, [B]]) (y : Tensor[F32, [B]]) : Tensor[F32, [B]] ="
ONE = f"let one [B] {HEAD}\n  x + y\n"
TWO = f"let two [B] {HEAD}\n  x * y\n"


def texts(text: str) -> list[str]:
    """The texts of the pieces; what they hold is checked against parsing the text as one."""
    pieces = parse_pieces(Source("a.p0", text), lambda part: parse(Source("a.p0", part)))
    whole = parse(Source("a.p0", text))
    found: list[object] = []
    start = 0
    for piece in pieces:
        found += _said(piece, start)
        start += len(piece.file.source.text)
    assert found == _said(whole, 0)
    return [piece.file.source.text for piece in pieces]


def _said(parsed: Parsed, start: int) -> list[object]:
    """Declarations with their docs, findings and lost names by their places."""
    found = [(node.span, str(getattr(node, "doc", ""))) for node in parsed.file.declarations]
    found += [(d.primary.place.span, d.message) for d in parsed.diagnostics]
    found += [(name.span, name.text) for name in parsed.broken]
    return [(span.start + start, span.end + start, text) for span, text in sorted(found)]


@pytest.mark.parametrize(
    "pieces",
    [
        [""],
        [ONE],
        [ONE, TWO],
        [f"\n{ONE}", f"\n// Of the second.\n/// Its doc.\n{TWO}"],
        [f"{ONE[:-1]} // of the first\n", f"(* of the second *)\n{TWO}"],
        [f"{ONE[:-1]} (* of the\nfirst *)\n", TWO],
        [f"{ONE[:-1]} {TWO}"],
        [ONE, "module M = one\n", "module N = two\n", TWO],
        ["from a import b\n", "from c import d\r\n", ONE],
        [f"{ONE}(* {TWO} *)\n"],
        [f"{ONE}\n(* not closed {TWO}"],
        # White space means nothing: the next line goes on with what is before.
        [f"let one [B] {HEAD}\n  maximum x\ny\n", TWO],
        [f"let one [B] {HEAD} (\nlet z = x in z)\n", TWO],
        [f"let one [B] {HEAD}\nlet z = x in\nlet w = y in\nz + w\n", TWO],
        # From the first error on, a word in the first column begins something.
        [f"let one [B] {HEAD}\n  x + (\nlet z = x in z)\n", TWO],
        [f"let one [B {HEAD}\n  x\n", f"let two [B] {HEAD}\n  maximum x\n", "y\n", ONE],
        [f"{ONE}def three(x)\n", TWO],
        [ONE, "def three(x):\n", TWO],
        [ONE, "\u00a0module M = one\n", TWO],
        [f"let one [B] {HEAD}\n", TWO],
    ],
)
def test_pieces(pieces: list[str]) -> None:
    assert texts("".join(pieces)) == pieces
