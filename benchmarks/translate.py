"""How long translating takes: a cold start beside bare Python, and the cost of a line.

    python benchmarks/translate.py [--runs 15] [--sizes 100,1000,10000]

Every figure is a ratio or a share within one run: commands that are compared take turns, and
medians are reported.
"""

from __future__ import annotations

import argparse
import compileall
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import p0trans

LIMIT = 2.5

STEP = """\
  let sq{i}   = h{i} * h{i} in
  let mean{i} = reduce_keep[mean, axis=2] sq{i} in
  let rstd{i} = rsqrt (mean{i} + broadcast 1e-6 [B, S, 1]) in
  let norm{i} = h{i} * broadcast rstd{i} [B, S, D] in
  let h{next} = norm{i} * broadcast weight [B, S, D] in
"""
HEADER = """\
let chain{k} [B, S, D] (h0 : Tensor[F32, [B, S, D]]) (weight : Tensor[F32, [D]])
    : Tensor[F32, [B, S, D]] =
"""
STEPS_A_DEFINITION = 20


def program(lines: int) -> str:
    """About `lines` lines of normalisations, in definitions of 20 norms."""
    text: list[str] = []
    definition = 0
    while sum(part.count("\n") for part in text) < lines:
        text.append(HEADER.format(k=definition))
        left = lines - sum(part.count("\n") for part in text)
        steps = max(1, min(STEPS_A_DEFINITION, left // 5))
        text += [STEP.format(i=i, next=i + 1) for i in range(steps)]
        text.append(f"  h{steps}\n\n")
        definition += 1
    return "".join(text)


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - begin


def cold_start(runs: int) -> bool:
    """`p0trans check` of 50 lines against the same Python that only imports lark.

    The package is compiled first, as an installer does, so that a checkout where Python may
    write no bytecode is not measured compiling.
    """
    compileall.compile_dir(Path(p0trans.__file__).parent, quiet=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fifty.p0"
        path.write_text(program(50))
        bare = [sys.executable, "-c", "pass"]
        lark = [sys.executable, "-c", "import lark"]
        check = [sys.executable, "-m", "p0trans", "check", str(path)]
        for command in (bare, lark, check):
            seconds(command)
        rows = [[seconds(command) for command in (bare, lark, check)] for _ in range(runs)]
    bare_s, lark_s, check_s = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = statistics.median(row[2] / row[1] for row in rows)
    print(f"cold start, median of {runs} interleaved runs")
    print(f"  python -c pass              {bare_s * 1000:6.0f} ms")
    print(f"  python -c 'import lark'     {lark_s * 1000:6.0f} ms")
    print(f"  p0trans check (50 lines)    {check_s * 1000:6.0f} ms")
    print(f"  check / import lark         {ratio:6.2f}   (at most {LIMIT})\n")
    return ratio <= LIMIT


def timed(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return time.perf_counter() - begin


def per_line(sizes: list[int]) -> None:
    """Cost per source line of each pass, in one warm process."""
    import black

    from p0trans.driver import Options, build_sources, check_sources
    from p0trans.source import Source
    from p0trans.syntax.parse import parse

    def build(source: Source) -> object:
        return build_sources([source], Options())

    build(Source("warm.p0", program(100)))
    print("cost per source line (us), and each pass's share of a build")
    print(f"  {'lines':>6} {'check':>8} {'build':>8}   parse  check  render  format")
    format_str = black.format_str
    for size in sizes:
        text = program(size)
        lines = text.count("\n")
        parse_s = timed(lambda text=text: parse(Source("p.p0", text)))  # type: ignore[misc]
        check_s = timed(lambda text=text: check_sources([Source("p.p0", text)]))  # type: ignore[misc]
        formatting: list[float] = []

        def measured(source: str, *, mode: black.Mode, spent: list[float] = formatting) -> str:
            begin = time.perf_counter()
            result = format_str(source, mode=mode)
            spent.append(time.perf_counter() - begin)
            return result

        black.format_str = measured
        try:
            build_s = timed(lambda text=text: build(Source("p.p0", text)))  # type: ignore[misc]
        finally:
            black.format_str = format_str
        format_s = sum(formatting)
        shares = (parse_s, check_s - parse_s, build_s - check_s - format_s, format_s)
        shown = "  ".join(f"{share / build_s:5.0%}" for share in shares)
        print(f"  {lines:6} {check_s / lines * 1e6:8.0f} {build_s / lines * 1e6:8.0f}   {shown}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--sizes", default="100,1000,10000")
    options = parser.parse_args()
    fast_enough = cold_start(options.runs)
    per_line([int(size) for size in options.sizes.split(",")])
    if not fast_enough:
        raise SystemExit("the cold start is over its limit")


if __name__ == "__main__":
    main()
