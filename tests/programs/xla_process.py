"""Run generated programs on torch_xla: pickled examples come in, pickled results go out.

A program of its own: torch_xla takes over the process that imports it.
"""

from __future__ import annotations

import pickle
import sys
from importlib import import_module
from typing import Any

from torch.utils._pytree import tree_map

import p0trans
from tests.programs.run import arrays, module_of, prepared


def main() -> None:
    xla: Any = import_module("torch_xla")
    device = xla.device()
    results = []
    for example in pickle.load(sys.stdin.buffer):
        module = module_of(p0trans.check(example.text).program, example)
        ready = prepared(example, module, "full")
        inputs = tree_map(lambda value: value.to(device), ready.inputs)
        results.append(ready.instance.to(device)(*inputs, **ready.keywords))
    # One graph, and so one compilation, for all of them.
    xla.sync()
    moved = tree_map(lambda value: value.cpu(), results)
    pickle.dump([arrays(result) for result in moved], sys.stdout.buffer)


if __name__ == "__main__":
    main()
