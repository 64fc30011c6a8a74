"""Whatever the program, formatting keeps its words, comments and tree, and is done at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import p0trans
from p0trans.source import Source
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.format import format_source
from p0trans.syntax.grammar import grammar
from p0trans.syntax.parse import parse
from tests.programs import Generated, programs
from tests.syntax.format_support import assert_formats, formatted
from tests.syntax.test_deep_nesting import DEPTH, HEADER, calls
from tests.syntax.test_parse_anything import PROGRAM

ROOT = Path(__file__).parents[2]
LAID_OUT = sorted((*ROOT.glob("examples/**/*.p0"), *ROOT.glob("p0trans/std/*.p0")))
OTHERS = sorted((*ROOT.glob("tests/**/*.p0"), *ROOT.glob("benchmarks/**/*.p0")))

COMMENTS = (
    " // line\n",
    "\n// own line\n",
    "\n\n  // indented\n\n",
    " (* block *) ",
    "\n(* block\n   of lines *)\n",
    "\n      (* block\n of lines *) ",
    "(* one *)(* two\n *) // three\n",
    "(* one\n *)(* two *)",
    " /// no doc\n",
    "\n/// doc\n",
    "\n/// doc\n\n",
    "\n(* *) /// no doc\n",
    "\r\n// carriage return\r\n",
    "\n\n",
)
STRANGE = f"""from a.b import c, d
from e import f
module A = f
module B = g
let f : Tensor[F32, []] where A == B, C <= 2 assume D == E * F =
  let a : Tensor[F32, []] = f[] 1.0 in
  let (b, cc) : (Tensor[F32, []], Tensor[F32, []]) =
    (let z = 1 in z, -(-a) + ((b)) * (c - d) - {"e" * 90}) in
  f x [A] ((x)) (y, z)
"""


def _id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _places(text: str) -> list[int]:
    """Where a comment may stand: around every word."""
    tokens = grammar().scanner.scan(strip_comments(Source("test.p0", text)).text)
    ends = {offset for token in tokens for offset in token.span}
    return sorted(ends | {0, len(text)})


def _parses(text: str) -> bool:
    return not parse(Source("test.p0", text)).diagnostics


@pytest.mark.parametrize("path", LAID_OUT, ids=_id)
def test_what_is_shipped_is_laid_out(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert assert_formats(text) == text, f"run `p0trans fmt {_id(path)}`"


def test_the_page_shows_what_it_says() -> None:
    page = (ROOT / "docs/fmt.md").read_text(encoding="utf-8")
    programs = re.findall(r"^```p0\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(programs) == 2
    for text in programs:
        assert p0trans.check(text).diagnostics == ()
        assert formatted(text) == text


@pytest.mark.parametrize("path", OTHERS, ids=_id)
def test_programs_of_the_tests(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if _parses(text):
        assert_formats(text)


def test_case_a_of_the_casebook_is_laid_out() -> None:
    program = (ROOT / "tests/cases/accept/casebook_a_rmsnorm.p0").read_text(encoding="utf-8")
    assert formatted(program) == program


@given(programs())
@settings(
    max_examples=60,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_generated_programs(program: Generated) -> None:
    assert_formats(program.text)


@pytest.mark.parametrize("comment", COMMENTS)
@pytest.mark.parametrize("text", [PROGRAM, STRANGE], ids=["program", "strange"])
def test_a_comment_anywhere(text: str, comment: str) -> None:
    tried = 0
    for place in _places(text):
        changed = text[:place] + comment + text[place:]
        # Between two slashes, or within a comment, it is another text.
        if _parses(changed):
            assert_formats(changed)
            tried += 1
    assert tried > 100


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_comments_everywhere(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from((PROGRAM, STRANGE)))
    places = st.sets(st.sampled_from(_places(text)), min_size=1, max_size=30)
    for place in sorted(data.draw(places), reverse=True):
        text = text[:place] + data.draw(st.sampled_from(COMMENTS)) + text[place:]
    if _parses(text):
        assert_formats(text)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_the_white_space_does_not_count(data: st.DataObject) -> None:
    """But for blank lines, which stay where a line may begin."""
    text = strip_comments(Source("test.p0", data.draw(st.sampled_from((PROGRAM, STRANGE))))).text
    words = [token.text for token in grammar().scanner.scan(text)]
    spaces = st.sampled_from((" ", "\n", "\t", "  \n    ", "\r\n"))
    again = "".join(word + data.draw(spaces) for word in words)
    spread = formatted(again).replace("\r\n", "\n")
    assert spread == formatted(" ".join(words))


# --- length and depth ---------------------------------------------------------------------


DEEP: dict[str, Callable[[int], str]] = {
    "parentheses": lambda depth: "(" * depth + "x" + ")" * depth,
    "minus": lambda depth: "-" * depth + "x",
    "left": lambda depth: "x" + " + x" * depth,
    "right": lambda depth: "(x + " * depth + "x" + ")" * depth,
    "calls": lambda depth: "x " + "(f " * depth + "x" + ")" * depth,
    "tuples": lambda depth: "(" * depth + "x" + ", x)" * depth,
    "lets in a row": lambda depth: "let a = x in " * depth + "x",
    "lets in lets": lambda depth: "let a = " * depth + "x" + " in x" * depth,
    "lets in parentheses": lambda depth: "(let a = x in a + " * depth + "x" + ")" * depth,
    "comments": lambda depth: "(x // c\n + " * depth + "x" + ")" * depth,
    "types": lambda depth: (
        f"let a : {'(' * depth}Tensor[F32, []]{', Tensor[F32, []])' * depth} = x in a"
    ),
    "dims": lambda depth: f"f x [{'(' * depth}B{')' * depth}]",
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_programs(kind: str) -> None:
    assert formatted(HEADER + DEEP[kind](DEPTH)).startswith(HEADER)


@pytest.mark.parametrize("kind", DEEP)
def test_work_and_result_grow_with_the_depth(kind: str) -> None:
    texts = [HEADER + DEEP[kind](depth) for depth in (400, 800)]
    format_source(Source("warm.p0", HEADER + "x"))
    work, double_work = (calls(text, format_source) for text in texts)
    assert double_work < 2.1 * work
    length, double_length = (len(assert_formats(text)) for text in texts)
    assert double_length < 2.2 * length


@pytest.mark.parametrize("piece", [PROGRAM, STRANGE, "// comment\n", "module A = f // why\n"])
def test_work_grows_with_the_length(piece: str) -> None:
    format_source(Source("warm.p0", piece))
    start, double = (calls(piece * count, format_source) for count in (50, 100))
    assert double < 2.1 * start
