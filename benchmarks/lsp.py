"""How long an editor waits after an edit: `p0trans lsp` beside a check of the whole text.

    python benchmarks/lsp.py [--lines 2000] [--edits 60]

Every second edit makes an error and the next one mends it, each at another place. The time of an
edit goes from the text leaving the client to the findings arriving there; edits and cold checks
take turns, and medians are reported. Exits with 1 over the limit.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lsprotocol import types as lsp

from p0trans.driver import check_sources
from p0trans.source import Source

ROOT = Path(__file__).resolve().parent.parent
LIMIT_MS = 100


def edits(text: str, count: int) -> list[tuple[str, str]]:
    """Texts that follow each other, each with what was done."""
    draw = random.Random(0)
    lines = text.splitlines(keepends=True)
    steps = [number for number, line in enumerate(lines) if line.startswith("  let sq")]
    found: list[tuple[str, str]] = []
    for _ in range(count // 4):
        at = draw.choice(steps)
        broken, wrong = list(lines), list(lines)
        broken[at] = broken[at].replace(" in\n", "\n").replace("* h", "* * h")
        wrong[at] = wrong[at].replace("* h", "* eps")
        found += [
            ("a syntax error", "".join(broken)),
            ("mended", text),
            ("a type error", "".join(wrong)),
            ("mended", text),
        ]
    return found


def measured(action: Callable[[], object]) -> float:
    begin = time.perf_counter()
    action()
    return (time.perf_counter() - begin) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=2000)
    parser.add_argument("--edits", type=int, default=60)
    options = parser.parse_args()
    sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
    from translate import program

    from tests.lsp.editor import editor

    text = program(options.lines)
    times: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, editor() as one:
        path = Path(folder, "model.p0")
        uri = path.as_uri()
        document = lsp.TextDocumentIdentifier(uri)
        check_sources([Source("warm.p0", program(100))])
        print(f"{text.count(chr(10))} lines\n")
        print(f"  opened                  {measured(lambda: one.open(uri, text)):7.1f} ms")
        for what, edited in edits(text, options.edits):
            warm = measured(partial(one.change, uri, edited))
            cold = measured(partial(check_sources, [Source("model.p0", edited)]))
            times.setdefault(what, []).append(warm)
            times.setdefault("cold check", []).append(cold)
        everywhere = lsp.SemanticTokensParams(document)
        times["semantic tokens"] = [
            measured(
                lambda: one.wait(one.client.text_document_semantic_tokens_full_async(everywhere))
            )
            for _ in range(5)
        ]
    waited = [ms for what in ("a syntax error", "a type error", "mended") for ms in times[what]]
    for what, values in times.items():
        print(f"  {what:22}  {statistics.median(values):7.1f} ms   worst {max(values):7.1f} ms")
    median = statistics.median(waited)
    ratio = median / statistics.median(times["cold check"])
    print(f"\n  edit / cold check       {ratio:7.2f}")
    print(f"  median of all edits     {median:7.1f} ms   (at most {LIMIT_MS} ms)")
    if median > LIMIT_MS:
        raise SystemExit("an edit takes longer than its limit")


if __name__ == "__main__":
    main()
