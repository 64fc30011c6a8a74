"""What a line's explanation says, word for word where a reader would follow the proof."""

from __future__ import annotations

import pytest

from p0trans.driver import check_sources
from p0trans.source import Source
from p0trans.tools.explain import Explanation, explain_line

PROGRAM = """\
let halves [B, S] (x : Tensor[F32, [B, S]]) : (Tensor[F32, [B, S - 1]], Tensor[F32, [B, 1]])
  where S >= 2 =
  let head : Tensor[F32, [B, S - 1]] = slice[axis=1, start=0, stop=S - 1] x in
  (head, slice[axis=1, start=S - 1, stop=S] x)

let flat [B, H, N]
  (x : Tensor[F32, [B, H]])
  : Tensor[F32, [N]]
  assume N == B * H =
  reshape x [N]

let use [B, K, M] (x : Tensor[F32, [B, 2*K]]) (scale : Tensor[F32, []]) : Tensor[F32, [M]] =
  let (head,
       last) = halves[B, 2*K] x in
  let scaled
    = head
      * broadcast scale [B, 2*K - 1] in

  let same = last in
  let keys = transpose[perm=[1, 0]] scaled in
  let ids = iota[I64, axis=0] [3] in
  let again = same in
  flat[B, 2*K, M] x
"""
SOURCE = Source("halves.p0", PROGRAM)
CHECKED = check_sources([SOURCE])


def explain(text: str, line: int) -> Explanation:
    source = Source("text.p0", text)
    return explain_line(check_sources([source]), source, line)


def body(line: int) -> str:
    """What is said of a line of PROGRAM below the line itself and the sizes."""
    explanation = explain_line(CHECKED, SOURCE, line)
    assert explanation.found
    return explanation.text.split("\n\n", 3)[-1]


def test_heading_has_the_line_and_where_every_size_comes_from() -> None:
    text = explain_line(CHECKED, SOURCE, 19).text
    assert text.startswith(
        "halves.p0:19 in `use`\n\n"
        "19 |   let same = last in\n\n"
        "sizes: B = x.shape[0], K = x.shape[1] / 2, M is given by the caller\n\n"
    )


def test_premises_bounds_and_declared_type() -> None:
    assert body(3) == """\
head = slice[axis=1, start=0, stop=S - 1] x
  rule    `slice[axis=n, start=d, stop=d] a`: The part of one axis from `start` up to, not
          including, `stop`; with `step=INT`, each INTth element of it. `0 <= start < stop <= ` the
          axis's size must be proved.
  given   a = x : Tensor[F32, [B, S]], a parameter of line 1
  proved  axis=1 is a literal, 0 <= 1 < 2, the rank
          1 <= 1, 0 <= 0, by arithmetic
          0 < S - 1, by `where S >= 2`
          S - 1 <= S, since every shape variable is at least 1
  so      Tensor[F32, [B, S - 1]]
  proved  B == B, S - 1 == S - 1, the same on both sides
  so      Tensor[F32, [B, S - 1]], as this `let` declares
"""


def test_nested_steps_come_in_the_order_of_evaluation() -> None:
    assert body(15) == """\
broadcast scale [B, 2*K - 1]
  rule    `broadcast a [d…]`: `a` repeated to the written shape. Shapes are aligned at their ends:
          each dim of `a` is the literal 1 or equal to its target, and new dims come in front.
  given   a = scale : Tensor[F32, []], a parameter of line 12
  proved  2*K - 1 >= 1, since every shape variable is at least 1
  so      Tensor[F32, [B, 2*K - 1]]

scaled = head * broadcast scale [B, 2*K - 1]
  rule    `a * b`: Product, element by element, of two tensors of one numeric dtype and one shape.
  given   a = head : Tensor[F32, [B, 2*K - 1]], a step of line 13
          b = broadcast scale [B, 2*K - 1] : Tensor[F32, [B, 2*K - 1]], a step of line 17
  proved  a and b are both F32, a numeric dtype
          B == B, 2*K - 1 == 2*K - 1, the same on both sides
  so      Tensor[F32, [B, 2*K - 1]]
"""


def test_a_part_of_a_step_has_the_steps_that_reach_over_the_line() -> None:
    assert body(16).startswith("scaled = head *")
    assert body(17) == body(15)


def test_a_call_shows_what_is_demanded_and_how_it_is_met() -> None:
    assert body(14) == """\
halves[B, 2*K] x
  rule    `halves`, declared at halves.p0:1, with B = B, S = 2*K
  given   x = x : Tensor[F32, [B, 2*K]], a parameter of line 12
  takes   x : Tensor[F32, [B, 2*K]]
  where   S >= 2 has to hold: here 2*K >= 2, since every shape variable is at least 1
  proved  2*K >= 1, since every shape variable is at least 1
          B == B, 2*K == 2*K, the same on both sides
  so      (Tensor[F32, [B, 2*K - 1]], Tensor[F32, [B, 1]])

last
  rule    this name is item 1 of the tuple
  given   tuple = halves[B, 2*K] x : (Tensor[F32, [B, 2*K - 1]], Tensor[F32, [B, 1]]), a step of
          line 14
  so      Tensor[F32, [B, 1]]
"""


def test_an_assumption_that_a_call_leaves_to_run_time_and_the_result() -> None:
    assert body(23) == """\
flat[B, 2*K, M] x
  rule    `flat`, declared at halves.p0:6, with B = B, H = 2*K, N = M
  given   x = x : Tensor[F32, [B, 2*K]], a parameter of line 12
  takes   x : Tensor[F32, [B, 2*K]]
  assume  N == B*H is relied on: here M == 2*B*K, not proved, so checked when it runs
  proved  2*K >= 1, since every shape variable is at least 1
          B == B, 2*K == 2*K, the same on both sides
  so      Tensor[F32, [M]]

the result of use
  given   value = flat[B, 2*K, M] x : Tensor[F32, [M]], a step of line 23
  proved  M == M, the same on both sides
  so      Tensor[F32, [M]], as declared in line 12
"""


def test_an_assumption_that_is_proved_where_the_call_stands() -> None:
    text = PROGRAM.replace(
        "(scale : Tensor[F32, []]) : Tensor[F32, [M]]",
        "(scale : Tensor[F32, []]) : Tensor[F32, [M]] assume M == 2 * B * K",
    )
    assert "here M == 2*B*K, by `assume M == 2*B*K`\n" in explain(text, 23).text


def test_a_reshape_names_the_fact_that_its_volume_rests_on() -> None:
    assert "  proved  B*H == N, by `assume N == B*H`\n" in body(10)


def test_a_permutation_and_a_name_for_a_name() -> None:
    assert "  proved  perm=[1, 0] has each of the 2 axes once\n" in body(20)
    assert body(19).startswith("same = last\n  rule    another name for the same value\n")


def test_an_axis_of_what_has_no_operand() -> None:
    assert "  proved  axis=0 is a literal, 0 <= 0 < 1, the rank\n" in body(21)


def test_signature_lines() -> None:
    assert "parameter x\n" in body(7)
    assert body(8).startswith("result Tensor[F32, [N]]\n")
    assert "line 10, has to have this type" in body(8)
    assert body(9) == "N == B*H\n  rule    taken as given, and checked when the program runs\n"
    assert body(2) == "S >= 2\n  rule    a precondition, which every caller has to prove\n"
    assert body(6).startswith("signature of flat\n")
    assert body(12).startswith("parameter x\n")
    assert "\n\nparameter scale\n" in body(12)


def test_a_tuple_at_the_end() -> None:
    assert "(head, slice[axis=1, start=S - 1, stop=S] x)\n  rule    a tuple has" in body(4)
    assert "the result of halves\n" in body(4)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("select c x x", ("c is Bool", "a and b are both F32")),
        ("select (not c) (x + x) x", ("a is Bool",)),
        ("take[axis=0] x i", ("ids is I32, one of I32 I64",)),
        ("cast[F32] i", ()),
        ("cast[F32] (floordiv i i)", ("a and b are both I32, an integer dtype",)),
        ("concat[axis=0] x x x", ("a and b and operand 3 are all F32",)),
    ],
)
def test_dtypes_that_a_rule_demands(expression: str, said: tuple[str, ...]) -> None:
    text = (
        "let f [B] (x : Tensor[F32, [B]]) (i : Tensor[I32, [B]]) (c : Tensor[Bool, [B]])\n"
        "  : Tensor[F32, [B]] =\n"
        f"  let y = {expression} in\n  x\n"
    )
    lines = explain(text, 3).text.splitlines()
    found = [line for line in lines if " is " in line or " are " in line]
    dtypes = [line[10:] for line in found if line[10:].split()[-1] != "rank" and line[10] != "`"]
    for words in said:
        assert words in dtypes
    if not said:
        assert not [line for line in dtypes if line.startswith("a is")]


@pytest.mark.parametrize(
    ("where", "premise"),
    [
        ("where A == B", "A == B, by `where A == B`"),
        ("where A <= B, B <= A, A >= 3", "A == B, by `where A <= B` and `where B <= A`"),
        ("where C >= 2, A + C == B + C", "A == B, by `where A + C == B + C`"),
    ],
)
def test_the_facts_that_an_equality_rests_on(where: str, premise: str) -> None:
    text = (
        "let f [A, B, C] (x : Tensor[F32, [A]]) (y : Tensor[F32, [B]]) (z : Tensor[F32, [C]])\n"
        f"  : Tensor[F32, [A]] {where} =\n  x + y\n"
    )
    assert f"          {premise}\n" in explain(text, 3).text


def test_a_line_with_an_error_has_that_error() -> None:
    explanation = explain("let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n  x + q\n", 2)
    assert not explanation.found
    assert [error.code for error in explanation.errors] == ["P0101"]
    assert explanation.text == ""


MIXED = """\
let bad [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  let y = x * x in
  x + q

let good [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =
  bad[B] x
"""


def test_a_definition_with_an_error_elsewhere_points_at_it() -> None:
    explanation = explain(MIXED, 2)
    assert not explanation.found
    assert explanation.text.startswith("`bad` has no proof to show")
    assert [error.code for error in explanation.errors] == ["P0101"]


def test_other_definitions_of_a_wrong_file_are_explained() -> None:
    explanation = explain(MIXED, 6)
    assert explanation.found
    assert "gives the type that its signature declares; it has an error of its own" in (
        explanation.text
    )


@pytest.mark.parametrize(
    ("line", "near"),
    [
        (5, "lines 4 and 6"),
        (18, "lines 17 and 19"),
        (24, "line 23"),
        (0, "line 1"),
        (10**9, "line 23"),
    ],
)
def test_a_line_without_a_step_names_the_nearest_with_one(line: int, near: str) -> None:
    explanation = explain_line(CHECKED, SOURCE, line)
    assert not explanation.found
    assert (
        explanation.text == f"line {line} of halves.p0 has no step; the nearest with one: {near}\n"
    )


def test_an_empty_file_has_no_nearest_line() -> None:
    assert explain("// nothing\n", 1).text == "line 1 of text.p0 has no step\n"


def test_deep_nesting_and_long_chains() -> None:
    deep = "(" * 3000 + "x" + " + x)" * 3000
    chain = "\n".join(f"  let y{i} = x + x in" for i in range(3000))
    heading = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] ="
    text = f"{heading}\n{chain}\n  let z = {deep} in\n  z\n"
    assert "y2000 = x + x\n" in explain(text, 2002).text
    assert explain(text, 3002).text.count("  rule") == 3000
