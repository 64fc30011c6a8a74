"""Every module of the library takes the state of PyTorch's layer and computes the same."""

from __future__ import annotations

import pytest
import torch

from tests.std.layers import LAYERS, Layer
from tests.std.library import (
    FILES,
    assert_close,
    construct,
    definitions,
    gradients,
    loaded,
    modules,
    results,
)

EACH = pytest.mark.parametrize("layer", LAYERS, ids=str)


@EACH
def test_takes_the_state_of_torchs_layer(layer: Layer) -> None:
    torch.manual_seed(3)
    theirs = layer.torch()
    for parameter in theirs.parameters():
        # A bias of 0 or a weight of 1, as layers start with, would hide that it is not used.
        torch.nn.init.normal_(parameter, std=0.5)
    ours = construct(getattr(loaded(layer.file), layer.name), layer.sizes)
    ours.load_state_dict(theirs.state_dict())
    inputs = layer.inputs()
    leaves = [value.requires_grad_() for value in inputs if value.is_floating_point()]
    named = dict(ours.named_parameters())
    found, wanted = results(ours(*inputs)), results(layer.call(theirs, *inputs))
    assert_close(found, wanted)
    if leaves:
        assert_close(
            gradients(found, [*leaves, *(named[name] for name, _ in theirs.named_parameters())]),
            gradients(wanted, [*leaves, *theirs.parameters()]),
        )


@EACH
def test_consts_have_torchs_defaults(layer: Layer) -> None:
    theirs = layer.torch()
    ours = construct(getattr(loaded(layer.file), layer.name), layer.sizes)
    module = modules(layer.file)[layer.name]
    parameters = definitions(layer.file)[module.definition.name].parameters
    for const in module.consts:
        name = parameters[const.parameter].name
        assert getattr(ours, name) == getattr(theirs, name)


def test_every_module_has_a_layer() -> None:
    assert sorted((one.file, one.name) for one in LAYERS) == sorted(
        (file, name) for file in FILES for name in modules(file)
    )
