"""The modules of a line, with the same state, and the inputs that they take."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

import p0trans
from benchmarks.emission.lines import PROGRAMS, Kind, Line, Sizes
from p0trans.dtypes import DTYPES
from p0trans.importing import forget
from p0trans.targets import Target

EMITTED = "emitted"
UNCHECKED = "emitted, --checks none"
HAND = "hand-written"
LLAMA = "transformers"
EAGER_LLAMA = "transformers, eager attention"
LITERAL = "emitted, --style explicit"
AGAIN = "hand-written, again"

_OPTIONS: Mapping[str, Mapping[str, str]] = {
    EMITTED: {},
    UNCHECKED: {"checks": "none"},
    LITERAL: {"style": "explicit"},
}
F32 = DTYPES["F32"]


class Contestant(NamedTuple):
    """A module and its inputs; the gradients are those of `leaves`."""

    module: nn.Module
    inputs: tuple[Tensor, ...]
    leaves: tuple[Tensor, ...]

    def run(self, call: Callable[..., Any] | None = None) -> Tensor:
        result: Tensor = (call or self.module)(*self.inputs)
        return result


@contextmanager
def contestants(
    line: Line, sizes: Sizes, target: Target, device: Any = "cpu"
) -> Iterator[dict[str, Contestant]]:
    """All modules of a line by name. What is emitted is emitted for `target`."""
    torch.manual_seed(0)
    drawn = _inputs(line, sizes)
    peers = {LLAMA: line.llama(sizes)}
    if line.eager_llama is not None:
        peers[EAGER_LLAMA] = line.eager_llama(sizes)
    files = {
        name: p0trans.load(PROGRAMS / f"{line.program}.p0", target=target, **options)
        for name, options in _OPTIONS.items()
    }
    arguments = {name: sizes[name] for name in line.arguments}
    try:
        modules = {
            HAND: (line.hand(sizes), drawn),
            AGAIN: (line.hand(sizes), drawn),
            **{name: (peer.module, peer.adapt(drawn)) for name, peer in peers.items()},
            **{
                name: (getattr(file, line.module)(**arguments), drawn)
                for name, file in files.items()
            },
        }
        # Not the ones of a new norm: a module that leaves its weight out has to differ.
        state = [
            parameter.detach() + 0.02 * torch.randn_like(parameter)
            for parameter in modules[HAND][0].parameters()
        ]
        yield {
            name: _contestant(line, module, inputs, state, device)
            for name, (module, inputs) in modules.items()
        }
    finally:
        for file in files.values():
            forget(file)


def _inputs(line: Line, sizes: Sizes) -> tuple[Tensor, ...]:
    return tuple(
        torch.randint(sizes[each.below], shape) if each.kind is Kind.INDEX else torch.randn(shape)
        for each in line.inputs
        for shape in [[sizes[dim] for dim in each.dims]]
    )


def _contestant(
    line: Line,
    module: nn.Module,
    inputs: tuple[Tensor, ...],
    state: list[Tensor],
    device: Any,
) -> Contestant:
    with torch.no_grad():
        for mine, theirs in zip(module.parameters(), state, strict=True):
            mine.copy_(theirs)
    module = module.to(device)
    moved = tuple(tensor.detach().clone().to(device) for tensor in inputs)
    activations = [
        tensor.requires_grad_()
        for tensor, each in zip(moved, line.inputs, strict=True)
        if each.kind is Kind.ACTIVATION
    ]
    return Contestant(module, moved, (*activations, *module.parameters()))


def gradients(
    contestant: Contestant, weight: Tensor, call: Callable[..., Any] | None = None
) -> Any:
    """The gradients of the leaves, of the result times `weight`."""
    return torch.autograd.grad(contestant.run(call), contestant.leaves, weight)


def hold_together(found: Mapping[str, Contestant]) -> None:
    """Raise unless all modules give the value and the gradients of the hand-written one.

    The bound is that of float32, on the norm of the difference.
    """
    results = {name: each.run().detach() for name, each in found.items()}
    weight = torch.randn(results[HAND].shape).to(results[HAND].device)
    values = {name: (results[name], *gradients(each, weight)) for name, each in found.items()}
    for name, each in values.items():
        for place, (ours, theirs) in enumerate(zip(each, values[HAND], strict=True)):
            error = float((ours - theirs).norm() / theirs.norm())
            if not error <= F32.rtol:
                raise ValueError(f"{name} is off by {error:.1e} at {place}")
