"""Golden numerics: what the reference makes of each example, at sizes and inputs from a seed.

    python -m tests.tools.numerics ENGINE

runs every example on one engine and says where it is not within the tolerance of the golden.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from p0trans.dtypes import DTYPES
from p0trans.files import read_source
from p0trans.interpret import numpy_dtype
from p0trans.shapes.sample import sample_sizes
from p0trans.source import Source
from p0trans.tools.verify import Plan, Request, draw_inputs, imported, plan
from p0trans.tools.verify_compare import Difference, difference
from p0trans.tools.verify_engines import ENGINES, run
from p0trans.tools.verify_inputs import Evaluated, flat
from p0trans.tools.verify_subjects import Subject
from p0trans.types import tensors
from tests.conftest import GOLDEN

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SOURCES = sorted(EXAMPLES.rglob("*.p0"))
SEED = "golden"
# Enough digits to give back the same number.
_DIGITS = {"F16": 5, "BF16": 4, "F32": 9, "F64": 17}
_SAMPLES = 64


@dataclass(frozen=True)
class Example:
    """One module or function of an example, its inputs and the reference's result."""

    subject: Subject
    evaluated: Evaluated

    def results(self) -> list[Any]:
        return list(flat(self.evaluated.result))

    def compare(self, found: Mapping[str, Any], results: list[Any]) -> Difference:
        """How far results are from a golden's entry for this example."""
        types = list(tensors(self.subject.definition.result_type))
        held = [
            np.array([float(text) for text in values]).astype(numpy_dtype(type_.dtype))
            for values, type_ in zip(found["results"], types, strict=True)
        ]
        reference = [
            array.reshape(result.shape) for array, result in zip(held, results, strict=True)
        ]
        return difference(results, reference, [type_.dtype for type_ in types])


def golden_name(path: Path) -> str:
    return f"numerics/{path.relative_to(EXAMPLES).with_suffix('.json').as_posix()}"


def planned(path: Path, engine: str = "eager") -> Plan:
    source = read_source(path)
    assert isinstance(source, Source)
    work = plan(source, Request(engines=(engine,)))
    assert isinstance(work, Plan)
    return work


def examples(work: Plan) -> Iterator[Example]:
    for subject in work.subjects:
        yield Example(subject, draw_inputs(work.program, subject, _small_sizes(subject), SEED))


def _small_sizes(subject: Subject) -> Mapping[str, int]:
    """The sizes with the smallest product among those in which few are 1."""
    names = subject.definition.shape_parameters
    drawn = sample_sizes(names, subject.constraints, _SAMPLES, 0)
    ones = min(list(sizes.values()).count(1) for sizes in drawn)
    return min(
        (sizes for sizes in drawn if list(sizes.values()).count(1) == ones),
        key=lambda sizes: math.prod(sizes.values()),
    )


def entry(example: Example) -> dict[str, Any]:
    """What a golden holds of an example."""
    types = list(tensors(example.subject.definition.result_type))
    return {
        "sizes": dict(example.evaluated.sizes),
        "seed": SEED,
        "types": [str(type_) for type_ in types],
        "results": [
            [_text(value, type_.dtype.name) for value in array.ravel().tolist()]
            for array, type_ in zip(example.results(), types, strict=True)
        ],
    }


def rendered(entries: Mapping[str, Mapping[str, Any]]) -> str:
    """The golden's text: one line for each result."""
    blocks = []
    for name, one in entries.items():
        results = ",\n".join(f"      {json.dumps(values)}" for values in one["results"])
        lines = [f'    "{key}": {json.dumps(one[key])}' for key in ("sizes", "seed", "types")]
        lines.append(f'    "results": [\n{results}\n    ]')
        blocks.append(f'  "{name}": {{\n' + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _text(value: float | int | bool, dtype: str) -> str:
    return f"{value:.{_DIGITS[dtype]}g}" if DTYPES[dtype].is_float else str(int(value))


def held(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / golden_name(path)).read_text())
    return found


def disagreements(path: Path, engine: str) -> list[str]:
    """The parts of an example that are not within the tolerance of the golden on an engine."""
    work, golden = planned(path, engine), held(path)
    wrong = []
    with imported(work.texts[engine]) as namespace, ENGINES[engine].session() as device:
        for example in examples(work):
            found = run(ENGINES[engine], device, namespace, example.subject, example.evaluated)
            name = example.subject.name
            differs = example.compare(golden[name], list(found.results))
            if not differs.within:
                wrong.append(f"{golden_name(path)} {name} on {engine}: {differs}")
    return wrong


if __name__ == "__main__":
    found = [line for path in SOURCES for line in disagreements(path, sys.argv[1])]
    print("\n".join(found) or f"{len(SOURCES)} examples agree")
    sys.exit(bool(found))
