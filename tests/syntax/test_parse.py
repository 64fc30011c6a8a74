"""Every form of the grammar, what it builds, and where its nodes say that they are."""

from __future__ import annotations

from typing import Any

import pytest

from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import parse

HEADER = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = "

CASE_A = """let rmsnorm [B, S, D]
    (x : Tensor[F32, [B, S, D]])
    (weight : Tensor[F32, [D]])
    (eps : Tensor[F32, []])
    : Tensor[F32, [B, S, D]] =
  let x_sq         = x * x in
  let mean_sq      = reduce_keep[mean, axis=2] x_sq in
  let eps_bcast    = broadcast eps [B, S, 1] in
  let denom_inner  = mean_sq + eps_bcast in
  let rstd         = rsqrt denom_inner in
  let rstd_bcast   = broadcast rstd [B, S, D] in
  let normed       = x * rstd_bcast in
  let weight_bcast = broadcast weight [B, S, D] in
  normed * weight_bcast
"""


def declarations(text: str) -> tuple[tree.Declaration, ...]:
    parsed = parse(Source("test.p0", text))
    assert [d.message for d in parsed.diagnostics] == []
    assert parsed.broken == ()
    return parsed.file.declarations


def definition(text: str) -> tree.Definition:
    (only,) = declarations(text)
    assert isinstance(only, tree.Definition)
    return only


def body(expression: str) -> tree.Expr:
    return definition(HEADER + expression).body


def covered(expression: str, span: Span | None) -> str:
    assert span is not None
    return (HEADER + expression)[span.start : span.end]


def plain(node: Any) -> Any:
    """A tree as nested tuples without spans; a leaf is its text or value."""
    match node:
        case tree.Identifier() | tree.Name() | tree.DimName():
            return node.text
        case tree.Literal() | tree.DimInteger():
            return node.value
    if not isinstance(node, tuple):
        return node
    names = getattr(node, "_fields", None)
    if names is None:
        return tuple(plain(item) for item in node)
    fields = [
        plain(getattr(node, name)) for name in names if not name.endswith("span") and name != "doc"
    ]
    return (type(node).__name__, *fields)


# --- expressions ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x", "x"),
        ("param", "param"),
        ("sub", "sub"),
        ("lambda", "lambda"),
        ("(x)", "x"),
        ("((x))", "x"),
        ("1", 1),
        ("1.0", 1.0),
        ("1.", 1.0),
        ("1e-6", 1e-6),
        ("1.5E3", 1500.0),
        ("inf", float("inf")),
        ("true", True),
        ("false", False),
        ("-inf", ("Unary", "-", float("inf"))),
        ("- -x", ("Unary", "-", ("Unary", "-", "x"))),
        ("not a", ("Unary", "not", "a")),
        ("f - x", ("Binary", "-", "f", "x")),
        ("f (-x)", ("Apply", "f", None, (("Unary", "-", "x"),))),
        ("-f x", ("Unary", "-", ("Apply", "f", None, ("x",)))),
        ("a + b * c", ("Binary", "+", "a", ("Binary", "*", "b", "c"))),
        ("(a + b) * c", ("Binary", "*", ("Binary", "+", "a", "b"), "c")),
        ("a - b - c", ("Binary", "-", ("Binary", "-", "a", "b"), "c")),
        ("a / b * c", ("Binary", "*", ("Binary", "/", "a", "b"), "c")),
        ("a || b && c", ("Binary", "||", "a", ("Binary", "&&", "b", "c"))),
        ("a && b < c", ("Binary", "&&", "a", ("Binary", "<", "b", "c"))),
        ("a < b + c", ("Binary", "<", "a", ("Binary", "+", "b", "c"))),
        ("not a == b", ("Binary", "==", ("Unary", "not", "a"), "b")),
        ("a * -b", ("Binary", "*", "a", ("Unary", "-", "b"))),
        ("f x y", ("Apply", "f", None, ("x", "y"))),
        ("f x 1 2.0 true", ("Apply", "f", None, ("x", 1, 2.0, True))),
        ("f (g x)", ("Apply", "f", None, (("Apply", "g", None, ("x",)),))),
        ("fn[ ]", ("Apply", "fn", (), ())),
        ("f[B]", ("Apply", "f", (("Attribute", None, "B"),), ())),
        (
            "reshape x [B, 1]",
            ("Apply", "reshape", None, ("x", ("ShapeArgument", ("B", 1)))),
        ),
        ("reshape x []", ("Apply", "reshape", None, ("x", ("ShapeArgument", ())))),
        (
            "iota[I32, axis=1] [N, S]",
            (
                "Apply",
                "iota",
                (("Attribute", None, "I32"), ("Attribute", "axis", 1)),
                (("ShapeArgument", ("N", "S")),),
            ),
        ),
        (
            "transpose[perm=[1, 0]] x",
            ("Apply", "transpose", (("Attribute", "perm", ("DimList", (1, 0))),), ("x",)),
        ),
        ("f[[]] x", ("Apply", "f", (("Attribute", None, ("DimList", ())),), ("x",))),
        ("const[BF16] 0.5", ("Apply", "const", (("Attribute", None, "BF16"),), (0.5,))),
        (
            "f[axis=-1] x",
            ("Apply", "f", (("Attribute", "axis", ("DimNegate", 1)),), ("x",)),
        ),
        (
            "broadcast (-inf) [N, S]",
            (
                "Apply",
                "broadcast",
                None,
                (("Unary", "-", float("inf")), ("ShapeArgument", ("N", "S"))),
            ),
        ),
        ("(a, b)", ("Tuple", ("a", "b"))),
        ("(a, (b), c + d)", ("Tuple", ("a", "b", ("Binary", "+", "c", "d")))),
        ("f (a, b)", ("Apply", "f", None, (("Tuple", ("a", "b")),))),
        ("let y = x in y", ("Block", (("Binding", ("y",), None, "x"),), "y")),
        (
            "let y = x in let z = y in z",
            ("Block", (("Binding", ("y",), None, "x"), ("Binding", ("z",), None, "y")), "z"),
        ),
        (
            "let y = let z = x in z in y",
            (
                "Block",
                (("Binding", ("y",), None, ("Block", (("Binding", ("z",), None, "x"),), "z")),),
                "y",
            ),
        ),
        ("let (a, b) = x in a", ("Block", (("Binding", ("a", "b"), None, "x"),), "a")),
        (
            "let y : Tensor[F32, []] = x in y",
            ("Block", (("Binding", ("y",), ("TensorType", "F32", ()), "x"),), "y"),
        ),
        (
            "(let y = x in y) + x",
            ("Binary", "+", ("Block", (("Binding", ("y",), None, "x"),), "y"), "x"),
        ),
    ],
)
def test_expression(text: str, expected: object) -> None:
    assert plain(body(text)) == expected


@pytest.mark.parametrize("number", ["1", "0", "true"])
def test_a_literal_keeps_its_python_type(number: str) -> None:
    literal = body(number)
    assert isinstance(literal, tree.Literal)
    assert type(literal.value) is (bool if number == "true" else int)


def test_a_long_integer_is_exact() -> None:
    digits = "7" * 4000
    literal = body(digits)
    assert isinstance(literal, tree.Literal)
    assert literal.value == 7 * (10**4000 - 1) // 9


@pytest.mark.parametrize(
    ("dim", "expected"),
    [
        ("B", "B"),
        ("12", 12),
        ("2*K", ("DimBinary", "*", 2, "K")),
        ("B + 1 - S", ("DimBinary", "-", ("DimBinary", "+", "B", 1), "S")),
        ("B + 2 * S", ("DimBinary", "+", "B", ("DimBinary", "*", 2, "S"))),
        ("(B + 2) * S", ("DimBinary", "*", ("DimBinary", "+", "B", 2), "S")),
        ("B / 2 % 3", ("DimBinary", "%", ("DimBinary", "/", "B", 2), 3)),
        ("-(B)", ("DimNegate", "B")),
        ("S - -1", ("DimBinary", "-", "S", ("DimNegate", 1))),
    ],
)
def test_dim(dim: str, expected: object) -> None:
    shape = definition(f"let f [B] (x : Tensor[F32, [{dim}]]) : Tensor[F32, [B]] = x")
    assert plain(shape.parameters[0].type) == ("TensorType", "F32", (expected,))
    argument = body(f"reshape x [{dim}]")
    assert isinstance(argument, tree.Apply)
    assert plain(argument.arguments[1]) == ("ShapeArgument", (expected,))


# --- declarations ---------------------------------------------------------------------------


def test_definition() -> None:
    found = definition(
        "let f [B, K] (x : Tensor[F32, [B]]) (y : Tensor[I64, []])"
        " : (Tensor[F32, [B]], Tensor[F32, []])"
        " where B == 2 * K, K >= 1 assume B * K != 3 = (x, y)"
    )
    assert plain(found) == (
        "Definition",
        "f",
        ("B", "K"),
        (
            ("Parameter", "x", ("TensorType", "F32", ("B",))),
            ("Parameter", "y", ("TensorType", "I64", ())),
        ),
        ("TupleType", (("TensorType", "F32", ("B",)), ("TensorType", "F32", ()))),
        (
            ("Constraint", "==", "B", ("DimBinary", "*", 2, "K")),
            ("Constraint", ">=", "K", 1),
        ),
        (("Constraint", "!=", ("DimBinary", "*", "B", "K"), 3),),
        ("Tuple", ("x", "y")),
    )


def test_definition_without_parameters() -> None:
    assert plain(definition("let one : Tensor[F32, []] = 1.0")) == (
        "Definition",
        "one",
        (),
        (),
        ("TensorType", "F32", ()),
        (),
        (),
        1.0,
    )


def test_imports() -> None:
    found = declarations("from std.norm import rmsnorm, layernorm\nfrom block import f")
    assert plain(found) == (
        ("Import", ("std", "norm"), ("rmsnorm", "layernorm")),
        ("Import", ("block",), ("f",)),
    )


def test_module() -> None:
    found = declarations(
        "module Block = block with\n"
        "  param w = normal(0.02)\n"
        "  param u = uniform(-1, inf)\n"
        "  buffer mask = ones\n"
        "  const eps = -1e-6\n"
        "  const causal = true\n"
        "  sub norm = Norm(weight = w, e = eps)\n"
        "  sub act = Act()\n"
        "module Act = act"
    )
    assert plain(found) == (
        (
            "Module",
            "Block",
            "block",
            (
                ("State", "param", "w", ("Initializer", "normal", (0.02,))),
                ("State", "param", "u", ("Initializer", "uniform", (-1, float("inf")))),
                ("State", "buffer", "mask", ("Initializer", "ones", ())),
                ("State", "const", "eps", ("Initializer", None, (-1e-6,))),
                ("State", "const", "causal", ("Initializer", None, (True,))),
                ("Sub", "norm", "Norm", (("weight", "w"), ("e", "eps"))),
                ("Sub", "act", "Act", ()),
            ),
        ),
        ("Module", "Act", "act", ()),
    )


def test_the_words_of_a_module_are_names_elsewhere() -> None:
    found = declarations(
        "let param [sub] (buffer : Tensor[F32, [sub]]) : Tensor[F32, [sub]] ="
        " let const = buffer in param[sub] const\n"
        "module sub = param with param buffer = ones const const = 1 sub sub = param(sub = sub)"
    )
    assert plain(found[1]) == (
        "Module",
        "sub",
        "param",
        (
            ("State", "param", "buffer", ("Initializer", "ones", ())),
            ("State", "const", "const", ("Initializer", None, (1,))),
            ("Sub", "sub", "param", (("sub", "sub"),)),
        ),
    )


def test_white_space_is_free() -> None:
    text = CASE_A.replace(" ", "\t\t").replace("\n", "\r\n")
    assert plain(declarations(text)) == plain(declarations(CASE_A))
    assert plain(declarations(" ".join(CASE_A.split()))) == plain(declarations(CASE_A))


def test_an_empty_file_has_no_declarations() -> None:
    assert declarations("") == ()
    assert declarations(" \r\n\t// nothing\n") == ()


# --- spans ----------------------------------------------------------------------------------


def test_declaration_spans() -> None:
    text = f"  {CASE_A}  from a import b  module M = f with param w = full(1)  "
    source = Source("test.p0", text)
    covered_texts = [source.slice(d.span) for d in parse(source).file.declarations]
    assert covered_texts == [
        CASE_A.rstrip(),
        "from a import b",
        "module M = f with param w = full(1)",
    ]


def test_definition_spans() -> None:
    text = "let f [B] (x : Tensor[F32, [2 * B]]) : Tensor[F32, [B]] where B >= (2) = (x)"
    found = definition(text)

    def of(node: Any) -> str:
        return text[node.span.start : node.span.end]

    assert of(found) == text
    assert of(found.parameters[0]) == "(x : Tensor[F32, [2 * B]])"
    assert of(found.parameters[0].type) == "Tensor[F32, [2 * B]]"
    assert of(found.result) == "Tensor[F32, [B]]"
    assert of(found.where[0]) == "B >= (2)"
    assert of(found.body) == "x"
    assert found.equals_span == Span(text.rindex("="), text.rindex("=") + 1)


def test_application_spans() -> None:
    text = "(f[ B ]) + g (x) ((y))"
    whole = body(text)
    assert isinstance(whole, tree.Binary)
    assert covered(text, whole.span) == text
    assert covered(text, whole.operator_span) == "+"
    assert covered(text, whole.left.span) == "f[ B ]"
    assert covered(text, whole.right.span) == "g (x) ((y))"
    assert isinstance(whole.left, tree.Apply)
    assert covered(text, whole.left.attributes_span) == "[ B ]"
    assert isinstance(whole.right, tree.Apply)
    assert [covered(text, a.span) for a in whole.right.arguments] == ["x", "y"]


def test_span_of_an_operation_includes_the_parentheses_of_its_operands() -> None:
    text = "-((x) * (y + z))"
    negated = body(text)
    assert isinstance(negated, tree.Unary)
    assert covered(text, negated.span) == text
    assert covered(text, negated.operand.span) == "(x) * (y + z)"


def test_block_spans() -> None:
    text = "let y : Tensor[F32, []] = (x) in (y)"
    block = body(text)
    assert isinstance(block, tree.Block)
    assert covered(text, block.span) == text
    assert covered(text, block.bindings[0].span) == "let y : Tensor[F32, []] = (x) in"
    assert covered(text, block.result.span) == "y"


def test_attribute_spans() -> None:
    text = "f[mean, axis = 2, perm=[1, 0], (B)] [B, 1]"
    call = body(text)
    assert isinstance(call, tree.Apply)
    assert call.attributes is not None
    assert [covered(text, a.span) for a in call.attributes] == [
        "mean",
        "axis = 2",
        "perm=[1, 0]",
        "(B)",
    ]
    assert covered(text, call.attributes[2].value.span) == "[1, 0]"
    assert covered(text, call.arguments[0].span) == "[B, 1]"
