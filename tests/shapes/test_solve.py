from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from p0trans.dtypes import DTYPES
from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.shapes.solve import (
    BoundaryCondition,
    ConstraintCondition,
    FromEquation,
    FromInput,
    Given,
    PositiveCondition,
    ShapeBinding,
    ShapeCondition,
    Sizes,
    bind,
    boundary_conditions,
    input_tensors,
    size_at,
    solve,
)
from p0trans.types import TensorType, TupleType, Type
from tests.shapes.support import constraint, constraints, dim, dims, grid

F32 = DTYPES["F32"]


def tensor(text: str) -> TensorType:
    return TensorType(F32, dims(text))


def solved(variables: str, inputs: Sequence[str], known: str = "") -> tuple[ShapeBinding, ...]:
    return solve(tuple(variables.split()), [tensor(t) for t in inputs], constraints(known))


def read(name: str, parameter: int, axis: int) -> FromInput:
    return FromInput(name, parameter, axis, 1, constant(0))


def equation(name: str, numerator: str, denominator: str = "1") -> FromEquation:
    return FromEquation(name, dim(numerator), dim(denominator))


@pytest.mark.parametrize(
    ("variables", "inputs", "known", "expected"),
    [
        ("B S D", ["B, S, D", "D"], "", [read("B", 0, 0), read("S", 0, 1), read("D", 0, 2)]),
        ("B K", ["B, 2*K"], "", [read("B", 0, 0), FromInput("K", 0, 1, 2, constant(0))]),
        ("S", ["S - 1"], "", [FromInput("S", 0, 0, 1, constant(-1))]),
        ("S T", ["S - T", "S"], "", [read("S", 1, 0), FromInput("T", 0, 0, -1, variable("S"))]),
        (
            "K M",
            ["2*K + M", "M"],
            "",
            [read("M", 1, 0), FromInput("K", 0, 0, 2, variable("M"))],
        ),
        # A bare dim of a later input is preferred to a linear one of an earlier input.
        ("K", ["2*K", "K"], "", [read("K", 1, 0)]),
        (
            "B D K",
            ["B, D"],
            "D == 2*K",
            [read("B", 0, 0), read("D", 0, 1), equation("K", "D", "2")],
        ),
        (
            "D H K",
            ["D, H"],
            "D == H*K",
            [read("D", 0, 0), read("H", 0, 1), equation("K", "D", "H")],
        ),
        ("D K", ["D"], "D / 2 == K", [read("D", 0, 0), equation("K", "D / 2")]),
        (
            "B H BH",
            ["B, H"],
            "BH == B*H",
            [read("B", 0, 0), read("H", 0, 1), equation("BH", "B*H")],
        ),
        (
            "D K M",
            ["D"],
            "2*K == D - M, K == M",
            [read("D", 0, 0), Given("K"), equation("M", "D - 2*K")],
        ),
        # An equation without a division is preferred to an earlier one with.
        (
            "D H K M",
            ["D, H, M"],
            "D == H*K, K == 2*M",
            [read("D", 0, 0), read("H", 0, 1), read("M", 0, 2), equation("K", "2*M")],
        ),
        (
            "B G R H",
            ["B, G"],
            "H == G*R",
            [read("B", 0, 0), read("G", 0, 1), Given("R"), equation("H", "G*R")],
        ),
        ("B S", ["B"], "", [read("B", 0, 0), Given("S")]),
        ("D", ["D / 2"], "", [Given("D")]),
        ("K", ["2"], "K*K == 9", [Given("K")]),
        # H - 1 may be 0.
        ("D H K", ["D, H"], "D == (H - 1)*K", [read("D", 0, 0), read("H", 0, 1), Given("K")]),
    ],
)
def test_solve(
    variables: str, inputs: Sequence[str], known: str, expected: Sequence[ShapeBinding]
) -> None:
    assert list(solved(variables, inputs, known)) == expected


NESTED: tuple[Type, ...] = (
    tensor("B"),
    TupleType((tensor("S, 3"), TupleType((tensor(""), tensor("2*K, B"))))),
)


def test_tensors_of_tuples_come_in_order() -> None:
    found = [(item.parameter, item.path, item.type) for item in input_tensors(NESTED)]
    assert found == [
        (0, (), tensor("B")),
        (1, (0,), tensor("S, 3")),
        (1, (1, 0), tensor("")),
        (1, (1, 1), tensor("2*K, B")),
    ]


def test_a_tuple_input_gives_variables() -> None:
    bindings = solve(("B", "S", "K"), NESTED, ())
    assert bindings == (
        read("B", 0, 0),
        FromInput("S", 1, 0, 1, constant(0), (0,)),
        FromInput("K", 1, 0, 2, constant(0), (1, 1)),
    )
    shapes: Sequence[Sizes] = ((2,), ((5, 3), ((), (8, 2))))
    assert bind(bindings, shapes, {}) == {"B": 2, "S": 5, "K": 4}
    assert size_at(shapes, 1, (1, 1)) == (8, 2)


def test_bind_divides_by_zero_to_zero() -> None:
    bindings = solved("D H K", ["D, H"], "D == H*K")
    assert bind(bindings, [(6, 0)], {}) == {"D": 6, "H": 0, "K": 0}
    assert PositiveCondition("H") in boundary_conditions(bindings, [tensor("D, H")], ())


def conditions(variables: str, inputs: Sequence[str], known: str = "") -> list[BoundaryCondition]:
    types = [tensor(text) for text in inputs]
    return list(boundary_conditions(solved(variables, inputs, known), types, constraints(known)))


def shape(parameter: int, text: str, *axes: int) -> ShapeCondition:
    return ShapeCondition(parameter, (), dims(text), axes)


@pytest.mark.parametrize(
    ("variables", "inputs", "known", "expected"),
    [
        (
            "B D",
            ["B, D", "D", ""],
            "",
            [
                shape(0, "B, D"),
                shape(1, "D", 0),
                shape(2, ""),
                PositiveCondition("B"),
                PositiveCondition("D"),
            ],
        ),
        ("K", ["2*K, 1"], "", [shape(0, "2*K, 1", 0, 1), PositiveCondition("K")]),
        # S is the size plus 1.
        ("S", ["S - 1"], "", [shape(0, "S - 1")]),
        (
            "B H BH",
            ["B, H"],
            "BH == B*H, BH >= B, BH >= 4",
            [
                shape(0, "B, H"),
                PositiveCondition("B"),
                PositiveCondition("H"),
                ConstraintCondition(constraint("BH >= 4")),
            ],
        ),
        # D = 2*K makes K at least 1 when D is.
        (
            "D K",
            ["D"],
            "D == 2*K",
            [shape(0, "D"), PositiveCondition("D"), ConstraintCondition(constraint("D == 2*K"))],
        ),
        (
            "D K",
            ["D"],
            "K == D - 3, S >= 1",
            [shape(0, "D"), PositiveCondition("D"), PositiveCondition("K")],
        ),
        ("R", [], "R >= 2", [PositiveCondition("R"), ConstraintCondition(constraint("R >= 2"))]),
    ],
)
def test_boundary_conditions(
    variables: str, inputs: Sequence[str], known: str, expected: Sequence[BoundaryCondition]
) -> None:
    assert conditions(variables, inputs, known) == expected


def satisfied(
    condition: BoundaryCondition, values: Mapping[str, int], shapes: Sequence[Sizes]
) -> bool:
    match condition:
        case ShapeCondition(parameter, path, expected, axes):
            sizes = size_at(shapes, parameter, path)
            return all(sizes[axis] == expected[axis].evaluate(values) for axis in axes)
        case PositiveCondition(name):
            return values[name] >= 1
        case ConstraintCondition(held):
            return held.evaluate(values)


NAMES = ("A", "B", "C", "D")
INPUT_DIMS = st.sampled_from(
    dims("A, B, C, D, 2*A, 3*B, A + 1, B - 1, 2*C + A, C - D, A / 2, D % 2, 4, 1")
)
KNOWN = st.lists(
    st.sampled_from(
        constraints(
            "C == A*B, D == 2*C, A == B*D, C / 2 == D, B >= 2, A + B == C + D, D % 2 == 0,"
            " A*B == C*D, C == D - 1, A < D"
        )
    ),
    max_size=3,
)
INPUTS = st.lists(st.lists(INPUT_DIMS, max_size=3).map(tuple), max_size=3)


@given(INPUTS, KNOWN, st.fixed_dictionaries({name: st.integers(1, 8) for name in NAMES}))
def test_bind_recovers_the_numbers(
    inputs: Sequence[tuple[Dim, ...]], known: Sequence[Constraint], values: Mapping[str, int]
) -> None:
    assume(all(fact.evaluate(values) for fact in known))
    types = [TensorType(F32, shape) for shape in inputs]
    shapes = [tuple(dim.evaluate(values) for dim in shape) for shape in inputs]
    bindings = solve(NAMES, types, known)
    given_values = {b.variable: values[b.variable] for b in bindings if isinstance(b, Given)}
    bound = bind(bindings, shapes, given_values)
    assert bound == values
    found = boundary_conditions(bindings, types, known)
    assert all(satisfied(condition, bound, shapes) for condition in found)


@given(INPUTS, KNOWN, st.data())
def test_conditions_hold_only_of_declared_shapes(
    inputs: Sequence[tuple[Dim, ...]], known: Sequence[Constraint], data: st.DataObject
) -> None:
    types = [TensorType(F32, shape) for shape in inputs]
    sizes = st.integers(0, 8)
    shapes = [tuple(data.draw(sizes) for _ in shape) for shape in inputs]
    bindings = solve(NAMES, types, known)
    given_values = {b.variable: data.draw(sizes) for b in bindings if isinstance(b, Given)}
    bound = bind(bindings, shapes, given_values)
    found = boundary_conditions(bindings, types, known)
    valid = (
        all(bound[name] >= 1 for name in NAMES)
        and all(fact.evaluate(bound) for fact in known)
        and shapes == [tuple(dim.evaluate(bound) for dim in shape) for shape in inputs]
    )
    assert all(satisfied(condition, bound, shapes) for condition in found) is valid


@given(INPUTS, KNOWN)
def test_each_variable_is_bound_once_from_earlier_ones(
    inputs: Sequence[tuple[Dim, ...]], known: Sequence[Constraint]
) -> None:
    bindings = solve(NAMES, [TensorType(F32, shape) for shape in inputs], known)
    assert sorted(binding.variable for binding in bindings) == list(NAMES)
    bound: set[str] = set()
    for binding in bindings:
        match binding:
            case FromInput():
                assert binding.rest.variables() <= bound
            case FromEquation():
                assert binding.numerator.variables() | binding.denominator.variables() <= bound
        bound.add(binding.variable)


def test_conditions_of_a_division_reject_every_inexact_size() -> None:
    bindings = solved("D H K", ["D, H"], "D == H*K")
    found = boundary_conditions(bindings, [tensor("D, H")], constraints("D == H*K"))
    for sizes in grid(("D", "H"), 9):
        shapes = [(sizes["D"], sizes["H"])]
        bound = bind(bindings, shapes, {})
        accepted = all(satisfied(condition, bound, shapes) for condition in found)
        assert accepted is (sizes["D"] % sizes["H"] == 0)
