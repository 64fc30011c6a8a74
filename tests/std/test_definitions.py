"""Every definition of the library, called from a program, equals PyTorch and the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.std.library import (
    FILES,
    assert_close,
    called,
    construct,
    definitions,
    gradients,
    inputs,
    interpreted,
    results,
)
from tests.std.oracles import ORACLES, Oracle

CASES = pytest.mark.parametrize(
    ("oracle", "sizes"),
    [pytest.param(o, s, id=f"{o}-{i}") for o in ORACLES for i, s in enumerate(o.sizes)],
)


def torchs(oracle: Oracle, values: Mapping[str, Any], sizes: Mapping[str, int]) -> Any:
    """PyTorch's results."""
    asked = {name: sizes[name] for name in oracle.asks}
    return results(oracle.torch(*values.values(), **asked))


@CASES
def test_value_and_gradient_equal_torch(oracle: Oracle, sizes: Mapping[str, int]) -> None:
    definition = definitions(oracle.file)[oracle.name]
    values = inputs(definition, sizes, oracle.said)
    leaves = [
        value.requires_grad_()
        for name, value in values.items()
        if value.is_floating_point() and value.dim() and name not in oracle.fixed
    ]
    found = results(construct(called(oracle.file, oracle.name), sizes)(*values.values()))
    wanted = torchs(oracle, values, sizes)
    assert_close(found, wanted)
    if leaves:
        assert_close(gradients(found, leaves), gradients(wanted, leaves))


@CASES
def test_reference_equals_torch(oracle: Oracle, sizes: Mapping[str, int]) -> None:
    values = inputs(definitions(oracle.file)[oracle.name], sizes, oracle.said)
    found = interpreted(oracle.file, oracle.name, list(values.values()), sizes)
    assert_close(found, torchs(oracle, values, sizes))


@pytest.mark.parametrize("oracle", ORACLES, ids=str)
def test_runs_where_its_inputs_are(oracle: Oracle) -> None:
    """The device "meta" computes nothing, and refuses tensors of another device."""
    sizes = oracle.sizes[0]
    values = inputs(definitions(oracle.file)[oracle.name], sizes, oracle.said)
    module = construct(called(oracle.file, oracle.name), sizes)
    found = results(module(*(value.to("meta") for value in values.values())))
    assert {one.device.type for one in found} == {"meta"}
    assert [one.shape for one in found] == [one.shape for one in results(module(*values.values()))]


def test_every_definition_has_an_oracle() -> None:
    assert sorted((o.file, o.name) for o in ORACLES) == sorted(
        (file, name) for file in FILES for name in definitions(file)
    )
