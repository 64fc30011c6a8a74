"""What is said of a wrong program: one mistake once, in the words and with the fix that help."""

from __future__ import annotations

from pathlib import Path

import pytest

import p0trans
from p0trans.checker.suggest import nearest
from p0trans.diagnostics.apply import apply_fixes
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.driver import check_sources
from p0trans.source import Source

DOUBLE = "let g [A, B] (x : Tensor[F32, [A, B]]) : Tensor[F32, [A, B]] = x + x\n"


def over_x(body: str, dtype: str = "F32", result: str = "") -> str:
    result = result or f"Tensor[{dtype}, [A, B]]"
    return f"let f [A, B] (x : Tensor[{dtype}, [A, B]]) : {result} =\n  {body}\n"


def errors(text: str | Source) -> tuple[Diagnostic, ...]:
    source = Source("f.p0", text) if isinstance(text, str) else text
    found = check_sources([source]).diagnostics
    return tuple(d for d in found if d.severity is Severity.ERROR)


def only(text: str) -> Diagnostic:
    (found,) = errors(text)
    return found


def offered(found: Diagnostic, *, machine: bool) -> list[str]:
    return [e.text for fix in found.fixes if fix.machine is machine for e in fix.edits]


# --- one mistake, one error -----------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "let y : Tensor[BF16, [A, B]] = x in let z = exp y in z + x",
        "let y = broadcast x [B, A] in y + x",
        "let y = reshape x [2 * A, B] in y + x",
        "let (y, z) = (g[B, A] x, x) in y + z",
        "broadcast 2147483648 [A, B] + x",
    ],
)
def test_a_written_type_in_doubt_is_not_reported_again(body: str) -> None:
    only(DOUBLE + over_x(body))


def test_a_call_whose_sizes_are_not_in_doubt_goes_on() -> None:
    found = errors(DOUBLE + over_x("let y = g[A, B] (cast[BF16] x) in reduce[sum, axis=0] y"))
    assert [d.code for d in found] == ["P0301", "P0503"]


def test_shape_arguments_that_fit_are_offered() -> None:
    found = only(DOUBLE + over_x("g[B, A] x"))
    assert offered(found, machine=False) == ["g[A, B]"]


def test_a_dim_below_one_is_reported_once_for_each_number() -> None:
    text = (
        "let f [A] (x : Tensor[F32, [A, 0]]) : Tensor[F32, [0, A - A]] = transpose[perm=[1, 0]] x"
    )
    assert [d.message for d in errors(text)] == ["the dim 0 is less than 1"]


def test_what_an_imported_file_could_not_say_is_not_missed(tmp_path: Path) -> None:
    (tmp_path / "b.p0").write_text("let g [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = (x\n")
    file = tmp_path / "a.p0"
    file.write_text(
        "from b import g, h\nlet f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = g[B] x\n"
    )
    found = p0trans.check(file).diagnostics
    assert [d.message for d in found] == [
        "`(` is not closed",
        "`b` has no definition or module `h`",
    ]


@pytest.mark.parametrize(
    ("demand", "sizes"),
    [("where", ""), ("assume", ""), ("assume", "where B < A")],
)
def test_a_demand_that_no_sizes_meet(demand: str, sizes: str) -> None:
    """Where arithmetic can tell, an assumption is not left to run time."""
    double = "N == 2 * M" if sizes else "N == M + 1"
    second = "B" if sizes else "A"
    text = (
        f"let g [M, N] (x : Tensor[F32, [M]]) (y : Tensor[F32, [N]]) : Tensor[F32, [M]]"
        f" {demand} {double} = x\n"
        f"let f [A, B] (x : Tensor[F32, [A]]) (y : Tensor[F32, [{second}]]) : Tensor[F32, [A]]"
        f" {sizes} = g[A, {second}] x y\n"
    )
    assert only(text).family == "constraint"


@pytest.mark.parametrize(
    ("dtype", "value", "fits"),
    [
        ("Bool", "2", False),
        ("Bool", "1", True),
        ("Bool", "true", True),
        ("F32", "true", False),
        ("I8", "200", False),
        ("I32", "1.5", False),
        ("F16", "1e9", False),
        ("F32", "-inf", True),
    ],
)
def test_what_fills_a_buffer_is_a_value_of_its_dtype(dtype: str, value: str, fits: bool) -> None:
    text = (
        f"let f [A] (x : Tensor[F32, [A]]) (w : Tensor[{dtype}, [A]]) : Tensor[F32, [A]] ="
        f" x * cast[F32] w\nmodule M = f with\n  buffer w = full({value})\n"
    )
    assert [d.code for d in errors(text)] == ([] if fits else ["P0906"])


# --- what was expected ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (over_x("slice[axis=0, start=0, stop=A, step=0] x"), "`step=0` of `slice`"),
        (over_x("slice[axis=0, start=2, stop=1] x"), "2 < 1, which is false"),
        (over_x("x[0]"), "`slice`"),
        (over_x("reduce[sum, axis=1, keepdim=1] x"), "`reduce_keep`"),
        (over_x("x and x", "Bool"), "`a && b`"),
        (over_x("return x"), "the last expression of a body is its result"),
        (over_x("const[F32] true"), "the literal true"),
        (over_x("x") + "module f = f", "the name `f` is declared twice"),
        (over_x("transpose[0, 1] x"), "`transpose[perm=[…]] a`"),
    ],
)
def test_words(text: str, words: str) -> None:
    found = only(text)
    assert words in "\n".join((found.message, *found.notes))


def test_a_demand_in_the_same_words_is_said_once() -> None:
    text = (
        "let g [S] (x : Tensor[F32, [S]]) : Tensor[F32, [S]] where S >= 2 = x\n"
        "let f [S] (x : Tensor[F32, [S]]) : Tensor[F32, [S]] = g[S] x\n"
    )
    assert only(text).message == "`g` needs S >= 2, which is not proved: it fails for S = 1"


# --- fixes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "fixed"),
    [
        ("where N == A * B", "assume N == A * B"),
        ("where N == A * B, N >= 2", "where N >= 2 assume N == A * B"),
        ("where N >= 2, N == A * B", "where N >= 2 assume N == A * B"),
        ("where N == A * B assume B == 2 * A", "assume B == 2 * A, N == A * B"),
    ],
)
def test_a_product_moves_from_where_to_assume(clauses: str, fixed: str) -> None:
    def text(written: str) -> str:
        return (
            "let f [A, B, N] (x : Tensor[F32, [N]]) (y : Tensor[F32, [A, B]])"
            f" : Tensor[F32, [A, B]] {written} = y + reshape x [A, B]\n"
        )

    source = Source("f.p0", text(clauses))
    assert apply_fixes(source, errors(source)) == (text(fixed), 1)
    assert errors(text(fixed)) == ()


def test_a_division_is_a_factor_in_parentheses() -> None:
    text = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [2, B / 2]] where B >= 2 ="
    found = only(f"{text} reshape x [2, B / 2]")
    # It narrows what the definition takes, so a person has to say.
    assert offered(found, machine=False) == ["assume B == 2 * (B / 2) "]


@pytest.mark.parametrize("dim", ["2*B", "2 * B"])
def test_a_fix_spells_a_dim_as_the_text_does(dim: str) -> None:
    text = (
        f"let f [A, B] (x : Tensor[F32, [A, {dim}]]) (w : Tensor[F32, [{dim}]])"
        f" : Tensor[F32, [A, {dim}]] = x * w"
    )
    assert offered(only(text), machine=True) == [f"broadcast w [A, {dim}]"]


def test_a_wide_literal_may_be_meant() -> None:
    assert offered(only("let f : Tensor[I32, []] = 2147483648"), machine=False) == [
        "(const[I64] 2147483648)"
    ]


@pytest.mark.parametrize("first", ["x", "(exp x)"])
def test_operands_change_places(first: str) -> None:
    def text(one: str, other: str) -> str:
        parameters = "(x : Tensor[F32, [A, B]]) (y : Tensor[F32, [B, C]])"
        return f"let f [A, B, C] {parameters} : Tensor[F32, [A, C]] = matmul {one} {other}"

    source = Source("f.p0", text("y", first))
    assert apply_fixes(source, errors(source)) == (text(first, "y"), 1)


@pytest.mark.parametrize("written", ["A", "", "A (* [B] *)", "A=A, B=B"])
def test_a_bracket_is_replaced_whole(written: str) -> None:
    text = DOUBLE + over_x(f"g[{written}] x")
    source = Source("f.p0", text)
    assert apply_fixes(source, errors(source)) == (DOUBLE + over_x("g[A, B] x"), 1)


@pytest.mark.parametrize(
    ("name", "near"), [("foo", None), ("expp", "exp"), ("flor", "floor"), ("matmull", "matmul")]
)
def test_a_short_name_is_near_few(name: str, near: str | None) -> None:
    assert nearest(name, ["exp", "floor", "matmul"]) == near


@pytest.mark.parametrize(
    ("found", "needed", "machine"),
    [("[B, S, 3]", "[S, B, 3]", True), ("[2, 1, 2]", "[2, 2, 1]", False)],
)
def test_a_transpose_is_for_a_machine_where_only_one_fits(
    found: str, needed: str, machine: bool
) -> None:
    (fix,) = only(f"let f [B, S] (x : Tensor[F32, {found}]) : Tensor[F32, {needed}] = x\n").fixes
    assert "transpose[perm=" in fix.title
    assert fix.machine is machine
