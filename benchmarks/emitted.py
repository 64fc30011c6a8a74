"""What is emitted beside what a person would pick instead: time and memory, as ratios.

    python benchmarks/emitted.py [--only NAME]... [--quick] [--json FILE]

Each line is a program of benchmarks/emission/programs and its peers: the emitted module with and
without checks of its inputs, the style `explicit`, hand-written PyTorch and the code of
transformers for Llama. All have the same state and inputs, and their values and gradients are
compared before they are timed. A line runs in a process of its own on each engine, where the
modules take turns; the median over the rounds is reported. Prints a Markdown table, then what is
over its limit; a count over its limit makes the exit status 1.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.emission.lines import LINES
from benchmarks.emission.report import Found, larger, noise, slower, table
from benchmarks.emission.runs import COUNTS, RUNS, count, measure

ROUNDS = 15
QUICK_ROUNDS = 5


def found_on(line: str, rounds: int) -> Found:
    found = {COUNTS: count(line)}
    for run in RUNS:
        print(f"{line}: {run.title}", file=sys.stderr)
        found[run.title] = measure(line, run, rounds)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", action="append", choices=list(LINES), help="some lines, not all")
    parser.add_argument("--quick", action="store_true", help="few rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was found")
    options = parser.parse_args(arguments)
    rounds = QUICK_ROUNDS if options.quick else ROUNDS
    found = {line: found_on(line, rounds) for line in options.only or LINES}
    if options.json:
        options.json.write_text(json.dumps(found))
    print(table(found))
    least, most = noise(found)
    print(f"a hand-written module beside another instance of it: {least:.2f} to {most:.2f}\n")
    over = larger(found)
    for finding in (*over, *slower(found)):
        print(f"over the limit: {finding}")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
