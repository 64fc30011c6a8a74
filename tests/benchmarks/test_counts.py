"""What is counted, on modules small enough to count by hand."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from benchmarks.emission.contestants import Contestant
from benchmarks.emission.counts import count

N = 1000
BYTES = 4 * N


class Saves(nn.Module):
    """Saves the inner result once, though two steps need it, and neither input nor weight."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(N))

    def forward(self, x: Tensor) -> Tensor:
        inner = torch.exp(x * self.weight)
        return inner.sin().expand(3, N)


class Holds(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        first = x.exp()
        second = first.sin()
        del first
        third = second.cos()
        return third + second


class Transient(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.exp().sin().cos()


def contestant(module: nn.Module) -> Contestant:
    x = torch.ones(N, requires_grad=True)
    return Contestant(module, (x,), (x,))


def test_saved_bytes_count_each_storage_once() -> None:
    assert count(contestant(Saves())).saved == BYTES


def test_operations_of_the_graph() -> None:
    assert count(contestant(Saves())).aten == 4
    assert count(contestant(Transient())).aten == 3


def test_peak_is_what_lives_at_a_time() -> None:
    assert count(contestant(Transient())).peak_forward == 2 * BYTES
    assert count(contestant(Holds())).peak_forward == 3 * BYTES
    assert count(contestant(Saves())).peak_both > count(contestant(Saves())).peak_forward
