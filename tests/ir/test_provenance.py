"""Axis provenance: every axis is the product of its factors, and the factors are the right ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from p0trans.driver import check_sources
from p0trans.ir.program import Apply, Definition, Parameter, Reference, Step
from p0trans.ir.provenance import (
    Axes,
    Origin,
    Provenance,
    TupleAxes,
    orders_differ,
    trace,
)
from p0trans.ir.regrouping import Run, clean, rearranged, runs, split_and_merged
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Sample
from p0trans.shapes.dim import Constraint, Dim, variable
from p0trans.shapes.facts import Facts
from p0trans.source import Source, Span
from p0trans.types import TensorType, Type

ROOT = Path(__file__).parents[2]
NOWHERE = Span(0, 0)
A, B, C, AB, BC = map(variable, ("A", "B", "C", "AB", "BC"))
FACTS = Facts(
    ("A", "B", "C", "AB", "BC"), (Constraint(AB, "==", A * B), Constraint(BC, "==", B * C))
)


def facts_of(definition: Definition) -> Facts:
    return Facts(definition.shape_parameters, (*definition.where, *definition.assume))


def traced(text: str) -> tuple[Definition, Provenance]:
    """The last definition of a program, with all before it known."""
    known: dict[Reference, Provenance] = {}
    checked = check_sources([Source("test.p0", text)])
    assert checked.ok, [d.message for d in checked.diagnostics]
    (unit,) = checked.program.units
    for definition in unit.definitions:
        known[definition.reference] = trace(definition, facts_of(definition), known.get)
    return unit.definitions[-1], known[unit.definitions[-1].reference]


def result_dims(text: str) -> list[str]:
    """For each axis of the result its factors, as `G*KV`; a repetition with a star."""
    definition, provenance = traced(text)
    axes = provenance.axes(definition.result)
    return [
        " ".join(f"{f.dim}{'*' if f.origin is Origin.REPEATED else ''}" for f in axis)
        for axis in axes
    ]


def holds(facts: Facts, type_: Type, axes: Axes) -> bool:
    assert isinstance(type_, TensorType)
    return len(axes) == type_.rank and all(
        facts.equal_volume([factor.dim for factor in axis], [dim])
        for axis, dim in zip(axes, type_.shape, strict=True)
    )


SAMPLES = [
    pytest.param(name, sample, id=f"{name}-{index}")
    for name, operation in OPERATIONS.items()
    for index, sample in enumerate(operation.samples)
    if isinstance(sample.outcome, TensorType)
]


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_axes_are_the_products_of_their_factors(name: str, sample: Sample) -> None:
    assert isinstance(sample.outcome, TensorType)
    count = len(sample.operands)
    node = Apply(name, tuple(range(count)), sample.attributes)
    definition = Definition(
        name="f",
        unit="main",
        span=NOWHERE,
        doc=None,
        shape_parameters=("B", "D", "H", "K", "N", "S"),
        parameters=tuple(Parameter("x", type_, NOWHERE) for type_ in sample.operands),
        result_type=sample.outcome,
        where=sample.where,
        assume=(),
        bindings=(),
        steps=(Step(node, sample.outcome, NOWHERE),),
        result=count,
    )
    provenance = trace(definition, facts_of(definition), lambda _: None)
    assert holds(facts_of(definition), sample.outcome, provenance.axes(count))


@pytest.mark.parametrize("path", sorted((ROOT / "tests/cases/accept").glob("*.p0")))
def test_whole_programs(path: Path) -> None:
    for unit in check_sources([Source(path.name, path.read_text(), path)]).program.units:
        known: dict[Reference, Provenance] = {}
        for definition in unit.definitions:
            facts = facts_of(definition)
            provenance = trace(definition, facts, known.get)
            known[definition.reference] = provenance
            for value, step in definition.numbered_steps():
                if isinstance(step.type, TensorType):
                    assert holds(facts, step.type, provenance.axes(value))


MERGE = """\
let f [G, K, S, H] (x : Tensor[F32, [G, K, S]]) : Tensor[F32, {result}] assume H == G * K =
  let flat = reshape x [H, S] in
  {body}
"""


@pytest.mark.parametrize(
    ("result", "body", "expected"),
    [
        ("[H, S]", "flat", ["G K", "S"]),
        ("[H, S]", "exp flat", ["G K", "S"]),
        ("[S, H]", "transpose[perm=[1, 0]] flat", ["S", "G K"]),
        ("[G, K, S]", "reshape flat [G, K, S]", ["G", "K", "S"]),
        ("[H]", "reduce[sum, axis=1] flat", ["G K"]),
        ("[H, 1]", "reduce_keep[sum, axis=1] flat", ["G K", ""]),
        ("[S, H, S]", "broadcast flat [S, H, S]", ["S*", "G K", "S"]),
        ("[H, H]", "matmul flat (transpose[perm=[1, 0]] flat)", ["G K", "G K"]),
        ("[H, S]", "cumsum[axis=0] flat", ["G K", "S"]),
        ("[2*H, S]", "concat[axis=0] flat flat", ["2*H", "S"]),
        ("[H, S + 1]", "pad[axis=1, low=1, high=0] flat 0.0", ["G K", "S + 1"]),
        ("[H, S]", "slice[axis=0, start=0, stop=H] flat", ["G K", "S"]),
        ("[H, S]", "let (a, b) = (flat, x) in a", ["G K", "S"]),
    ],
)
def test_factors(result: str, body: str, expected: list[str]) -> None:
    assert result_dims(MERGE.format(result=result, body=body)) == expected


def test_a_reshape_that_mixes_is_recorded_and_starts_anew() -> None:
    text = "let f [A, B] (x : Tensor[F32, [A, B]]) : Tensor[F32, [B, A]] = reshape x [B, A]\n"
    definition, provenance = traced(text)
    assert provenance.regroupings[1].mixed == (Run(0, 2, 0, 2),)
    assert [axis[0].value for axis in provenance.axes(definition.result)] == [1, 1]


def test_a_reordered_split_is_recorded() -> None:
    text = MERGE.format(result="[K, G, S]", body="reshape flat [K, G, S]")
    _, provenance = traced(text)
    assert provenance.regroupings[2].reordered == ((0, (variable("K"), variable("G"))),)


def test_a_call_keeps_the_axes_of_its_operands() -> None:
    text = (
        "let spread [G, R, S, H] (k : Tensor[F32, [G, S]]) : Tensor[F32, [H, S]]\n"
        "    assume H == G * R =\n"
        "  reshape (broadcast (reshape k [G, 1, S]) [G, R, S]) [H, S]\n"
        "let f [A, N, T, AN] (x : Tensor[F32, [T, A]]) : Tensor[F32, [AN, T]]\n"
        "    assume AN == A * N =\n"
        "  spread[A, N, T, AN] (transpose[perm=[1, 0]] x)\n"
    )
    assert result_dims(text) == ["A N*", "T"]
    definition, provenance = traced(text)
    merged, last = provenance.axes(definition.result)
    assert [(f.value, f.axis) for f in (merged[0], last[0])] == [(0, 1), (0, 0)]


def test_tuples_keep_their_items_apart() -> None:
    text = (
        "let pair [A, B] (x : Tensor[F32, [A]]) (y : Tensor[F32, [B]])"
        " : (Tensor[F32, [B]], Tensor[F32, [A]]) = (y, x)\n"
        "let f [A, B] (x : Tensor[F32, [A]]) (y : Tensor[F32, [B]]) : Tensor[F32, [A]] =\n"
        "  let (_first, second) = pair[A, B] x y in second\n"
    )
    assert result_dims(text) == ["A"]
    definition, provenance = traced(text)
    assert isinstance(provenance.values[2], TupleAxes)
    assert provenance.axes(definition.result)[0][0].key == provenance.axes(0)[0][0].key


def test_what_is_repeated_in_one_operand_is_data_with_the_other() -> None:
    text = (
        "let f [A, B] (x : Tensor[F32, [A]]) (y : Tensor[F32, [B, A]]) : Tensor[F32, [B, A]] =\n"
        "  {} * y\n"
    )
    assert result_dims(text.format("broadcast x [B, A]")) == ["B", "A"]
    assert result_dims(text.replace(" * y", "").format("broadcast x [B, A]")) == ["B*", "A"]


def test_an_axis_of_too_many_factors_starts_anew() -> None:
    names = [f"A{i}" for i in range(20)]
    dims = ", ".join(names)
    text = (
        f"let f [{dims}, N] (x : Tensor[F32, [{dims}]]) : Tensor[F32, [N]]\n"
        f"    assume N == {' * '.join(names)} = reshape x [N]\n"
    )
    assert result_dims(text) == ["N"]


@pytest.mark.parametrize(
    ("found", "target", "expected", "is_clean"),
    [
        ((A, B, C), (AB, C), [(0, 2, 0, 1), (2, 3, 1, 2)], True),
        ((AB, C), (A, B, C), [(0, 1, 0, 2), (1, 2, 2, 3)], True),
        ((A, B, C), (A, BC), [(0, 1, 0, 1), (1, 3, 1, 2)], True),
        ((AB, C), (A, BC), [(0, 2, 0, 2)], False),
        ((A, B), (B, A), [(0, 2, 0, 2)], False),
        ((A, B, C), (B, A, C), [(0, 2, 0, 2), (2, 3, 2, 3)], False),
        ((A, A), (A, A), [(0, 1, 0, 1), (1, 2, 1, 2)], True),
        ((A, B, C, A), (AB, C, A), [(0, 2, 0, 1), (2, 3, 1, 2), (3, 4, 2, 3)], True),
        ((), (), [], True),
    ],
)
def test_runs(
    found: tuple[Dim, ...],
    target: tuple[Dim, ...],
    expected: list[tuple[int, int, int, int]],
    is_clean: bool,
) -> None:
    assert runs(FACTS, found, target) == tuple(Run(*run) for run in expected)
    assert clean(FACTS, found, target) is is_clean


def test_orders_differ() -> None:
    x, y = (
        traced(f"let f [A, B, C] (x : Tensor[F32, {s}]) : Tensor[F32, {s}] = x\n")[1].axes(0)
        for s in ("[A, B, C]", "[B, A, C]")
    )
    assert orders_differ((*x[0], *x[1]), (*y[0], *y[1]))
    assert not orders_differ((*x[0], *x[1]), (*y[1], *y[0]))
    assert not orders_differ((*x[0], *x[1]), (*y[0], *y[2]))


GROUPS = """\
let f [N, C, H, W, G, K, M] (x : Tensor[F32, [N, C, H, W]]) : Tensor[F32, {result}]
    assume C == G * K, M == K * H * W =
  let groups = reshape x [N, G, M] in
  {body}
"""


@pytest.mark.parametrize(
    ("result", "body", "expected"),
    [
        ("[N, G, M]", "groups", ["N", "G", "K H W"]),
        ("[N, C, H, W]", "reshape groups [N, C, H, W]", ["N", "G K", "H", "W"]),
        ("[N, G, K, H, W]", "reshape groups [N, G, K, H, W]", ["N", "G", "K", "H", "W"]),
    ],
)
def test_part_of_an_axis_is_followed(result: str, body: str, expected: list[str]) -> None:
    text = GROUPS.format(result=result, body=body)
    assert result_dims(text) == expected
    assert not traced(text)[1].regroupings


@pytest.mark.parametrize(
    ("found", "target", "parts"),
    [
        ((AB, C), (A, BC), (A, B, C)),
        ((A, BC), (AB, C), (A, B, C)),
        ((AB, C), (B, A * C), (B, A, C)),
        ((AB, C), (C, AB), None),
        ((A, B), (B, A), None),
        ((A, BC), (B, A * C), None),
        ((AB, C, A, B, C), (A, BC, A, B, C), None),
    ],
)
def test_split_and_merged(
    found: tuple[Dim, ...], target: tuple[Dim, ...], parts: tuple[Dim, ...] | None
) -> None:
    assert split_and_merged(FACTS, found, target) == parts


@pytest.mark.parametrize(
    ("found", "target", "expected"),
    [
        ((A, B), (B, A), True),
        ((A, B), (A, B), False),
        ((AB, C), (A, BC), False),
        ((A, B, C), (B, A * C), True),
        ((B, A * C), (A, B, C), True),
        ((AB, C, AB, C, A), (A, BC, AB, C, A), False),
        ((A, B, C, AB, BC), (B, A, C, AB, BC), True),
    ],
)
def test_rearranged(found: tuple[Dim, ...], target: tuple[Dim, ...], expected: bool) -> None:
    assert rearranged(FACTS, found, target) is expected
