"""Depth costs no stack, and length costs linear work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from p0trans.source import Source
from p0trans.syntax.parse import parse

HEADER = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n"
DEPTH = 10_000


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "(" * DEPTH + "x" + ")" * DEPTH,
        HEADER + "-" * DEPTH + "x",
        HEADER + "not " * DEPTH + "x",
        HEADER + "x" + " + x" * DEPTH,
        HEADER + "(x + " * DEPTH + "x" + ")" * DEPTH,
        HEADER + "x " + "(f " * DEPTH + "x" + ")" * DEPTH,
        HEADER + "".join(f"let a{i} = x in\n" for i in range(DEPTH)) + "x",
        HEADER + "".join(f"let a{i} = " for i in range(DEPTH)) + "x" + " in x" * DEPTH,
        HEADER + "x (* " * DEPTH + "*)" * DEPTH,
        f"let f : Tensor[F32, [{'(' * DEPTH}B{')' * DEPTH}]] = x",
        f"let f : Tensor[F32, [{'-' * DEPTH}B]] = x",
        f"let f : {'(' * DEPTH}Tensor[F32, []]{', Tensor[F32, []])' * DEPTH} = x",
    ],
    ids=[
        "parentheses",
        "minus",
        "not",
        "left",
        "right",
        "calls",
        "lets in a row",
        "lets in lets",
        "comments",
        "dim parentheses",
        "dim minus",
        "tuple types",
    ],
)
def test_deep_programs_parse_and_go_away(text: str) -> None:
    parsed = parse(Source("test.p0", text))
    assert parsed.diagnostics == ()
    assert len(parsed.file.declarations) == 1
    del parsed


@pytest.mark.parametrize("text", ["(" * DEPTH, "x" + ")" * DEPTH, "let y = " * DEPTH])
def test_deep_errors_are_reported(text: str) -> None:
    parsed = parse(Source("test.p0", HEADER + text))
    assert len(parsed.diagnostics) == 1


def calls(text: str, run: Callable[[Source], object] = parse) -> int:
    """How many Python functions `run` calls on `text`."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    source = Source("test.p0", text)
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run(source)
    finally:
        sys.setprofile(before)
    return count


GOOD = HEADER + "  let y = x * broadcast x [B] in // twice\n  y + f[B] (g y)\n"


@pytest.mark.parametrize(
    "piece",
    [
        GOOD,
        HEADER + "  let y = x +\n",
        HEADER + "  let y = x in\n",
        HEADER + "  let y = x\n  y\n",
        "let f x = y\n",
        "# not a comment\n",
        "stray\n",
        "\0",
        "/// doc\n",
        "/// doc\n\n",
    ],
)
def test_work_grows_with_the_text(piece: str) -> None:
    parse(Source("warm.p0", piece))
    # Beyond the hundred errors that are put into words.
    start, double = calls(piece * 200), calls(piece * 400)
    assert double < 2.1 * start


def test_work_grows_with_the_body() -> None:
    def program(steps: int) -> str:
        return HEADER + "".join(f"  let a{i} = x + x\n" for i in range(steps)) + "  x"

    assert calls(program(400)) < 2.1 * calls(program(200))
