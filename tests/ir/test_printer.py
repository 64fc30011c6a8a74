"""The IR as text says all that a step is."""

from __future__ import annotations

import pytest

from p0trans.driver import check_sources
from p0trans.ir.printer import print_program
from p0trans.source import Source


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("1e-6", "const[F32] 1e-06"),
        ("(-inf)", "const[F32] -inf"),
        ("(cast[F32] 3)", "const[I32] 3"),
        ("(cast[F32] true)", "const[Bool] true"),
        ("(cast[F32] (const[BF16] 0.5))", "const[BF16] 0.5"),
    ],
)
def test_a_literal_shows_its_number(written: str, printed: str) -> None:
    text = f"let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x * broadcast {written} [B]"
    program = check_sources([Source("main.p0", text)]).program
    assert f"= {printed} " in print_program(program)
