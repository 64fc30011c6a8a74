"""Feeds broken programs to check and build: none may raise, and none may take long.

    python benchmarks/fuzz.py [--count 100000] [--seed 0] [--jobs 2] [--limit 2.0]

An input is random bytes or a real program that was cut, spliced, shuffled or made huge in one
place. What raises or takes longer than the limit is written to a file under `--keep`, and the
script ends with status 1. The slowest inputs are listed in any case.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from p0trans.diagnostics.model import Diagnostic
from p0trans.diagnostics.text import render
from p0trans.driver import Options, build_sources
from p0trans.files import read_source

ROOT = Path(__file__).parent.parent
_FOLDERS = ("tests/cases", "examples", "p0trans/std")
_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
_VOCABULARY = (
    "let in from import module with where assume true inf not Tensor param const sub F32 BF16 Bool",
    "broadcast reshape transpose reduce reduce_keep matmul slice concat pad iota take cast axis=-1",
    "perm=[1,0] 0 1 2 7 1e999 99999999999999999999 ( ) [ ] , : = == <= + - * / % && || . # × \0 //",
    "(* *) /// B S D K x y",
)
_WORDS = [word for line in _VOCABULARY for word in line.split()]


@dataclass(frozen=True, slots=True)
class Slow:
    """How long the input with this seed took, in seconds; `trouble` is a traceback."""

    seconds: float
    seed: int
    trouble: str = ""


def corpus() -> list[str]:
    """The programs of the repository."""
    paths = sorted(path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.p0"))
    return [path.read_text(encoding="utf-8") for path in paths]


def broken_program(programs: Sequence[str], seed: int) -> bytes:
    """The input number `seed`: the same for the same programs."""
    dice = random.Random(seed)
    ways: tuple[Callable[[random.Random, Sequence[str]], bytes], ...] = (
        _noise,
        _truncated,
        _spliced,
        _shuffled,
        _edited,
        _edited,
        _mixed_bytes,
    )
    return dice.choice(ways)(dice, programs)


def _noise(dice: random.Random, programs: Sequence[str]) -> bytes:
    return dice.randbytes(dice.randrange(400))


def _truncated(dice: random.Random, programs: Sequence[str]) -> bytes:
    text = dice.choice(programs)
    start, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
    return text[start if dice.random() < 0.5 else 0 : end].encode()


def _spliced(dice: random.Random, programs: Sequence[str]) -> bytes:
    pieces = []
    for _ in range(dice.randrange(2, 5)):
        text = dice.choice(programs)
        start, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
        pieces.append(text[start:end])
    return "".join(pieces).encode()


def _shuffled(dice: random.Random, programs: Sequence[str]) -> bytes:
    tokens = _TOKEN.findall(dice.choice(programs))
    start = dice.randrange(len(tokens))
    end = min(len(tokens), start + dice.choice((4, 10, 40, 10_000)))
    middle = tokens[start:end]
    dice.shuffle(middle)
    return "".join((*tokens[:start], *middle, *tokens[end:])).encode()


def _edited(dice: random.Random, programs: Sequence[str]) -> bytes:
    tokens = _TOKEN.findall(dice.choice(programs))
    for _ in range(dice.choice((1, 1, 2, 5))):
        place = dice.randrange(len(tokens))
        word = dice.choice(_WORDS) if dice.random() < 0.6 else dice.choice(tokens)
        match dice.randrange(4):
            case 0:
                tokens[place] = word
            case 1:
                tokens.insert(place, f" {word} ")
            case 2:
                del tokens[place]
                tokens = tokens or [word]
            case _:
                tokens[place] *= dice.choice((2, 30))
    return "".join(tokens).encode()


def _mixed_bytes(dice: random.Random, programs: Sequence[str]) -> bytes:
    data = bytearray(dice.choice(programs).encode())
    for _ in range(dice.randrange(1, 6)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data)


def feed(data: bytes, path: Path) -> None:
    """Check and build `data` as the command line does with a file, here at `path`."""
    path.write_bytes(data)
    source = read_source(path)
    found = (
        [source]
        if isinstance(source, Diagnostic)
        else list(build_sources([source], Options()).diagnostics)
    )
    render(found)


def _run(programs: Sequence[str], seed: int) -> Slow:
    data = broken_program(programs, seed)
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        try:
            feed(data, Path(folder) / "input.p0")
        except Exception:
            return Slow(time.perf_counter() - start, seed, traceback.format_exc())
        return Slow(time.perf_counter() - start, seed)


def _all(programs: Sequence[str], seeds: range, jobs: int) -> Iterator[Slow]:
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(partial(_run, programs), seeds, chunksize=100)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--limit", type=float, default=2.0, help="seconds that one input may take")
    parser.add_argument("--keep", type=Path, default=Path("fuzz-failures"))
    arguments = parser.parse_args()
    programs = corpus()
    seeds = range(arguments.seed, arguments.seed + arguments.count)
    slowest: list[Slow] = []
    wrong = 0
    for done, result in enumerate(_all(programs, seeds, arguments.jobs), start=1):
        if result.trouble or result.seconds > arguments.limit:
            wrong += 1
            arguments.keep.mkdir(exist_ok=True)
            kept = arguments.keep / f"{result.seed}.p0"
            kept.write_bytes(broken_program(programs, result.seed))
            print(f"{kept}: {result.seconds:.2f} s\n{result.trouble}")
        slowest = sorted((*slowest, result), key=lambda each: -each.seconds)[:5]
        if sys.stderr.isatty() and done % 100 == 0:
            print(f"\r{done} of {len(seeds)}", end="", file=sys.stderr)
    print(f"{len(seeds)} inputs, {wrong} that raised or took longer than {arguments.limit} s")
    for result in slowest:
        print(f"  {result.seconds:.3f} s  seed {result.seed}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
