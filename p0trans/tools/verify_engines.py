"""The engines that emitted code runs on, and one run on one of them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial, reduce
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from p0trans.targets import Target
from p0trans.tools.verify_inputs import Evaluated, flat
from p0trans.tools.verify_subjects import Input, Subject

if TYPE_CHECKING:
    from p0trans.interpret.arrays import ArrayValue

Namespace: TypeAlias = Mapping[str, Any]

# PyTorch gives up on a function that it has compiled this often; each run may need two.
_COMPILATIONS = 256


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to run emitted code, and the target that this is emitted for.

    `lacks` names what is not installed that it needs; None when it can run. `session` surrounds
    the runs of one subject, and gives the device that tensors go to. `prepare` makes what is
    called of a module or function; `finish` waits for what was started.
    """

    name: str
    target: Target
    lacks: Callable[[], str | None]
    session: Callable[[], Any]
    prepare: Callable[[Callable[..., Any]], Callable[..., Any]]
    finish: Callable[[], None]


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one run as NumPy arrays, and the gradients of the leaves by their place."""

    results: tuple[Any, ...]
    gradients: Mapping[Input, Any]


def _lacks_torch() -> str | None:
    return None if find_spec("torch") is not None else "torch"


def _lacks_compiler() -> str | None:
    compilers = (os.environ.get("CXX"), "g++", "clang++", "cl")
    if any(shutil.which(compiler) for compiler in compilers if compiler):
        return _lacks_torch()
    return _lacks_torch() or "a C++ compiler"


def _lacks_xla() -> str | None:
    return _lacks_torch() or (None if find_spec("torch_xla") is not None else "torch_xla")


@contextmanager
def _on_cpu() -> Iterator[str]:
    yield "cpu"


@contextmanager
def _compiling() -> Iterator[str]:
    import torch
    import torch._dynamo.config

    torch.compiler.reset()
    with torch._dynamo.config.patch(recompile_limit=_COMPILATIONS):
        yield "cpu"


@contextmanager
def _on_xla() -> Iterator[Any]:
    os.environ.setdefault("PJRT_DEVICE", "CPU")
    import torch_xla

    yield torch_xla.device()


def _as_it_is(callable_: Callable[..., Any]) -> Callable[..., Any]:
    return callable_


def _compiled(callable_: Callable[..., Any]) -> Callable[..., Any]:
    import torch

    compiled: Callable[..., Any] = torch.compile(callable_, fullgraph=True)
    return compiled


def _nothing() -> None:
    return None


def _synchronize() -> None:
    import torch_xla

    torch_xla.sync()


ENGINES: Mapping[str, Engine] = MappingProxyType(
    {
        engine.name: engine
        for engine in (
            Engine("eager", "torch", _lacks_torch, _on_cpu, _as_it_is, _nothing),
            Engine("compile", "compile", _lacks_compiler, _compiling, _compiled, _nothing),
            Engine("xla", "xla", _lacks_xla, _on_xla, _as_it_is, _synchronize),
        )
    }
)
"""The engines by name, in the order in which they are reported."""


def run(
    engine: Engine,
    device: Any,
    namespace: Namespace,
    subject: Subject,
    evaluated: Evaluated,
    weights: Sequence[Any] = (),
    leaves: Collection[Input] = (),
) -> Run:
    """Run a subject on the inputs of `evaluated`; a module's state is set to them as well.

    With `leaves` there are also the gradients, with respect to these, of the sum of all float
    results times `weights`, of which there is an array for each result.
    """
    import torch

    plan = subject.plan
    keywords = {word: evaluated.sizes[name] for name, word in subject.keywords.items()}
    marked: dict[Input, torch.Tensor] = {}

    def place(array: Any, parameter: int, path: tuple[int, ...]) -> torch.Tensor:
        tensor: torch.Tensor = to_torch(array).to(device)
        if (parameter, path) in leaves:
            marked[parameter, path] = tensor.requires_grad_()
        return tensor

    if plan is None:
        target: Callable[..., Any] = partial(namespace[subject.name], **keywords)
        indices: Sequence[int] = range(len(evaluated.inputs))
    else:
        module: torch.nn.Module = namespace[subject.name](**keywords).to(device)
        indices = plan.inputs
        for index, owned in plan.owned.items():
            if owned.number:
                continue
            held = reduce(getattr, owned.path.split("."), module)
            assert isinstance(held, torch.Tensor)
            with torch.no_grad():
                held.copy_(to_torch(evaluated.inputs[index]))
            if (index, ()) in leaves:
                marked[index, ()] = held
        target = module
    arguments = [_placed(evaluated.inputs[index], index, (), place) for index in indices]
    found = list(flat(engine.prepare(target)(*arguments)))
    gradients = _gradients(found, weights, list(marked.values())) if leaves else ()
    engine.finish()
    return Run(
        tuple(map(to_numpy, found)),
        dict(zip(marked, map(to_numpy, gradients), strict=True)),
    )


def _placed(
    value: ArrayValue,
    parameter: int,
    path: tuple[int, ...],
    place: Callable[[Any, int, tuple[int, ...]], Any],
) -> Any:
    if not isinstance(value, tuple):
        return place(value, parameter, path)
    return tuple(
        _placed(item, parameter, (*path, index), place) for index, item in enumerate(value)
    )


def _gradients(found: Sequence[Any], weights: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    import torch

    differentiable = [
        (result * torch.from_numpy(weight).to(result)).sum()
        for result, weight in zip(found, weights, strict=True)
        if result.requires_grad
    ]
    if not differentiable or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    loss = sum(differentiable[1:], start=differentiable[0])
    return list(torch.autograd.grad(loss, list(leaves), allow_unused=True, materialize_grads=True))


def to_torch(array: Any) -> Any:
    """A copy as a tensor; torch takes no bfloat16 from NumPy, but its bits."""
    import numpy as np
    import torch

    array = np.array(array, order="C")
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_numpy(tensor: Any) -> Any:
    """A copy as an array of the same dtype, wherever the tensor is."""
    import ml_dtypes
    import torch

    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype is torch.bfloat16:
        return tensor.view(torch.int16).numpy().copy().view(ml_dtypes.bfloat16)
    return tensor.numpy().copy()
