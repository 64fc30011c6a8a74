"""One line on one engine, in a process of its own: `python -m benchmarks.emission.worker`.

Takes the name of a line and `counts`, or the name of a line, that of an engine, `small` or nothing
for the sizes, and the number of rounds. The last line of its standard output is JSON.
"""

from __future__ import annotations

import json
import os
import sys
from functools import partial

import torch

from benchmarks.emission.contestants import Contestant, contestants, gradients, hold_together
from benchmarks.emission.counts import count
from benchmarks.emission.engines import ENGINES, Engine, hlo_instructions
from benchmarks.emission.lines import LINES, Line, Sizes
from benchmarks.emission.runs import BOTH, COUNTS, FORWARD, HLO, XLA
from benchmarks.emission.timing import interleaved


def counted(line: Line) -> dict[str, dict[str, int]]:
    with contestants(line, line.sizes, "torch") as found:
        hold_together(found)
        return {name: count(each)._asdict() for name, each in found.items()}


def timed(
    line: Line, sizes: Sizes, engine: Engine, rounds: int
) -> dict[str, dict[str, list[float]]]:
    with contestants(line, sizes, engine.target, engine.device()) as found:
        hold_together(found)
        calls = {name: engine.prepare(each.module) for name, each in found.items()}

        def forward(name: str) -> None:
            with torch.no_grad():
                result = found[name].run(calls[name])
                engine.finish()
            del result

        weight = torch.ones_like(next(iter(found.values())).run())

        def both(name: str) -> None:
            result = gradients(found[name], weight, calls[name])
            engine.finish()
            del result

        return {
            named: interleaved({name: partial(step, name) for name in found}, rounds)
            for named, step in ((FORWARD, forward), (BOTH, both))
        }


def instructions(line: Line, engine: Engine) -> dict[str, int]:
    def of(contestant: Contestant) -> int:
        with torch.no_grad():
            return hlo_instructions(contestant.run())

    with contestants(line, line.sizes, engine.target, engine.device()) as found:
        engine.finish()
        return {name: of(each) for name, each in found.items()}


def main() -> None:
    name, what, *how = sys.argv[1:]
    line = LINES[name]
    if what == COUNTS:
        print(json.dumps(counted(line)))
        return
    # One core: on a machine that others use, threads that wait for each other measure the others.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    engine = ENGINES[what]
    small, rounds = how
    sizes = line.small if small else line.sizes
    found: dict[str, object] = dict(timed(line, sizes, engine, int(rounds)))
    if what == XLA.engine:
        found[HLO] = instructions(line, engine)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
