"""Whatever the text, parsing ends, raises nothing, and says something about what is wrong."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from p0trans.source import Source
from p0trans.syntax.parse import parse

PROGRAM = """from std.norm import rmsnorm
/// Doubles.
let twice [B, K] (x : Tensor[F32, [B, 2*K]]) (y : Tensor[F32, []])
    : (Tensor[F32, [B, 2 * K]], Tensor[Bool, []]) where K >= 2 assume B == K * K =
  let (a, b) = pair[B, axis=-1, perm=[0, 1]] x in // a comment
  let c : Tensor[F32, []] = (1e-6 + -inf) * y in (* another (* one *) *)
  (x + broadcast c [B, 2*K], not true && c <= 2.5 || a == b)
module Twice = twice with
  param y = normal(0.02)
  const k = 1
  sub norm = Norm(x = y)
"""

VOCABULARY = (
    "let in from import module with where assume true inf not Tensor param const sub F32 x y f B",
    "1 2.5 1e9 2K 1e999 ( ) [ ] , : = == <= < + - * / % && || . # @ | × \0 \u200b // (* *) ///",
    "-> def lte",
)
WORDS = st.sampled_from([word for line in VOCABULARY for word in line.split(" ")])
SPACES = st.sampled_from([" ", "\n", "\n  ", "\r\n", "\t", ""])


def check(text: str) -> None:
    result = parse(Source("test.p0", text))
    for found in result.diagnostics:
        span = found.primary.place.span
        assert 0 <= span.start <= span.end <= len(text)
        for fix in found.fixes:
            for edit in fix.edits:
                assert 0 <= edit.place.span.start <= edit.place.span.end <= len(text)
    for declaration in result.file.declarations:
        assert 0 <= declaration.span.start < declaration.span.end <= len(text)
    # Without a finding everything but white space and comments is in a declaration.
    if not result.diagnostics:
        covered = list(text)
        for node in (*result.file.declarations, *result.file.comments):
            covered[node.span.start : node.span.end] = " " * (node.span.end - node.span.start)
        assert "".join(covered).strip() == ""


@given(st.text(max_size=200))
@settings(deadline=None, max_examples=300)
def test_any_text(text: str) -> None:
    check(text)


@given(st.lists(st.tuples(WORDS, SPACES), max_size=60))
@settings(deadline=None, max_examples=500)
def test_any_words(words: list[tuple[str, str]]) -> None:
    check("".join(word + space for word, space in words))


@given(st.data())
@settings(deadline=None, max_examples=500)
def test_any_splice(data: st.DataObject) -> None:
    text = PROGRAM * data.draw(st.integers(1, 2))
    for _ in range(data.draw(st.integers(1, 4))):
        start, end = sorted(data.draw(st.integers(0, len(text))) for _ in range(2))
        end = min(end, start + 40)
        text = text[:start] + data.draw(st.one_of(WORDS, st.text(max_size=3))) + text[end:]
    check(text)


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=200)
def test_any_bytes(raw: bytes) -> None:
    check(raw.decode("latin-1"))
    check(raw.decode("utf-8", errors="surrogateescape"))


def test_the_program_that_is_spliced_parses() -> None:
    assert parse(Source("test.p0", PROGRAM)).diagnostics == ()
