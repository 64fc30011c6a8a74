"""P1111 to P1116: what is bound, declared or imported for nothing, hidden, or without effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from p0trans.driver import check_sources
from p0trans.source import Source
from tests.checker.warnings.support import codes, finding, fixed

HEAD = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n"


def test_unused_binding() -> None:
    text = HEAD + "  let y = exp x in\n  let z = x + x in\n  y\n"
    found = finding(text, "P1111")
    assert found.primary.place.text == "z"
    assert fixed(text) == HEAD + "  let y = exp x in\n  y\n"


def test_a_comment_is_not_left_out_with_a_binding() -> None:
    text = HEAD + "  let z = x in // kept\n  x\n"
    assert fixed(text) == HEAD + "  // kept\n  x\n"


def test_unused_item_of_a_tuple() -> None:
    text = HEAD + "  let (a, b) = (x, x) in\n  a\n"
    assert finding(text, "P1111").primary.place.text == "b"
    assert fixed(text) == HEAD + "  let (a, _) = (x, x) in\n  a\n"


@pytest.mark.parametrize(
    "body",
    [
        "let _y = exp x in x",
        "let x = exp x in x",
        "let y = (let y = exp x in y) in y",
        "let (_, b) = (x, x) in b",
    ],
)
def test_used_bindings(body: str) -> None:
    assert codes(HEAD + body) == []


def test_a_name_bound_again_leaves_the_first_unused() -> None:
    text = HEAD + "  let y = exp x in\n  let y = x + x in\n  y\n"
    assert finding(text, "P1111").primary.place.span.start == text.index("y = exp")


def test_unused_parameter() -> None:
    text = "let f [B] (x : Tensor[F32, [B]]) ({} : Tensor[F32, []]) : Tensor[F32, [B]] = x\n"
    assert finding(text.format("eps"), "P1112").primary.place.text == "eps"
    assert codes(text.format("_eps")) == []


@pytest.mark.parametrize(
    ("parameter", "result", "body", "expected"),
    [
        ("[D]", "[B, D]", "broadcast (reshape x [B, 1]) [B, D]", []),
        ("[2 * D]", "[B, D]", "broadcast (reshape x [B, 1]) [B, D]", []),
        ("[B, D]", "[B, D]", "broadcast (reshape x [B, 1]) [B, D]", []),
        ("[B]", "[B]", "x", ["P1112"]),
        ("[D]", "[B]", "x", ["P1112"]),
    ],
)
def test_a_parameter_that_gives_a_size_is_used(
    parameter: str, result: str, body: str, expected: list[str]
) -> None:
    names = "[B, D]" if "D" in parameter else "[B]"
    text = (
        f"let f {names} (x : Tensor[F32, [B]]) (like : Tensor[F32, {parameter}])"
        f" : Tensor[F32, {result}] = {body}\n"
    )
    assert codes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x", ["P1113"]),
        ("let f [B, _D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x", []),
        ("let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] where B == 2*D = x", []),
        ("let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] assume B == D*D = x", []),
        (
            "let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] ="
            " reduce[sum, axis=1] (broadcast (reshape x [B, 1]) [B, D])",
            [],
        ),
        (
            "let f [B, D] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] where D < B ="
            " let y : Tensor[F32, [B - D]] = slice[axis=0, start=D, stop=B] x in"
            " concat[axis=0] (slice[axis=0, start=0, stop=D] x) y",
            [],
        ),
    ],
)
def test_unused_shape_parameter(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_unused_import(tmp_path: Path) -> None:
    (tmp_path / "lib.p0").write_text(
        "let double [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
        "let triple [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x + x\n"
    )
    use = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = {}\n"

    def check(text: str) -> Source:
        return Source("main.p0", text, tmp_path / "main.p0")

    def found(text: str) -> list[str]:
        return [d.primary.place.text for d in check_sources([check(text)]).diagnostics]

    def mended(text: str) -> str:
        from p0trans.diagnostics.apply import fix_until_stable

        source, _ = fix_until_stable(check(text), lambda s: check_sources([s]).diagnostics)
        return source.text

    both = "from lib import double, triple\n"
    assert found(both + use.format("double[B] (triple[B] x)")) == []
    assert found(both + use.format("double[B] x")) == ["triple"]
    assert found(both + use.format("x")) == ["double", "triple"]
    assert (
        found(both + "module M = double with\n  param x = zeros\n" + use.format("triple[B] x"))
        == []
    )
    assert mended(both + use.format("double[B] x")) == "from lib import double\n" + use.format(
        "double[B] x"
    )
    assert mended(both + use.format("triple[B] x")).startswith("from lib import triple\n")
    assert mended(both + use.format("x")) == use.format("x")


def test_shadowing() -> None:
    double = "let double [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
    local = HEAD + "  let double = exp x in\n  double\n"
    found = finding(double + local, "P1115")
    assert "the local `double` hides the definition" in found.message
    assert found.secondary[0].place.text == "double"
    assert codes(local + double) == []
    operation = "let sign [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
    assert "hides the operation" in finding(operation, "P1115").message


def test_a_parameter_that_hides_a_definition() -> None:
    text = (
        "let scale [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
        "let f [B] (scale : Tensor[F32, [B]]) : Tensor[F32, [B]] = scale\n"
    )
    assert "the parameter `scale`" in finding(text, "P1115").message


@pytest.mark.parametrize(
    ("step", "left"),
    [
        ("cast[F32] x", "x"),
        ("broadcast x [B, D]", "x"),
        ("reshape (x + x) [B, D]", "(x + x)"),
        ("transpose[perm=[0, 1]] x", "x"),
        ("exp (reshape x [B, D])", "exp (x)"),
    ],
)
def test_a_step_without_effect(step: str, left: str) -> None:
    head = "let f [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =\n  "
    assert codes(head + step) == ["P1116"]
    assert fixed(head + step) == head + left


@pytest.mark.parametrize(
    ("result", "step"),
    [
        ("BF16, [B, B]", "cast[BF16] x"),
        ("F32, [1, B, B]", "broadcast x [1, B, B]"),
        ("F32, [B, 1, B]", "reshape x [B, 1, B]"),
        ("F32, [B, B]", "transpose[perm=[1, 0]] x"),
    ],
)
def test_a_step_with_an_effect(result: str, step: str) -> None:
    assert codes(f"let f [B] (x : Tensor[F32, [B, B]]) : Tensor[{result}] = {step}") == []
