"""`// p0: allow CODE`: where it holds, and where it does nothing."""

from __future__ import annotations

import pytest

from tests.checker.warnings.support import codes, finding, fixed

HEAD = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] =\n"
UNUSED = "  let y = reshape x [B] in"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"{UNUSED}\n  x\n", ["P1111", "P1116"]),
        (f"{UNUSED} // p0: allow P1111\n  x\n", ["P1116"]),
        (f"{UNUSED} // p0: allow P1111, P1116\n  x\n", []),
        (f"{UNUSED} //p0:allow P1111,P1116 (for later)\n  x\n", []),
        (f"  // p0: allow P1111, P1116\n{UNUSED}\n  x\n", []),
        (f"  // p0: allow P1111, P1116\n\n{UNUSED}\n  x\n", ["P1120", "P1111", "P1116"]),
        (f"{UNUSED}\n  // p0: allow P1111, P1116\n  x\n", ["P1111", "P1116", "P1120"]),
        (f"{UNUSED} (* p0: allow P1111 *)\n  x\n", ["P1111", "P1116"]),
        (f"{UNUSED} // do not p0: allow P1111\n  x\n", ["P1111", "P1116"]),
        (f"{UNUSED} // p0: allow\n  x\n", ["P1111", "P1116", "P1120"]),
        ("  x // p0: allow P0301\n", ["P1120"]),
    ],
)
def test_allow(body: str, expected: list[str]) -> None:
    assert codes(HEAD + body) == expected


def test_an_allow_without_effect_is_left_out() -> None:
    text = HEAD + "  x // p0: allow P1101\n"
    assert "there is no P1101 in this line" in finding(text, "P1120").message
    assert fixed(text) == HEAD + "  x\n"


def test_only_the_code_without_effect_is_left_out() -> None:
    text = HEAD + "  let y = exp x in // p0: allow P1111, P1101 as agreed\n  x\n"
    assert fixed(text) == HEAD + "  let y = exp x in // p0: allow P1111 as agreed\n  x\n"
