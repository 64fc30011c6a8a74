"""Where the modules of a line run: each engine with the target that is emitted for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

import torch
from torch import nn

from p0trans.targets import Target


class Engine(NamedTuple):
    """`prepare` makes what is called of a module; `finish` waits until its results are there."""

    target: Target
    device: Callable[[], Any]
    prepare: Callable[[nn.Module], Callable[..., Any]]
    finish: Callable[[], None]


def _cpu() -> str:
    return "cpu"


def _xla_device() -> Any:
    return import_module("torch_xla").device()


def _as_it_is(module: nn.Module) -> Callable[..., Any]:
    return module


def _inductor(module: nn.Module) -> Callable[..., Any]:
    compiled: Callable[..., Any] = torch.compile(module, fullgraph=True)
    return compiled


def _openxla(module: nn.Module) -> Callable[..., Any]:
    compiled: Callable[..., Any] = torch.compile(module, backend="openxla", fullgraph=True)
    return compiled


def _nothing() -> None:
    return None


def _wait() -> None:
    # `torch_xla.sync(wait=True)` returns before the CPU client is done.
    import_module("torch_xla").sync()
    import_module("torch_xla.core.xla_model").wait_device_ops()


ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        # `xla` compiles as the hook of the target does, forward and backward pass apart; `lazy`
        # records both into one graph, as a training loop without a compiled module does.
        "eager": Engine("torch", _cpu, _as_it_is, _nothing),
        "compile": Engine("compile", _cpu, _inductor, _nothing),
        "xla": Engine("xla", _xla_device, _openxla, _wait),
        "lazy": Engine("xla", _xla_device, _as_it_is, _wait),
    }
)


def hlo_instructions(result: torch.Tensor) -> int:
    """The instructions of the graph behind a tensor that XLA has not computed yet, as torch_xla
    hands it to XLA."""
    text: str = import_module("torch_xla")._XLAC._get_xla_tensors_hlo([result])
    return sum(" = " in line for line in text.splitlines())
