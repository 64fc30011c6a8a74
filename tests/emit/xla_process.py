"""Run the xla hooks of the accepted cases, and write what came of each as JSON.

A program of its own: torch_xla takes over the process that imports it.
"""

from __future__ import annotations

import copy
import json
import sys
from importlib import import_module
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from tests.emit.accepted import PATHS, Accepted, accepted

_RUNS = 4


def _compilations() -> int:
    metrics: Any = import_module("torch_xla.debug.metrics")
    return int(metrics.counter_value("UncachedCompile") or 0)


def _largest_error(found: Any, wanted: Any) -> float:
    """The largest |found - wanted| / (1 + |wanted|); NaN equals NaN."""
    pairs = zip(tree_leaves(found), tree_leaves(wanted), strict=True)
    errors = [0.0]
    for one, other in pairs:
        assert one.device.type == "xla"
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        got, expected = one.cpu().double(), other.double()
        equal = (got == expected) | (got.isnan() & expected.isnan())
        error = torch.where(equal, 0.0, (got - expected).abs() / (1 + expected.abs()))
        errors.append(float(error.max()))
    return max(errors)


def _run(case: Accepted) -> dict[str, Any]:
    """Errors of some runs that differ in values alone, and graphs compiled up to each."""
    torch.manual_seed(0)
    names = case.namespace(target="xla")
    (sizes,) = case.sizes(1, 2)
    module = case.made(names, sizes)
    *_, hook = (names[name] for name in names["__all__"] if name.startswith("compile_"))
    compiled = hook(copy.deepcopy(module))
    errors, compilations = [], []
    for _ in range(_RUNS):
        inputs = case.inputs(sizes)
        errors.append(_largest_error(compiled(*inputs), module(*inputs)))
        compilations.append(_compilations())
    return {"errors": errors, "compilations": compilations}


def _settings(case: Accepted) -> dict[str, Any]:
    """The device that a module is on, its gradients, and the precision of products."""
    import torch_xla.backends

    names = case.namespace(target="xla")
    module = names["Norm"](4)
    compiled = names["compile_norm"](module)
    before = torch_xla.backends.get_mat_mul_precision()
    names["compile_norm"](names["Norm"](4), matmul_precision="high")
    x = torch.rand(2, 4)
    compiled(x).sum().backward()
    return {
        "device": module.weight.device.type,
        "precisions": [before, torch_xla.backends.get_mat_mul_precision()],
        "gradient": module.weight.grad.cpu().tolist(),
        "expected": x.sum(dim=0).tolist(),
    }


SCALE = """let scale [B, D] (x : Tensor[F32, [B, D]]) (weight : Tensor[F32, [D]])
    : Tensor[F32, [B, D]] =
  x * broadcast weight [B, D]

module Norm = scale with
  param weight = ones
"""


def main() -> None:
    runs = {name: _run(accepted(path)) for name, path in PATHS.items()}
    json.dump({"runs": runs, "settings": _settings(accepted(SCALE))}, sys.stdout)


if __name__ == "__main__":
    main()
