"""Whoever uses what the library has without an import is told where it is."""

from __future__ import annotations

import re

import pytest

import p0trans

NAMES = (
    "relu",
    "silu",
    "gelu",
    "softmax",
    "log_softmax",
    "linear",
    "embedding",
    "layer_norm",
    "cross_entropy",
)


@pytest.mark.parametrize("name", NAMES)
def test_the_error_names_an_import_that_works(name: str) -> None:
    text = f"let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = {name} x\n"
    (found,) = p0trans.check(text).diagnostics
    line = re.search(r"`(from std\.\w+ import \w+)`", " ".join(found.notes))
    assert line is not None
    assert line[1].endswith(f" import {name}")
    assert "P1001" not in codes(f"{line[1]}\n{text}")
    assert not {"P1002", "P0101"} & set(codes(f"{line[1]}\n{text}"))


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in p0trans.check(text).diagnostics]
