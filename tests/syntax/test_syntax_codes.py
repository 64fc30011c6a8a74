"""Each syntax error: its code, its place, its words, and a fix that works where it has one."""

from __future__ import annotations

import pytest

from p0trans.diagnostics.codes import table
from p0trans.diagnostics.model import Diagnostic, Edit
from p0trans.source import Source
from p0trans.syntax.parse import parse

HEADER = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] ="


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    return parse(Source("test.p0", text)).diagnostics


def only(text: str) -> Diagnostic:
    (found,) = diagnostics(text)
    assert found.family == "syntax"
    return found


def place(found: Diagnostic) -> str:
    return found.primary.place.text


def fixed(text: str) -> str:
    """`text` with all machine fixes applied."""
    edits: list[Edit] = []
    for found in diagnostics(text):
        for fix in found.fixes:
            assert fix.machine
            edits += fix.edits
    for edit in sorted(edits, key=lambda edit: edit.place.span, reverse=True):
        span = edit.place.span
        text = text[: span.start] + edit.text + text[span.end :]
    return text


ERRORS = [
    ("P0001", HEADER + " x +", "", "unexpected end of the declaration in the body of `f`"),
    ("P0001", HEADER + " x ** x", "*", "unexpected `*` in the body of `f`"),
    ("P0001", HEADER + " x.T", ".", "unexpected `.` in the body of `f`"),
    ("P0001", HEADER + " let y = in y", "in", "unexpected `in` in the value of `y`"),
    ("P0001", HEADER + " let y x in y", "x", "unexpected `x` in the `let` of `y`"),
    ("P0001", HEADER + " let (a) = x in a", ")", "unexpected `)` in a `let` of several names"),
    ("P0001", HEADER + " let = x in x", "=", "unexpected `=` in a `let`"),
    ("P0001", "let f [2] (", "2", "unexpected `2` in the shape parameters of `f`"),
    (
        "P0001",
        "let f (x : F32) : Tensor[F32, []] = x",
        "F32",
        "unexpected `F32` in the parameters of `f`",
    ),
    (
        "P0001",
        "let f : Tensor[F32] = x",
        "]",
        "unexpected `]` in the result type of `f`",
    ),
    (
        "P0001",
        "let f [S] : Tensor[F32, []] assume S == 2 where S == 2 = x",
        "where",
        "unexpected `where` in the `assume` of `f`",
    ),
    ("P0001", "let rec f [B] (x", "f", "unexpected `f` in the header of `rec`"),
    ("P0001", "module M = f with param w = 1.0", "1.0", "unexpected `1.0` in the module `M`"),
    ("P0001", "module M = f with const c = ones", "ones", "unexpected `ones` in the module `M`"),
    ("P0001", "from a import 2", "2", "unexpected `2` in an import"),
    ("P0002", HEADER + " x (* y", "(*", "this comment is not closed"),
    ("P0002", HEADER + " (* y (* z *) x", "(*", "this comment is not closed"),
    ("P0003", HEADER + "\n  let y = x + x\n  y", "x", "the `let` of `y` has no `in`"),
    ("P0003", HEADER + "\n  let y = x + x\n", "x", "the `let` of `y` has no `in`"),
    ("P0004", HEADER + " x @ x", "@", "`@` cannot occur in a program"),
    ("P0004", HEADER + " α", "α", "`α`, U+03B1 (greek small letter alpha) cannot occur in"),
    ("P0004", HEADER + " x\0", "\0", "U+0000 (a control character) cannot occur in a program"),
    ("P0004", HEADER + " let y = x; y", ";", "`;` cannot occur in a program"),
    ("P0005", HEADER + " let y = (x in y", "(", "`(` is not closed"),
    ("P0005", HEADER + " f[B", "[", "`[` is not closed"),
    ("P0005", HEADER + " x)", ")", "`)` closes nothing"),
    ("P0005", HEADER + " (x]", "]", "`]` does not close `(`"),
    ("P0005", HEADER + " (x + ]", "]", "`]` does not close `(`"),
    ("P0006", HEADER + " " + "1" * 5000, "1" * 5000, "this number has too many digits"),
    ("P0006", HEADER + " 1e999", "1e999", "this number is beyond the range of any float"),
    ("P0007", HEADER + " x < x < x", "<", "a comparison cannot be compared again"),
    (
        "P0007",
        "let f [S] : Tensor[F32, []] where 1 <= S <= 4 = x",
        "<=",
        "a comparison cannot be compared again",
    ),
    ("P0008", HEADER + " let with = x in x", "with", "`with` is a reserved word"),
    ("P0008", "let f (in : Tensor[F32, []]) :", "in", "`in` is a reserved word"),
    ("P0009", HEADER + " let y = x in", "in", "nothing follows the `in` of `let y`"),
    ("P0009", HEADER + " (let y = x in)", "in", "nothing follows the `in` of `let y`"),
    (
        "P0009",
        HEADER + " let y = x in let z = let w = x in w in",
        "in",
        "nothing follows the `in` of `let z`",
    ),
    (
        "P0010",
        "let f [B] (x : Tensor[F32, [B]]) = x",
        "=",
        "the definition of `f` does not state the type of its result",
    ),
    ("P0010", "let f = 1.0", "=", "the definition of `f` does not state the type of its result"),
    ("P0011", HEADER + " 1_000", "1_000", "`1_000` is not a number"),
    ("P0011", HEADER + " 0x1F", "0x1F", "`0x1F` is not a number"),
    ("P0012", "let f (x) : Tensor[F32, []] = x", "x", "the parameter `x` is not written as"),
    ("P0012", "let f x : Tensor[F32, []] = x", "x", "the parameter `x` is not written as"),
    ("P0014", HEADER + " maximum x, x", ",", "there is no place for a comma in the body of `f`"),
    ("P0015", "def f(x):\n  return x", "def", "`def` does not start a declaration"),
    ("P0015", "import torch", "import", "`import` does not start a declaration"),
    ("P0015", ") let", ")", "`)` does not start a declaration"),
]


@pytest.mark.parametrize(("code", "text", "at", "message"), ERRORS)
def test_error(code: str, text: str, at: str, message: str) -> None:
    found = only(text)
    assert found.code == code
    assert place(found) == at
    assert found.message.startswith(message)


MENDED = [
    ("P0001", "let f (x : Tensor[F32, []]) -> Tensor[F32, []] = x", ("->", ":")),
    (
        "P0001",
        "let f (x : Tensor[F32, []]) : Tensor[F32, []]\n  exp x",
        ("[]]\n  exp", "[]] =\n  exp"),
    ),
    (
        "P0001",
        "module M = f with param w = 1.0 const c = 2",
        ("1.0", "full(1.0)"),
    ),
    ("P0001", "module M = f\n  param w = ones", ("f\n", "f with\n")),
    ("P0001", "let f (x : tensor[F32, []]) : Tensor[F32, []] = x", ("tensor", "Tensor")),
    ("P0001", "let f [S] : Tensor[F32, []] where S >= 2 && S < 9 = x", ("&&", ",")),
    ("P0004", HEADER + "\n  let y = exp x;\n  y", (";", " in")),
    ("P0004", HEADER + " x × x", ("×", "*")),
    ("P0004", HEADER + "\u00a0x", ("\u00a0", " ")),
    ("P0004", HEADER + "\u200bx", ("\u200b", "")),
    ("P0004", HEADER + " x & x", ("&", "&&")),
    ("P0004", HEADER + " x ≤ x", ("≤", "<=")),
    ("P0004", HEADER + " # why\n  x", ("#", "//")),
    ("P0004", HEADER + " # one\n # two\n x # three", ("#", "//")),
    ("P0005", "let f (x : Tensor[F32, [B]) : Tensor[F32, []] = x", ("[B]", "[B]]")),
    ("P0005", "let f (x : Tensor[F32, [B) : Tensor[F32, []] = x", ("[B", "[B]]")),
    ("P0011", "let f [K] (x : Tensor[F32, [2K]]) : Tensor[F32, [K]] = x", ("2K", "2 * K")),
    ("P0011", "let f [K] : Tensor[F32, []] where 2K == 4 = x", ("2K", "2 * K")),
    ("P0011", HEADER + " exp .5", (".5", "0.5")),
    ("P0013", HEADER + " let y == x in y", ("==", "=")),
    ("P0013", HEADER + " x <> y", ("<>", "!=")),
    ("P0013", "let f [S] : Tensor[F32, []] where S => 2 = x", ("=>", ">=")),
    ("P0013", "let f : Tensor[F32, []]:\n  1.0", ("]:", "]=")),
    ("P0013", "let f [S] : Tensor[F32, []] where S = 2 = x", ("S = 2", "S == 2")),
    (
        "P0014",
        "let f (x : Tensor[F32, []], y : Tensor[F32, []]) : Tensor[F32, []] = x",
        ("]], y", "]]) ( y"),
    ),
    ("P0014", "let f [B D] : Tensor[F32, []] = x", ("B D", "B, D")),
    ("P0014", "let f [B, D,] : Tensor[F32, []] = x", ("D,", "D")),
    ("P0014", HEADER + " f[axis=1 B] x", ("1 B", "1, B")),
    ("P0014", HEADER + " f[B,, B] x", (",,", ",")),
    ("P0015", "lte f : Tensor[F32, []] = x", ("lte", "let")),
]


@pytest.mark.parametrize(("code", "text", "change"), MENDED)
def test_fix(code: str, text: str, change: tuple[str, str]) -> None:
    assert only(text).code == code
    assert fixed(text) == text.replace(*change)
    assert diagnostics(fixed(text)) == ()
    parsed = parse(Source("test.p0", text))
    assert len(parsed.file.declarations) == 1
    assert parsed.broken == ()


def test_a_fix_that_does_not_help_is_not_offered() -> None:
    found = only(HEADER + " x × × x")
    assert found.code == "P0004"
    assert found.fixes == ()


def test_a_fix_in_a_declaration_that_stays_broken_is_not_applied_unseen() -> None:
    second, first = diagnostics(HEADER + " f[B x")
    assert (first.code, second.code) == ("P0014", "P0005")
    assert [fix.machine for fix in first.fixes] == [False]


def test_a_chain_is_offered_as_two_comparisons_but_not_applied_unseen() -> None:
    (fix,) = only(HEADER + " x < y z < x").fixes
    assert not fix.machine
    assert [edit.text for edit in fix.edits] == [" && y z"]
    (fix,) = only("let f [S] : Tensor[F32, []] where 1 <= S <= 4 = x").fixes
    assert [edit.text for edit in fix.edits] == [", S"]


def test_a_step_without_let_is_offered_one() -> None:
    (fix,) = only(HEADER + "\n  y = exp x\n  y").fixes
    assert not fix.machine
    assert [edit.text for edit in fix.edits] == ["let "]


def test_a_clause_that_compares_nothing() -> None:
    found = only("let f [S] : Tensor[F32, []] where S = 1.0")
    assert found.code == "P0001"
    assert place(found) == "="


# --- missing `in` ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("\n  let y = x + x\n  y", ["y"]),
        ("\n  let y = x + x // more\n  (y)", ["y"]),
        ("\n  let y = x\n  let z = y in\n  z", ["y"]),
        ("\n  let y = x\n  let z = y\n  let w = z\n  w", ["y", "z", "w"]),
        ("\n  let y =\n    let z = x\n    z\n  y", ["z", "y"]),
        ("\n  let y = let z = x\n    z\n  in y", ["z"]),
        ("\n  let y = f x\n    x\n  f y", ["y"]),
        (" let y = x let z = y in z", ["y"]),
        ("\n  f (let y = x\n     y) x", ["y"]),
        ("\n  let (a, b) = x\n  a", [""]),
        ("\n  let y : Tensor[F32, []] = reshape x []\n  not y", ["y"]),
    ],
)
def test_missing_in(text: str, names: list[str]) -> None:
    found = diagnostics(HEADER + text)
    assert [d.code for d in found] == ["P0003"] * len(names)
    quoted = [f"`{name}`" if name else "a tuple" for name in names]
    assert [d.message for d in found] == [f"the `let` of {name} has no `in`" for name in quoted]
    mended = fixed(HEADER + text)
    assert diagnostics(mended) == ()
    assert mended.count(" in") == (HEADER + text).count(" in") + len(names)


def test_missing_in_stands_beside_another_error() -> None:
    found = diagnostics(HEADER + "\n  let y = x\n  let z = y in\n  z @ y")
    assert [d.code for d in found] == ["P0003", "P0004"]


def test_layout_means_nothing_to_a_program_that_parses() -> None:
    assert diagnostics(HEADER + "\nlet y = f\nx in\ny") == ()


def test_layout_is_not_blamed_for_another_error() -> None:
    found = only(HEADER + "\n  let y = f\n  x in\n  y @ x")
    assert found.code == "P0004"


# --- notes and labels -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (" x ** x", "`pow a b`"),
        (" x @ x", "`matmul a b`"),
        (" x.T", "`transpose[perm=[1, 0]] x`"),
        (" x with", "`with` is a reserved word"),
        (" x[0:4]", "`slice[axis=n, start=i, stop=j] x`"),
        ("\n  y = exp x\n  y", "`let name = value in`"),
        (" reduce[sum] x axis=0", "`f[axis=1] x`"),
        (" reshape x [B // 2]", "`//` starts a comment"),
    ],
)
def test_note(text: str, note: str) -> None:
    assert note in "\n".join(only(HEADER + text).notes)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        (HEADER + " x +", "expected an expression"),
        (HEADER + " f[B=", "opened here"),
        (HEADER + " f[]]", ""),
        ("let f", "expected `(`, `:` or `[`"),
        ("let 1", "expected a name"),
        ("let f : 1", "expected a type"),
        ("let f : Tensor[F32, [+", "expected `]` or a dim"),
        ("let f : Tensor[F32, []] where S", "expected a comparison or an operator"),
        ("module M = f with 1", "expected the next item of the module"),
        ("module M = f with const c = x", "expected a number"),
        ("from a import b 1", "expected `,` or the next declaration"),
    ],
)
def test_label_says_what_could_have_come(text: str, label: str) -> None:
    assert only(text).primary.text == label


def test_a_mismatched_bracket_shows_both_ends() -> None:
    found = only(HEADER + " let y = (x in y")
    assert [(s.place.text, s.text) for s in found.secondary] == [("in", "expected `)` before this")]


def test_every_syntax_code_is_provoked_here() -> None:
    provoked = {error[0] for error in ERRORS} | {mended[0] for mended in MENDED}
    assert provoked == {c.code for c in table().values() if c.family == "syntax"}
