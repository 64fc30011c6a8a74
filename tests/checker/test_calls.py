"""Products as shape arguments: for a parameter that only an `assume` speaks of."""

from __future__ import annotations

import pytest
import torch

import p0trans
from p0trans.diagnostics.apply import fix_until_stable
from p0trans.driver import check_sources
from p0trans.ir.verify import verify
from p0trans.source import Source

ROWS = """\
let rows [B, S, D, BS] (x : Tensor[F32, [B, S, D]]) : Tensor[F32, [B, S, D]] assume BS == B * S =
  reshape (exp (reshape x [BS, D])) [B, S, D]
"""
FLAT = """\
let flat [B, S, BS] (x : Tensor[F32, [B, S]]) : Tensor[F32, [BS]] assume BS == B * S =
  reshape x [BS]
"""
FEW = """\
let few [B, S, BS] (x : Tensor[F32, [B, S]]) : Tensor[F32, [B, S]]
    where BS <= 9 assume BS == B * S =
  reshape (exp (reshape x [BS])) [B, S]
"""


def use(body: str, sizes: str = "[B, S, D]", result: str = "[B, S, D]") -> str:
    return f"let use {sizes} (x : Tensor[F32, {result}]) : Tensor[F32, {result}] =\n  {body}\n"


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in p0trans.check(text).diagnostics]


def test_a_product_is_proof_of_the_assumption() -> None:
    text = ROWS + use("rows[B, S, D, S * B] x")
    checked = p0trans.check(text)
    assert checked.diagnostics == ()
    verify(checked.program)
    (call,) = checked.program.units[-1].definitions[-1].steps
    assert call.node.assumptions == ()  # type: ignore[union-attr]
    x = torch.randn(2, 3, 4)
    assert torch.equal(p0trans.load(text).Use()(x), x.exp())


def test_another_product_is_checked_when_it_runs() -> None:
    text = ROWS + use("rows[B, S, D, B * D] x")
    assert codes(text) == []
    module = p0trans.load(text).Use()
    assert module(torch.zeros(2, 3, 3)).shape == (2, 3, 3)
    with pytest.raises(ValueError, match=r"B\*D == B\*S"):
        module(torch.zeros(2, 3, 4))


def test_a_product_of_known_numbers_is_decided() -> None:
    assert codes(ROWS + use("rows[2, 3, 4, 2 * 4] x", "", "[2, 3, 4]")) == ["P0805"]


@pytest.mark.parametrize(
    "text",
    [
        FLAT + use("reshape (flat[B, S, B * S] x) [B, S]", "[B, S]", "[B, S]"),
        FEW + use("few[B, S, B * S] x", "[B, S]", "[B, S]"),
    ],
    ids=["in a type", "in a where"],
)
def test_what_a_type_or_a_where_speaks_of_stays_linear(text: str) -> None:
    assert "P0701" in codes(text)


@pytest.mark.parametrize("body", ["rows x", "rows[B, S, D] x"])
def test_the_fix_writes_the_product(body: str) -> None:
    source = Source("use.p0", ROWS + use(body))
    fixed, _ = fix_until_stable(source, lambda text: check_sources([text]).diagnostics)
    assert "rows[B, S, D, B * S] x" in fixed.text
    assert codes(fixed.text) == []
