"""`p0trans verify`: what passes on every engine, what is caught, how it is reported."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import p0trans
from p0trans.dtypes import DTYPES
from p0trans.emit.options import Options
from p0trans.files import read_source
from p0trans.source import Source
from p0trans.tools import verify as tool
from p0trans.tools.verify import FAILURES, NothingToVerifyError, Plan, Request, Row, Verdict
from p0trans.tools.verify_compare import difference
from p0trans.tools.verify_engines import ENGINES
from p0trans.tools.verify_gradients import (
    Loss,
    Slope,
    gradient_difference,
    result_weights,
    slopes,
    widened,
)
from p0trans.tools.verify_inputs import evaluate_at, flat, index_limits
from p0trans.tools.verify_stability import explains_gradients
from p0trans.tools.verify_subjects import Input, subjects
from p0trans.tools.verify_table import render, summary
from tests.casefile import CASES
from tests.cli.support import invoke

ROOT = Path(__file__).parent.parent.parent
FILES = [
    *sorted((CASES / "accept").glob("*.p0")),
    *sorted((ROOT / "examples" / "casebook").glob("*.p0")),
]
MODELS = sorted(set((ROOT / "examples").rglob("*.p0")).difference(FILES))
EACH_FILE = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
RMSNORM = ROOT / "examples" / "casebook" / "rmsnorm.p0"
BLOCK = ROOT / "examples" / "casebook" / "block.p0"


def planned(program: str | Path, **request: Any) -> Plan:
    source = Source("<test>", program) if isinstance(program, str) else read_source(program)
    assert isinstance(source, Source)
    work = tool.plan(source, Request(**request))
    assert isinstance(work, Plan)
    return work


def rows_of(work: Plan) -> list[Row]:
    return [row for part in tool.verify(work) for row in part]


def verdicts(rows: Sequence[Row]) -> set[Verdict]:
    return {row.verdict for row in rows}


# --- what passes ----------------------------------------------------------------------------


@EACH_FILE
def test_passes_on_eager(path: Path) -> None:
    rows = rows_of(planned(path, gradients=True, runs=3))
    values = [row for row in rows if row.what == "value"]
    assert verdicts(values) == {Verdict.OK}, render(rows)
    gradients = [row for row in rows if row.what == "gradient"]
    # A gradient in BF16 has no difference quotient to be held against.
    wanted = Verdict.SKIPPED if path.stem == "mixed_precision_norm" else Verdict.OK
    assert verdicts(gradients) == {wanted}, render(rows)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_models_pass_where_they_are_stable(path: Path) -> None:
    rows = rows_of(planned(path, gradients=True, runs=3))
    assert verdicts(rows) <= {Verdict.OK, Verdict.UNSTABLE, Verdict.SKIPPED}, render(rows)
    for name in {row.name for row in rows}:
        assert Verdict.OK in verdicts([row for row in rows if row.name == name]), render(rows)


@pytest.mark.parametrize(
    ("path", "subjects_"), [(RMSNORM, 1), (CASES / "accept" / "two_results.p0", 2)]
)
def test_passes_compiled(path: Path, subjects_: int) -> None:
    rows = rows_of(planned(path, gradients=True, runs=2, engines=("compile",)))
    assert len(rows) == 4 * subjects_
    assert verdicts(rows) == {Verdict.OK}, render(rows)


def test_nothing_stays_imported() -> None:
    before = set(sys.modules)
    rows_of(planned(RMSNORM, runs=1))
    assert not {name for name in set(sys.modules) - before if "verified" in name}


def test_passes_on_xla() -> None:
    """In a process of its own, since XLA is started once in each."""
    options = ["--on", "xla", "--grad", "--runs", "2"]
    run = subprocess.run(
        [sys.executable, "-m", "p0trans", "verify", *map(str, (*FILES, *MODELS)), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={name: value for name, value in os.environ.items() if name != "PJRT_DEVICE"},
    )
    assert run.returncode == 0, run.stdout + run.stderr
    *_, last = run.stdout.splitlines()
    assert re.search(r" ok, (\d+ unstable, )?4 skipped$", last), run.stdout


def test_each_run_has_other_sizes() -> None:
    rows = rows_of(planned(RMSNORM, runs=4))
    assert len({tuple(row.sizes.items()) for row in rows}) == 4
    first, second, *_ = (sorted(row.sizes.values()) for row in rows)
    assert len(set(first)) == 3
    assert second == [1, 1, 1]


def test_the_same_seed_gives_the_same_rows() -> None:
    first, again, other = (rows_of(planned(BLOCK, seed=seed, runs=1)) for seed in (1, 1, 2))
    assert first == again
    assert first != other


# --- what is caught -------------------------------------------------------------------------

CENTER = """
let center [B, S] (x : Tensor[F32, [B, S]]) (k : Tensor[F32, [B, S]]) : Tensor[F32, [B, S]] =
  let mean = reduce_keep[mean, axis=1] x in
  let rest = x - broadcast mean [B, S] in
  exp (rest - k) + broadcast 0.001 [B, S]
"""


def broken(old: str, new: str, program: str | Path = CENTER, **request: Any) -> list[Row]:
    """The rows of a program in whose emitted code, one call a step, `old` is replaced by `new`."""
    work = planned(program, runs=3, emit=Options(style="explicit"), **request)
    (text,) = work.texts.values()
    assert old in text
    return rows_of(replace(work, texts=dict.fromkeys(work.texts, text.replace(old, new))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rest - k", "k - rest"),
        (", keepdim=True", ""),
        ("dim=1", "dim=0"),
        ("torch.mean", "torch.sum"),
        ("torch.exp(", "torch.expm1("),
        ("torch.tensor(0.001", "torch.tensor(0.002"),
        ("torch.exp(", "torch.exp(1e-4 + "),
        ("    return ", "    return 2 * "),
        ("    return ", "    return None, "),
    ],
)
def test_wrong_emission_is_caught(old: str, new: str) -> None:
    assert FAILURES & verdicts(broken(old, new))


def test_wrong_state_is_caught() -> None:
    assert Verdict.FAILED in verdicts(broken("self.weight.expand", "torch.ones(D).expand", BLOCK))


def test_another_default_is_caught() -> None:
    rows = broken("eps: float = 1e-6", "eps: float = 1e-3", BLOCK)
    assert {row.name for row in rows if row.verdict is Verdict.FAILED} == {
        "RMSNorm",
        "TransformerBlockPartial",
    }


def test_wrong_gradient_is_caught() -> None:
    rows = broken("rest - k", "rest - k.detach()", gradients=True)
    assert verdicts([row for row in rows if row.what == "value"]) == {Verdict.OK}
    assert verdicts([row for row in rows if row.what == "gradient"]) == {Verdict.FAILED}


def test_a_wrong_dtype_is_told() -> None:
    first, *_ = broken("torch.exp(", "torch.exp(1e0 * torch.ones((1, 1), dtype=torch.float64) * ")
    assert first.verdict is Verdict.FAILED
    assert first.note == "float64[5, 4] in place of float32[5, 4]"


def test_a_wrong_shape_is_told() -> None:
    first, *_ = broken("    return ", "    return x.new_zeros(2, 2) if x.numel() else ")
    assert first.verdict is Verdict.FAILED
    sizes = list(first.sizes.values())
    assert first.note == f"float32[2, 2] in place of float32{sizes}"


def test_what_emitted_code_raises_is_told() -> None:
    rows = broken("torch.exp(", "torch.no_such_function(")
    assert verdicts(rows) == {Verdict.ERROR}
    assert rows[0].note.startswith("AttributeError: ")


# --- what is neither ------------------------------------------------------------------------


def test_what_magnifies_rounding_is_unstable() -> None:
    text = """
let chaos [N] (x : Tensor[F32, [N]]) : Tensor[F32, []] =
  sin (1e7 * reduce[sum, axis=0] x)
"""
    rows = rows_of(planned(text, dims={"N": 1000}, runs=3))
    # A sum of so many may come out exactly right by luck.
    assert {Verdict.UNSTABLE} <= verdicts(rows) <= {Verdict.UNSTABLE, Verdict.OK}


def test_a_gradient_that_cancels_is_unstable() -> None:
    text = """
let one [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] =
  let far = x * broadcast 0.0003 [N] in
  (far / far) * broadcast 1e4 [N]
"""
    rows = rows_of(planned(text, dims={"N": 60}, gradients=True, runs=2))
    gradients = verdicts([row for row in rows if row.what == "gradient"])
    assert gradients == {Verdict.UNSTABLE}, render(rows)


NORM = """
let norm [B, D] (x : Tensor[F32, [B, D]]) (weight : Tensor[F32, [D]]) (bias : Tensor[F32, [D]])
    : Tensor[F32, [B, D]] =
  let centered = x - broadcast (reduce_keep[mean, axis=1] x) [B, D] in
  let var      = reduce_keep[mean, axis=1] (centered * centered) in
  let normed   = centered * broadcast (rsqrt (var + broadcast 1e-12 [B, 1])) [B, D] in
  normed * broadcast weight [B, D] + broadcast bias [B, D]
"""
X, WEIGHT, BIAS = ((index, ()) for index in range(3))


def explained(text: str, sizes: Mapping[str, int], off: Mapping[Input, float]) -> bool:
    """Whether gradients that are the reference's, but for what some are off by, are explained."""
    program = p0trans.check(text).program
    definition = program.units[-1].definitions[-1]
    evaluated = evaluate_at(program, definition, sizes, {}, "0")
    loss = Loss(widened(program), definition, evaluated, result_weights(evaluated, "0"))
    leaves = [(index, ()) for index in range(len(definition.parameters))]
    found = slopes(loss, leaves, "0")
    gradients = {}
    for slope in found[: len(leaves)]:
        ((leaf, direction),) = slope.direction.items()
        gradients[leaf] = (slope.derivative + off.get(leaf, 0.0)) / direction / direction.size
    assert gradient_difference(gradients, found, DTYPES["F32"]).within is not any(off.values())
    return explains_gradients(loss, gradients, found, DTYPES["F32"])


@pytest.mark.parametrize(
    ("width", "off", "verdict"),
    [
        # Of one number nothing is left but its rounding, 2^-24 of it, and 1e-12 makes that 1e6
        # times as much.
        (1, {WEIGHT: 0.02}, True),
        (1, {X: 0.02}, True),
        (1, {WEIGHT: 0.02, X: -0.02}, True),
        (1, {WEIGHT: 5.0}, False),
        (1, {BIAS: 1e-4}, False),
        (1, {WEIGHT: 0.02, BIAS: 1e-4}, False),
        (1, {WEIGHT: math.nan}, False),
        (1, {WEIGHT: math.inf}, False),
        (5, {WEIGHT: 1e-3}, False),
        (5, {X: 1e-3}, False),
    ],
)
def test_gradients_are_unstable_as_far_as_rounding_goes(
    width: int, off: Mapping[Input, float], verdict: bool
) -> None:
    assert explained(NORM, {"B": 1, "D": width}, off) is verdict


def test_infinite_gradients_of_both_signs_are_a_difference() -> None:
    array = np.array([math.inf, -math.inf])
    slope = Slope({X: np.ones(2)}, 1.0)
    found = gradient_difference({X: array}, [slope], DTYPES["F32"])
    assert (found.absolute, found.relative, found.within) == (math.inf, math.inf, False)


def test_an_engine_does_not_excuse_itself() -> None:
    """What is wrong here turns rounding into noise, as the program does not."""
    rows = broken("torch.exp(", "torch.exp(1e-3 * torch.sin(1e7 * k) + ", gradients=True)
    assert verdicts(rows) == {Verdict.FAILED}, render(rows)


def test_floats_that_count_are_exact() -> None:
    text = """
let first [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] =
  let places = iota[F32, axis=0] [N] + broadcast 1.0 [N] in
  select (places <= broadcast 1.0 [N]) x (broadcast 0.0 [N])
"""
    assert verdicts(rows_of(planned(text, runs=3))) == {Verdict.OK}
    assert verdicts(broken(" <= ", " < ", text)) == {Verdict.FAILED}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("let f [N] (x : Tensor[F16, [N]]) : Tensor[F16, [N]] = x + x\n", "F16 is too coarse"),
        ("let f [N] (x : Tensor[F32, [N]]) : Tensor[Bool, [N]] = x < x\n", "is not a float"),
        ("let f [N] (x : Tensor[I32, [N]]) : Tensor[F32, [N]] = cast[F32] x\n", "no input"),
    ],
)
def test_gradients_that_cannot_be_had_are_skipped(text: str, reason: str) -> None:
    rows = rows_of(planned(text, gradients=True, runs=1))
    assert [row.verdict for row in rows] == [Verdict.OK, Verdict.SKIPPED]
    assert reason in rows[1].note


def test_sizes_that_do_not_exist_are_an_error() -> None:
    rows = rows_of(planned(CASES / "accept" / "even_width_where.p0", dims={"D": 7}, runs=1))
    assert verdicts(rows) == {Verdict.ERROR}
    assert "no sizes" in rows[0].note


def test_a_missing_engine_is_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = replace(ENGINES["xla"], lacks=lambda: "torch_xla")
    monkeypatch.setattr("p0trans.tools.verify.ENGINES", {**ENGINES, "xla": absent})
    work = planned(RMSNORM, engines=("eager", "xla"), runs=2)
    assert work.length == len(list(tool.verify(work)))
    rows = rows_of(work)
    assert [row.note for row in rows if row.engine == "xla"] == ["torch_xla is not installed"]
    assert verdicts(rows) == {Verdict.OK, Verdict.MISSING}
    assert Verdict.MISSING in FAILURES


# --- subjects, inputs and numbers -----------------------------------------------------------


def test_subjects_are_the_files_own_classes_and_functions() -> None:
    program = p0trans.check(CASES / "accept" / "linear_two_routes.p0").program
    assert [s.name for s in subjects(program, program.roots[0])] == ["linear_flat", "Both"]


def test_a_function_that_vanished_into_its_callers_is_no_subject() -> None:
    text = """
let cap [N] (x : Tensor[F32, [N]]) (most : Tensor[F32, []]) : Tensor[F32, [N]] =
  minimum x (broadcast most [N])
module Cap = cap with
  const most = 1.0
let cap_at_6 [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] = cap[N] x 6.0
"""
    rows = rows_of(planned(text, runs=1))
    assert [(row.name, row.verdict) for row in rows] == [
        ("Cap", Verdict.OK),
        ("cap_at_6", Verdict.OK),
    ]
    rows = rows_of(planned(text, runs=1, emit=Options(style="explicit")))
    assert [row.name for row in rows] == ["cap", "Cap", "cap_at_6"]


@pytest.mark.parametrize("name", ["RMSNorm", "rmsnorm"])
def test_a_definition_is_chosen_by_either_name(name: str) -> None:
    assert [subject.name for subject in planned(BLOCK, only=name).subjects] == ["RMSNorm"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"only": "nothing"}, "has RMSNorm, SwiGLU, TransformerBlockPartial and no 'nothing'"),
        ({"dims": {"Z": 1}}, "'Z' is no shape variable"),
    ],
)
def test_unknown_names_are_refused(request_: dict[str, Any], message: str) -> None:
    with pytest.raises(NothingToVerifyError, match=message):
        planned(BLOCK, **request_)


IDS = """
let lookup [B, V, D] (pair : (Tensor[F32, [V, D]], Tensor[I64, [B]])) : Tensor[F32, [B, D]] =
  let (table, ids) = pair in
  take[axis=0] table ids

let pick [B, V, D, S, BS] (table : Tensor[F32, [V, D]]) (ids : Tensor[I64, [B, S]])
    (other : Tensor[I64, [BS, 1]]) (free : Tensor[I32, [S]])
    : (Tensor[F32, [BS, 1]], Tensor[I32, [S]])
    assume BS == B * S =
  let rows = lookup[BS, V, D] (table, reshape ids [BS]) in
  (gather[axis=1] rows other, free)
"""


def test_ids_are_traced_to_inputs_through_calls_and_tuples() -> None:
    program = p0trans.check(IDS).program
    lookup, pick = program.units[-1].definitions
    limits = index_limits(program)
    texts = {
        definition.name: {
            source: str(dim) for source, (dim,) in limits[definition.reference].items()
        }
        for definition in (lookup, pick)
    }
    assert texts == {"lookup": {(0, (1,)): "V"}, "pick": {(1, ()): "V", (2, ()): "D"}}


def test_ids_are_in_range_and_use_it() -> None:
    program = p0trans.check(IDS).program
    pick = program.units[-1].definitions[-1]
    sizes = {"B": 40, "V": 9, "D": 3, "S": 2, "BS": 80}
    _, ids, other, free = evaluate_at(program, pick, sizes, {}, "0").inputs
    for found, size in ((ids, 9), (other, 3)):
        assert not isinstance(found, tuple)
        assert (found.min(), found.max()) == (0, size - 1)
    assert not isinstance(free, tuple)
    assert free.min() < 0


@pytest.mark.parametrize(
    "body",
    [
        "floordiv x y",
        "mod x (abs y)",
        "take[axis=0] x (y + broadcast 1 [N])",
        "take[axis=0] x (y * y)",
    ],
)
def test_inputs_suit_what_is_hard_to_please(body: str) -> None:
    text = f"""
let f [N] (x : Tensor[I32, [N]]) (y : Tensor[I32, [N]]) : Tensor[I32, [N]] where N >= 3 =
  {body}
"""
    assert verdicts(rows_of(planned(text, runs=3))) == {Verdict.OK}


def test_inputs_make_the_result_finite_where_they_can() -> None:
    text = "let f [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] = log x + sqrt x\n"
    program = p0trans.check(text).program
    found = evaluate_at(program, program.units[-1].definitions[-1], {"N": 50}, {}, "0")
    (result,) = flat(found.result)
    assert np.isfinite(result).all()


def test_widening_leaves_other_dtypes() -> None:
    text = """
let f [N] (x : Tensor[F32, [N]]) (h : Tensor[F16, [N]]) : (Tensor[F32, [N]], Tensor[I32, [N]]) =
  (cast[F32] h + iota[F32, axis=0] [N], cast[I32] x)
"""
    wide = widened(p0trans.check(text).program).units[-1].definitions[-1]
    assert [str(parameter.type) for parameter in wide.parameters] == [
        "Tensor[F64, [N]]",
        "Tensor[F16, [N]]",
    ]
    assert str(wide.result_type) == "(Tensor[F64, [N]], Tensor[I32, [N]])"


def measured(found: Sequence[float], reference: Sequence[float], dtype: str) -> tuple[Any, ...]:
    kind = np.dtype(ml_dtypes.bfloat16) if dtype == "BF16" else np.dtype(DTYPES[dtype].numpy)
    arrays = [np.array(values).astype(kind) for values in (found, reference)]
    one = difference([arrays[0]], [arrays[1]], [DTYPES[dtype]])
    return one.absolute, one.relative, one.ulp, one.within


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("dtype", "found", "reference", "expected"),
    [
        ("F32", [1.0, 2.0], [1.0, 2.0], (0, 0, 0, True)),
        ("F32", [1 + 2**-23], [1.0], (2**-23, 2**-23, 1, True)),
        ("F32", [1 + 2**-23], [1 - 2**-24], (3 * 2**-24, 3 * 2**-24 / (1 - 2**-24), 3, True)),
        ("F64", [4 + 2**-50], [4.0], (2**-50, 2**-52, 1, True)),
        ("F64", [1.1], [1.0], (0.1, 0.1, 0.1 * 2**52, False)),
        ("BF16", [1.0078125], [1.0], (2**-7, 2**-7, 1, True)),
        ("F16", [2**-24], [0.0], (2**-24, 0, 0, True)),
        ("F16", [2**-23], [2**-24], (2**-24, 1, 1, True)),
        ("F32", [NAN, INF, -INF], [NAN, INF, -INF], (0, 0, 0, True)),
        ("F32", [NAN], [1.0], (INF, INF, INF, False)),
        ("F32", [1.0], [NAN], (INF, INF, INF, False)),
        ("F32", [INF], [-INF], (INF, INF, INF, False)),
        ("F32", [1e38], [INF], (INF, INF, INF, False)),
        ("I32", [3, 4], [3, 4], (0, 0, 0, True)),
        ("I32", [3, 5], [3, 4], (1, 0.25, 1, False)),
        ("I64", [2**62 + 1], [2**62], (1, 2**-62, 1, False)),
        ("Bool", [True], [False], (1, 0, 1, False)),
    ],
)
def test_difference(
    dtype: str, found: Sequence[float], reference: Sequence[float], expected: tuple[Any, ...]
) -> None:
    assert measured(found, reference, dtype) == pytest.approx(expected, rel=1e-9)


# --- the report -----------------------------------------------------------------------------


def test_the_table_lines_up() -> None:
    rows = rows_of(planned(BLOCK, runs=2, gradients=True))
    heading, *lines = render(rows).splitlines()
    assert heading.split() == [
        "name",
        "engine",
        "what",
        "dtype",
        "sizes",
        "abs",
        "rel",
        "ulp",
        "verdict",
    ]
    place = heading.index("verdict")
    assert all(line[place:] == "ok" for line in lines)
    assert len(lines) == len(rows)


def test_the_summary_counts() -> None:
    assert summary(rows_of(planned(RMSNORM, runs=1))) == "1 comparison: 1 ok"
    failed = broken("torch.exp(", "torch.cos(")
    assert summary(failed) == "3 comparisons: 3 FAIL"
    assert summary([]) == "nothing was compared"


def test_command_passes() -> None:
    result = invoke("verify", str(RMSNORM), "--runs", "2", "--dims", "B=2,S=3")
    assert result.exit_code == 0
    assert "B=2 S=3 D=" in result.stdout
    assert result.stdout.endswith("2 comparisons: 2 ok\n")
    assert result.stderr == ""


def test_command_fails_on_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "imported", lambda text: nullcontext({"Rmsnorm": _Negative}))
    result = invoke("verify", str(RMSNORM), "--runs", "1")
    assert result.exit_code == 1
    assert result.stdout.endswith("1 comparison: 1 FAIL\n")


def _Negative() -> Any:  # noqa: N802 (it stands for a class)
    import torch

    class Negative(torch.nn.Module):
        def forward(self, x: torch.Tensor, weight: torch.Tensor, eps: torch.Tensor) -> torch.Tensor:
            return -torch.nn.functional.rms_norm(x, weight.shape, weight, float(eps))

    return Negative()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--on", "cuda"], "'cuda' is not one of eager, compile, xla"),
        (["--dims", "B"], "'B' is not NAME=SIZE"),
        (["--dims", "B=0"], "'B=0' is not NAME=SIZE"),
        (["--dims", "Q=3"], "'Q' is no shape variable"),
        (["--def", "nope"], "no 'nope'"),
        (["--runs", "0"], "--runs"),
    ],
)
def test_command_line_mistakes(arguments: list[str], message: str) -> None:
    result = invoke("verify", str(RMSNORM), *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_wrong_program_is_reported() -> None:
    result = invoke("verify", str(CASES / "reject" / "missing_in.p0"))
    assert result.exit_code == 1
    assert "P0003" in result.stderr
    assert result.stdout == ""


def test_without_torch_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("p0trans.cli.verify.find_spec", lambda name: None if name == "torch" else 1)
    result = invoke("verify", str(RMSNORM))
    assert result.exit_code == 1
    assert result.stderr == "Error: verify needs torch: pip install 'p0trans[torch]'\n"


def test_the_page_has_every_verdict_and_engine() -> None:
    page = (ROOT / "docs" / "verify.md").read_text()
    for word in (*(verdict.value for verdict in Verdict), *ENGINES):
        assert f"| `{word}` |" in page
