"""P1106: the weight before or after the cast back."""

from __future__ import annotations

import pytest

from p0trans.diagnostics.model import Severity
from tests.checker.warnings.support import codes, finding

NORM = """\
let norm [B, S, D] (x : Tensor[{dtype}, [B, S, D]]) (w : Tensor[{dtype}, [D]])
    (b : Tensor[F32, [D]]) : Tensor[BF16, [B, S, D]] =
  let _b   = b in
  let xf   = {wide} in
  let mean = reduce_keep[mean, axis=2] xf in
  let mid  = xf - broadcast mean [B, S, D] in
  let var  = reduce_keep[mean, axis=2] (mid * mid) in
  let rstd = rsqrt (var + broadcast 1e-6 [B, S, 1]) in
  {result}
"""
NORMED = "(mid * broadcast rstd [B, S, D])"
QUOTIENT = "(mid / broadcast (sqrt var) [B, S, D])"
WIDE_WEIGHT = "broadcast (cast[F32] w) [B, S, D]"


def norm(result: str) -> str:
    return NORM.format(dtype="BF16", wide="cast[F32] x", result=f"let _r = rstd in {result}")


@pytest.mark.parametrize("normed", [NORMED, QUOTIENT])
def test_weight_after_the_cast_back(normed: str) -> None:
    found = finding(norm(f"cast[BF16] {normed} * broadcast w [B, S, D]"), "P1106")
    assert found.severity is Severity.NOTE
    assert found.message == "the weight is multiplied after the cast back to BF16"


@pytest.mark.parametrize("normed", [NORMED, QUOTIENT])
@pytest.mark.parametrize("bias", ["", " + broadcast b [B, S, D]"])
def test_weight_before_the_cast_back(normed: str, bias: str) -> None:
    found = finding(norm(f"cast[BF16] ({normed} * {WIDE_WEIGHT}{bias})"), "P1106")
    assert found.message == "the weight is multiplied before the cast back to BF16"


def test_without_a_weight_there_is_no_order() -> None:
    assert codes(norm(f"let _w = w in cast[BF16] {NORMED}")) == []


def test_a_norm_in_one_dtype_has_no_cast_back() -> None:
    result = f"cast[BF16] ({NORMED} * broadcast w [B, S, D])"
    assert codes(NORM.format(dtype="F32", wide="x", result=result)) == []


def test_a_product_of_data_is_no_weight() -> None:
    assert codes(norm(f"let _w = w in cast[BF16] ({NORMED} * mid)")) == []
