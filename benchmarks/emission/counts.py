"""What a module costs in numbers that do not depend on the machine or on its load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from benchmarks.emission.contestants import Contestant, gradients

_MEMORY = "[memory]"  # the profiler's name for what the allocator hands out or takes back


class Counts(NamedTuple):
    """ATen operations of the graph that torch.export makes, bytes that the forward pass leaves for
    the backward pass (each storage once, neither inputs nor parameters), and the most bytes that
    one pass, forward or forward and backward, holds at a time, its result included."""

    aten: int
    saved: int
    peak_forward: int
    peak_both: int


def count(contestant: Contestant) -> Counts:
    with _one_thread():
        weight = torch.ones_like(contestant.run())
        return Counts(
            aten_operations(contestant),
            saved_bytes(contestant),
            peak_bytes(lambda: _forward(contestant)),
            peak_bytes(lambda: gradients(contestant, weight)),
        )


def aten_operations(contestant: Contestant) -> int:
    """The calls in the graph; `getitem` of a result that is a tuple is none."""
    graph = torch.export.export(contestant.module, contestant.inputs).graph
    return sum(isinstance(node.target, torch._ops.OpOverload) for node in graph.nodes)


def saved_bytes(contestant: Contestant) -> int:
    owned = {_address(tensor) for tensor in (*contestant.inputs, *contestant.module.parameters())}
    # The tensors are kept, lest an address be used twice.
    saved: list[Tensor] = []

    def pack(tensor: Tensor) -> Tensor:
        saved.append(tensor.detach())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = contestant.run()
    sizes = {_address(tensor): tensor.untyped_storage().nbytes() for tensor in saved}
    del result
    return sum(size for address, size in sizes.items() if address not in owned)


def peak_bytes(step: Callable[[], Any]) -> int:
    """The most bytes that were live at a time, by what the allocator handed out and took back
    during `step`: a kernel's own buffers count."""
    step()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as recorded:
        result = step()
    del result
    events = [each for each in recorded.profiler.kineto_results.events() if each.name() == _MEMORY]
    live = peak = 0
    for event in sorted(events, key=lambda each: each.start_ns()):
        live += event.nbytes()
        peak = max(peak, live)
    return peak


def _forward(contestant: Contestant) -> Tensor:
    with torch.no_grad():
        return contestant.run()


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Some kernels have a buffer for each thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
