"""The programs of every rule on the compilers, in the form that their target gets."""

from __future__ import annotations

from typing import Any

import pytest

import p0trans
from p0trans.emit.options import Style
from p0trans.source import Source
from p0trans.tools import verify as verifying
from p0trans.tools.verify_compare import difference
from p0trans.tools.verify_inputs import flat
from p0trans.types import tensors
from tests.programs import Generated
from tests.programs.engines import Pairs, compiled, on_xla
from tests.programs.run import checked_program
from tests.rewrite.test_rules import FIXTURES

_STYLE: Style = "idiomatic"


@pytest.fixture(scope="module")
def sample() -> list[tuple[Generated, Any]]:
    """Each definition that has a module of its own, with sizes, inputs and the right result."""
    found = []
    for fixture in FIXTURES:
        text = fixture.read_text()
        program = p0trans.check(text).program
        request = verifying.Request(runs=1)
        work = verifying.plan(Source(fixture.name, text), request)
        assert isinstance(work, verifying.Plan)
        declared = {module.definition for module in program.units[-1].modules}
        for subject in work.subjects:
            if subject.definition.reference not in declared:
                continue
            (sizes,) = verifying.draw_sizes(subject, request)
            evaluated = verifying.draw_inputs(program, subject, sizes, "seed")
            name = subject.definition.name
            example = Generated(text, name, sizes, evaluated.inputs)
            found.append((example, evaluated.result))
    return found


def require_equal(sample: list[tuple[Generated, Any]], results: list[Any]) -> None:
    for (example, wanted), found in zip(sample, results, strict=True):
        program = checked_program(example.text)
        definition = next(d for d in program.units[-1].definitions if d.name == example.entry)
        dtypes = [type_.dtype for type_ in tensors(definition.result_type)]
        far = difference(tuple(flat(found)), tuple(flat(wanted)), dtypes)
        assert far.within, (far, example)


def pairs(sample: list[tuple[Generated, Any]]) -> Pairs:
    return [(example, _STYLE) for example, _ in sample]


# They are mixed only because all programs are one graph.
@pytest.mark.filterwarnings("ignore:bf16 and fp16 are mixed")
def test_compiled(sample: list[tuple[Generated, Any]]) -> None:
    require_equal(sample, compiled(pairs(sample)))


def test_xla(sample: list[tuple[Generated, Any]]) -> None:
    pytest.importorskip("torch_xla", reason="the extra `xla` is not installed")
    require_equal(sample, on_xla(pairs(sample)))
