"""golden/numerics holds the numbers of every example; the reference and all engines keep to them.

Not byte for byte: elementary functions may differ in the last place from machine to machine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import GOLDEN, Golden
from tests.tools.numerics import (
    EXAMPLES,
    SOURCES,
    disagreements,
    entry,
    examples,
    golden_name,
    held,
    planned,
    rendered,
)

EACH = pytest.mark.parametrize(
    "path", SOURCES, ids=lambda path: str(path.relative_to(EXAMPLES).with_suffix(""))
)


@EACH
def test_reference(path: Path, golden: Golden) -> None:
    now = list(examples(planned(path)))
    entries = {example.subject.name: entry(example) for example in now}
    if golden.update:
        golden.check(golden_name(path), rendered(entries))
    found = held(path)
    assert found.keys() == entries.keys(), "to renew: pytest --update-golden"
    for example in now:
        name = example.subject.name
        for key in ("sizes", "seed", "types"):
            assert found[name][key] == entries[name][key], "to renew: pytest --update-golden"
        assert example.compare(found[name], example.results()).within


@EACH
def test_eager(path: Path) -> None:
    assert disagreements(path, "eager") == []


def test_compile() -> None:
    assert disagreements(EXAMPLES / "casebook" / "attention.p0", "compile") == []


def test_xla() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.tools.numerics", "xla"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        cwd=EXAMPLES.parent,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == f"{len(SOURCES)} examples agree\n"


def test_no_orphans() -> None:
    found = {path.relative_to(GOLDEN).as_posix() for path in (GOLDEN / "numerics").rglob("*.*")}
    assert found == set(map(golden_name, SOURCES))


def test_the_text_is_what_is_read_back() -> None:
    example, *_ = examples(planned(SOURCES[0]))
    one = entry(example)
    assert example.compare(one, example.results()).absolute == 0
