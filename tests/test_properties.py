"""What holds of every well-typed program, on programs drawn over the whole operation table.

`P0TRANS_EXAMPLES=10 pytest tests/test_properties.py` tries ten times as many, other ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import p0trans
from p0trans.checker import Checked
from p0trans.diagnostics.apply import fix_until_stable
from p0trans.diagnostics.model import Severity
from p0trans.driver import check_sources
from p0trans.dtypes import DTYPES
from p0trans.emit.options import Checks, Style
from p0trans.interpret import BoundaryError
from p0trans.ir.printer import print_program
from p0trans.ir.program import Apply
from p0trans.ir.verify import verify
from p0trans.ops import OPERATIONS
from p0trans.rewrite import rewrite
from p0trans.source import Source
from tests.casefile import Case, cases
from tests.programs import Generated, programs, running_error
from tests.programs.definition import drawn_numbers
from tests.programs.mutants import ALWAYS_REJECTED, Break, Mutant, mutants
from tests.programs.run import close, emitted, entry, interpreted, module_of

_MORE = int(os.environ.get("P0TRANS_EXAMPLES", "0"))
# A declared type is taken at its word, so what is broken there is not mended.
_REPAIRED = frozenset(Break) - {Break.DIMS, Break.DTYPE, Break.TUPLE}
# What these took away stands in the program still.
_ALWAYS_RESTORED = frozenset({Break.AXIS, Break.IN, Break.MISSPELL})


def examples(count: int) -> settings:
    """`count` examples, always the same ones unless more are asked for."""
    return settings(
        max_examples=count * max(_MORE, 1),
        derandomize=not _MORE,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def checked(text: str) -> Checked:
    """The checked form of a text without errors (unused names and the like are no errors)."""
    result = p0trans.check(text)
    assert result.ok, [found.message for found in result.diagnostics]
    return result


@given(programs(), st.sampled_from(("full", "none")), st.sampled_from(("idiomatic", "explicit")))
@examples(200)
def test_emitted_module_equals_interpreter(
    example: Generated, checks: Checks, style: Style
) -> None:
    program = checked(example.text).program
    verify(program)
    assert print_program(program).startswith("unit ")
    definition = entry(program, example.entry)
    known = running_error.run(
        program,
        definition,
        example.sizes,
        [running_error.exactly(value) for value in example.inputs],
    )
    running_error.assert_within(interpreted(program, example), known, "the interpreter")
    rewritten = rewrite(program, "torch").program
    verify(rewritten)
    running_error.assert_within(interpreted(rewritten, example), known, "the rewritten program")
    found = emitted(example, module_of(program, example), checks, style)
    running_error.assert_within(found, known, f"the {style} module with checks {checks}")


def test_every_operation_is_drawn() -> None:
    """Draws until each operation has come up: which programs one seed gives depends on the modules
    that are loaded, as hypothesis mixes the constants it finds in them into its draws."""
    drawn: set[str] = set()

    @given(programs())
    @settings(examples(200), phases=[Phase.generate])
    def draw(example: Generated) -> None:
        steps = (
            step.node
            for definition in checked(example.text).program.units[-1].definitions
            for step in definition.steps
        )
        drawn.update(node.operation for node in steps if isinstance(node, Apply))

    for number in range(20):
        seed(number)(draw)()
        if drawn == set(OPERATIONS):
            return
    pytest.fail(f"never drawn: {', '.join(sorted(set(OPERATIONS) - drawn))}")


@given(programs())
@examples(15)
def test_emission_is_deterministic(example: Generated) -> None:
    assert p0trans.translate(example.text) == p0trans.translate(example.text)


def test_emission_does_not_depend_on_the_hash_seed() -> None:
    texts: list[str] = []

    @given(programs())
    @settings(examples(12), phases=[Phase.generate])
    def draw(example: Generated) -> None:
        texts.append(example.text)

    draw()
    script = "import sys, p0trans; print(*map(p0trans.translate, eval(sys.stdin.read())))"
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=repr(texts),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parent.parent,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


# --- broken programs ------------------------------------------------------------------------


def one_of_each(draw: Any, broken: list[Mutant]) -> list[Mutant]:
    """A mutant of each kind that there is."""
    kinds = [[mutant for mutant in broken if mutant.kind is kind] for kind in Break]
    return [draw(st.sampled_from(mutants)) for mutants in kinds if mutants]


@given(programs(), st.data())
@examples(150)
def test_broken_programs_are_rejected(example: Generated, data: st.DataObject) -> None:
    """What is accepted is another program, and a valid one: it runs as its types say."""
    program = checked(example.text).program
    for mutant in one_of_each(data.draw, mutants(example.text, program)):
        result = p0trans.check(mutant.text)
        if not result.ok:
            continue
        assert mutant.kind not in ALWAYS_REJECTED, mutant.text
        verify(result.program)
        count = len(program.units[-1].definitions)
        assert len(result.program.units[-1].definitions) == count, mutant.text
        assert print_program(result.program) != print_program(program) or _equal_dims(
            mutant, example
        ), mutant.text
        try:
            interpreted(result.program, example)
        except (BoundaryError, ArithmeticError, IndexError):
            # Other types of parameters, or other numbers where not all are allowed.
            continue


def _equal_dims(mutant: Mutant, example: Generated) -> bool:
    """Whether the two dims that were swapped are one number."""
    dims = mutant.where.split(",")
    return mutant.kind is Break.DIMS and len({eval(dim, dict(example.sizes)) for dim in dims}) == 1


def require_repair(mutant: Mutant, wanted: Any, run: Callable[[Checked], Any]) -> None:
    """`check --fix` restores the value, or leaves an error that says what it cannot know.

    It may leave one only where some finding on the way had no fix for a machine.
    """
    source = Source("broken.p0", mutant.text)
    broken = check_sources([source])
    if broken.ok:
        return
    if mutant.kind is Break.ASSUME and any(each.code == "P0401" for each in broken.diagnostics):
        # Without the fact that two dims are equal, theirs is another order.
        return
    fixed, _ = fix_until_stable(source, lambda current: check_sources([current]).diagnostics)
    result = check_sources([fixed])
    errors = [each for each in result.diagnostics if each.severity is Severity.ERROR]
    if errors:
        stuck = mutant.kind not in _ALWAYS_RESTORED and any(
            not any(fix.machine for fix in error.fixes) for error in errors
        )
        messages = [error.message for error in errors]
        assert stuck, f"{mutant.kind}: {messages}\n{mutant.text}\nbecame\n{fixed.text}"
        return
    value = run(result)
    # A cast may come back one step later, where it rounds otherwise.
    tolerance = DTYPES["BF16"] if mutant.kind is Break.CAST else None
    assert close(value, wanted, tolerance), f"{mutant.kind}:\n{mutant.text}\nbecame\n{fixed.text}"


@given(programs(modules=False), st.data())
@examples(150)
def test_fixes_restore_programs(example: Generated, data: st.DataObject) -> None:
    program = checked(example.text).program
    wanted = interpreted(program, example)
    for mutant in one_of_each(data.draw, mutants(example.text, program)):
        if mutant.kind in _REPAIRED:
            require_repair(mutant, wanted, lambda result: interpreted(result.program, example))


def case_example(case: Case) -> Generated:
    """The last definition of a case at its first sizes, on random inputs."""
    text = case.path.read_text()
    definition = checked(text).program.units[-1].definitions[-1]
    sizes = case.dims()[0]
    inputs: list[Any] = []
    for parameter in definition.parameters:
        assert not hasattr(parameter.type, "items"), "the cases have no tuples as arguments"
        shape = [dim.evaluate(sizes) for dim in parameter.type.shape]
        # Recipe 2 has integers that are ids of any table.
        inputs.append(drawn_numbers(parameter.type.dtype, shape, recipe=2, seed=len(inputs)))
    return Generated(text, definition.name, sizes, tuple(inputs))


@pytest.mark.parametrize("case", cases("accept"), ids=lambda case: case.path.stem)
def test_fixes_restore_the_accepted_cases(case: Case) -> None:
    example = case_example(case)
    program = checked(example.text).program
    wanted = interpreted(program, example)
    for mutant in mutants(example.text, program):
        if mutant.kind in _REPAIRED:
            require_repair(mutant, wanted, lambda result: interpreted(result.program, example))
