"""The one layout, piece by piece; `assert_formats` also sees that only white space changed."""

from __future__ import annotations

import pytest

from p0trans.source import Source
from p0trans.syntax.format import FormatError, format_source
from tests.syntax.format_support import assert_formats, formatted

HEADER = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n"
NUMBERS = range(1, 12)


def lays_out(written: str, expected: str) -> None:
    assert assert_formats(written) == expected.removeprefix("\n")


def body(written: str, expected: str) -> None:
    """Both are bodies of a definition, `expected` as it stands there."""
    assert assert_formats(HEADER + written) == HEADER + expected.removeprefix("\n")


# --- spaces -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("x+x*x", "x + x * x"),
        ("x - - x", "x - -x"),
        ("- ( - x )", "-(-x)"),
        ("not  x&&not(x)||x<=x", "not x && not (x) || x <= x"),
        ("f   -x", "f - x"),
        ("reduce [sum ,axis = 0] x", "reduce[sum, axis=0] x"),
        ("transpose[perm=[ 1,0 ]](x)", "transpose[perm=[1, 0]] (x)"),
        ("slice[axis = -1,stop=S-1]x", "slice[axis=-1, stop=S - 1] x"),
        ("broadcast x[B,2*K+1]", "broadcast x [B, 2 * K + 1]"),
        ("broadcast(x)[B]", "broadcast (x) [B]"),
        ("iota[I32,axis=1][N,S]", "iota[I32, axis=1] [N, S]"),
        ("const [ BF16 ] 0.5", "const[BF16] 0.5"),
        ("f[ ] x", "f[] x"),
        ("not iota [I32,axis=0] [ B ]", "not iota[I32, axis=0] [B]"),
        ("( x,( x ),-inf )", "(x, (x), -inf)"),
    ],
)
def test_expressions_of_one_line(written: str, expected: str) -> None:
    body(written, f"  {expected}\n")


def test_the_body_has_its_own_lines() -> None:
    body("   \n\n\t x  \n\n\n", "  x\n")


# --- headers ------------------------------------------------------------------------------


def test_a_header_that_fits_is_one_line() -> None:
    lays_out(
        "let f[B]\n  (x:Tensor[F32,[B]])\n:(Tensor [F32,[ ]],Tensor[Bool,[2*B]])where B>=2=x",
        "let f [B] (x : Tensor[F32, [B]]) : (Tensor[F32, []], Tensor[Bool, [2 * B]]) where B >= 2 ="
        "\n  x\n",
    )


def test_a_header_that_does_not_fit_is_a_line_a_part() -> None:
    lays_out(
        "let f [B, K] (x : Tensor[F32, [B]]) : (Tensor[F32, []], Tensor[Bool, [2 * B]]) "
        "where B >= 2, K % 2 == 0 assume K == B * B = x",
        """
let f [B, K]
    (x : Tensor[F32, [B]])
    : (Tensor[F32, []], Tensor[Bool, [2 * B]])
    where B >= 2, K % 2 == 0
    assume K == B * B =
  x
""",
    )


def test_a_part_of_a_header_that_does_not_fit_goes_on_below() -> None:
    names = ", ".join(f"shape_{number}" for number in NUMBERS)
    facts = ", ".join(f"shape_{number} == {number} * shape_1" for number in NUMBERS[:6])
    lays_out(
        f"let f [{names}] (x : Tensor[F32, [{names}]]) : Tensor[F32, []] where {facts} = x",
        """
let f [shape_1, shape_2, shape_3, shape_4, shape_5, shape_6, shape_7, shape_8, shape_9, shape_10,
       shape_11]
    (x : Tensor[F32, [shape_1, shape_2, shape_3, shape_4, shape_5, shape_6, shape_7, shape_8,
                      shape_9, shape_10, shape_11]])
    : Tensor[F32, []]
    where shape_1 == 1 * shape_1, shape_2 == 2 * shape_1, shape_3 == 3 * shape_1,
        shape_4 == 4 * shape_1, shape_5 == 5 * shape_1, shape_6 == 6 * shape_1 =
  x
""",
    )


# --- let … in -----------------------------------------------------------------------------


def test_equals_signs_stand_in_a_column() -> None:
    body(
        "let a=x in let (one,two)=pair[B] x in let longer = a in (a, one)",
        """
  let a          = x in
  let (one, two) = pair[B] x in
  let longer     = a in
  (a, one)
""",
    )


def test_types_have_columns_of_their_own() -> None:
    body(
        "let a = x in let b:Tensor[F32,[B]]=x in let bb : Tensor[Bool, [B, K]]=x in "
        "let ccc = x in x",
        """
  let a = x in
  let b  : Tensor[F32, [B]]     = x in
  let bb : Tensor[Bool, [B, K]] = x in
  let ccc = x in
  x
""",
    )


def test_a_blank_line_begins_a_new_column_and_a_comment_does_not() -> None:
    body(
        "let a = x in\n\n\nlet bb = x in\n// why\nlet ccc = x in\n\n// then\nlet d = x in\n\nx",
        """
  let a = x in

  let bb  = x in
  // why
  let ccc = x in

  // then
  let d = x in

  x
""",
    )


def test_a_very_long_name_moves_no_others() -> None:
    name = "a_name_that_is_longer_than_most_names"
    body(
        f"let y = x in let {name} = y in let zz = {name} in zz",
        f"""
  let y  = x in
  let {name} = y in
  let zz = {name} in
  zz
""",
    )


def test_a_let_in_a_value_or_in_parentheses_has_lines_of_its_own() -> None:
    body(
        "let y = let a = x in a * a in (let b = y in b + b) * (y, (let c = x in c), x)",
        """
  let y =
    let a = x in
    a * a in
  (let b = y in
   b + b)
  * (y,
     (let c = x in
      c),
     x)
""",
    )


# --- what does not fit --------------------------------------------------------------------


def test_a_value_that_fits_into_a_line_of_its_own() -> None:
    value = "self_attention[B, S, D, H, K] x in_proj_weight in_proj_bias out_proj_weight out_bias"
    body(f"let mixed = {value} in mixed", f"  let mixed =\n    {value} in\n  mixed\n")


def test_the_in_counts() -> None:
    value = "x" * 87
    body(f"let y = {value} in y", f"  let y = {value} in\n  y\n")
    body(f"let y = {value}x in y", f"  let y =\n    {value}x in\n  y\n")


def test_operands_stand_behind_their_operators() -> None:
    body(
        "let y = first_operand * second_operand + reduce_keep[mean, axis=2] (third_operand * "
        "fourth_operand) - fifth_operand in -(a_very_long_operand_number_one + "
        "a_very_long_operand_number_two + a_very_long_operand_number_three)",
        """
  let y =
    first_operand * second_operand
    + reduce_keep[mean, axis=2] (third_operand * fourth_operand)
    - fifth_operand in
  -(a_very_long_operand_number_one
    + a_very_long_operand_number_two
    + a_very_long_operand_number_three)
""",
    )


def test_arguments_stand_below_their_head() -> None:
    body(
        "reshape (matmul (softmax[BH, S, S] (select (cols <= rows) scores (broadcast (-inf) "
        "[BH, S, S]))) (reshape vh [BH, S, K])) [B, H, S, K]",
        """
  reshape
    (matmul
       (softmax[BH, S, S] (select (cols <= rows) scores (broadcast (-inf) [BH, S, S])))
       (reshape vh [BH, S, K]))
    [B, H, S, K]
""",
    )


def test_items_stand_below_each_other() -> None:
    body(
        "(first_operand_of_the_tuple * second_operand, third_operand_of_the_tuple + "
        "a_fourth_operand, (x, x))",
        """
  (first_operand_of_the_tuple * second_operand,
   third_operand_of_the_tuple + a_fourth_operand,
   (x, x))
""",
    )


def test_lists_go_on_under_their_first_item() -> None:
    names = ", ".join(f"shape_{number}" for number in NUMBERS)
    body(
        f"transformer_block[{names}] x [{names}]",
        """
  transformer_block[shape_1, shape_2, shape_3, shape_4, shape_5, shape_6, shape_7, shape_8, shape_9,
                    shape_10, shape_11]
    x
    [shape_1, shape_2, shape_3, shape_4, shape_5, shape_6, shape_7, shape_8, shape_9, shape_10,
     shape_11]
""",
    )


# --- declarations -------------------------------------------------------------------------


def test_declarations_are_a_blank_line_apart() -> None:
    lays_out(
        "\n\nfrom a.b import c,d\nfrom e import f\n\n\nfrom g import h\nmodule A=f\nmodule B = g\n"
        f"{HEADER}x\n/// Doc.\n\n{HEADER}x\n\n\n\nmodule C = h",
        f"""
from a.b import c, d
from e import f

from g import h

module A = f
module B = g

{HEADER}  x

/// Doc.
{HEADER}  x

module C = h
""",
    )


def test_a_long_import_goes_on_further_in() -> None:
    names = ", ".join(f"name_number_{number}" for number in NUMBERS[:7])
    lays_out(
        f"from a.b import {names}",
        """
from a.b import name_number_1, name_number_2, name_number_3, name_number_4, name_number_5,
    name_number_6, name_number_7
""",
    )


def test_modules() -> None:
    arguments = ", ".join(f"argument_{number} = value_{number}" for number in NUMBERS[:5])
    lays_out(
        "module C=h with param w=normal( 0.02 ) buffer b=uniform (-1,1)\n\n\nconst eps=-1e-6\n"
        f"sub a = N( ) sub n=Norm({arguments})",
        """
module C = h with
  param w = normal(0.02)
  buffer b = uniform(-1, 1)

  const eps = -1e-6
  sub a = N()
  sub n = Norm(argument_1 = value_1, argument_2 = value_2, argument_3 = value_3,
               argument_4 = value_4, argument_5 = value_5)
""",
    )


# --- comments -----------------------------------------------------------------------------


def test_comments_at_line_ends_stand_in_a_column() -> None:
    body(
        "let a=x in// [B]\nlet longer = a in (* also [B] *)\nlet b = x in\nb // last   \n",
        """
  let a      = x in  // [B]
  let longer = a in  (* also [B] *)
  let b      = x in
  b  // last
""",
    )
    lays_out(
        "let f // name\n(x : Tensor[F32, []]) // an input\n"
        "(long_name : Tensor[F32, []]) // another\n: Tensor[F32, []] = // result\nx",
        """
let f  // name
    (x : Tensor[F32, []])          // an input
    (long_name : Tensor[F32, []])  // another
    : Tensor[F32, []] =            // result
  x
""",
    )


def test_a_comment_within_an_expression_breaks_it() -> None:
    body(
        "let y = x // one\n + x in\nf\n// two\nx (* three *) y",
        """
  let y =
    x  // one
    + x in
  f
    // two
    x  (* three *)
    y
""",
    )
    body("f x (* short *) y", "  f x (* short *) y\n")


def test_a_comment_where_no_line_ends() -> None:
    body(
        "reduce[sum, axis // why\n = 0] x",
        "  reduce[sum,\n         axis  // why\n             =0]\n    x\n",
    )


def test_a_long_block_comment_moves_as_a_whole() -> None:
    body(
        "      (* one\n           two\n\n         three *)\n x",
        "  (* one\n       two\n\n     three *)\n  x\n",
    )
    body("(* one\n two *)\nx", "  (* one\n   two *)\n  x\n")
    body("    (* one\n two *)\nx", "  (* one\ntwo *)\n  x\n")


def test_indented_comments_stay_with_what_is_above_them() -> None:
    lays_out(
        f"{HEADER}x\n    // inside\n\n   // still inside\n// outside\n"
        f"{HEADER}x\n  // last\n// end\n",
        f"""
{HEADER}  x
  // inside

  // still inside

// outside
{HEADER}  x
  // last

// end
""",
    )


def test_comments_around_declarations_keep_their_blank_lines() -> None:
    lays_out(
        f"\n// file\n// head\n\n\n// more\n/// Doc.\n\n{HEADER}x\n\n\n\n// end",
        f"""
// file
// head

// more
/// Doc.
{HEADER}  x

// end
""",
    )


def test_a_doc_comment_stays_one_and_no_other_becomes_one() -> None:
    lays_out(
        f"  /// Old.\n\n /// New.\n{HEADER}x /// not of g\n(* *) /// nor this\n"
        "let g : Tensor[F32, []] = 1.0",
        f"""
/// Old.

/// New.
{HEADER}  x  /// not of g

(* *) /// nor this
let g : Tensor[F32, []] =
  1.0
""",
    )


# --- texts --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", ""),
        ("\n \n", ""),
        ("  // only  \n\n\n(* comments *)", "// only\n\n(* comments *)\n"),
        ("// a\r\nmodule A = f // b\r\n", "// a\r\nmodule A = f  // b\r\n"),
        ("module A=f\rmodule B=f\r\n", "module A = f\r\nmodule B = f\r\n"),
        ("module A=f\nmodule B=f\r\n", "module A = f\nmodule B = f\n"),
    ],
)
def test_whole_texts(written: str, expected: str) -> None:
    assert assert_formats(written) == expected


@pytest.mark.parametrize("text", ["let f", "module A = f # no", "(* open", f"{HEADER}\r\n  x +"])
def test_a_syntax_error_is_reported(text: str) -> None:
    source = Source("test.p0", text)
    with pytest.raises(FormatError) as caught:
        format_source(source)
    assert caught.value.diagnostics
    assert all(found.primary.place.source is source for found in caught.value.diagnostics)
    assert str(caught.value) == caught.value.diagnostics[0].message


def test_the_name_of_the_file_does_not_count() -> None:
    assert formatted("module A=f") == format_source(Source("other", "module A=f"))
