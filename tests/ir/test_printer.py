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


@pytest.mark.parametrize(
    ("dims", "assumed", "printed"),
    [
        ("[N]", "N == N", "N = x.shape[0]"),
        ("[2*N]", "N == N", "N = x.shape[0] / 2"),
        ("[N - 1]", "N >= 2", "N = x.shape[0] + 1"),
        ("[2*N + 1]", "N == N", "N = (x.shape[0] - 1) / 2"),
        ("[A, N + 2*A]", "N == N", "N = x.shape[1] - 2*A"),
        ("[A, B, N + A + B]", "N == N", "N = x.shape[2] - (A + B)"),
        ("[A]", "A == N * 2", "N = A / 2"),
        ("[A, B]", "A == B * N", "N = A / B"),
        ("[A, B]", "2 * A == B * N", "N = 2*A / B"),
        ("[A, B]", "A == 2 * B * N", "N = A / (2*B)"),
        ("[A, B, C]", "A + B == C * N", "N = (A + B) / C"),
        ("[A, B]", "N == A * B + 1", "N = A*B + 1"),
    ],
)
def test_sizes_have_the_parentheses_that_they_need(dims: str, assumed: str, printed: str) -> None:
    names = [name for name in "ABC" if name in dims]
    text = f"let f [{', '.join((*names, 'N'))}] (x : Tensor[F32, {dims}]) : Tensor[F32, {dims}]\n"
    where = "where" if "N >=" in assumed or "N == N" in assumed else "assume"
    program = check_sources([Source("main.p0", f"{text}    {where} {assumed} = x\n")]).program
    assert f"  size {printed}\n" in print_program(program)
