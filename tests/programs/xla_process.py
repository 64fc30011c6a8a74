"""Run programs on torch_xla: pickled pairs of an example and a style come in, pickled results go
out.

A program of its own: torch_xla takes over the process that imports it.
"""

from __future__ import annotations

import pickle
import sys
from importlib import import_module
from typing import Any

from torch.utils._pytree import tree_map

from tests.programs.engines import ready
from tests.programs.run import arrays


def main() -> None:
    xla: Any = import_module("torch_xla")
    device = xla.device()
    results = []
    for one in ready(pickle.load(sys.stdin.buffer), "xla"):
        inputs = tree_map(lambda value: value.to(device), one.inputs)
        results.append(one.instance.to(device)(*inputs, **one.keywords))
    # One graph, and so one compilation, for all of them.
    xla.sync()
    moved = tree_map(lambda value: value.cpu(), results)
    pickle.dump([arrays(result) for result in moved], sys.stdout.buffer)


if __name__ == "__main__":
    main()
