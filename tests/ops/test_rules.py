"""What rejections say, how spellings nest, and what operations cost."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import numpy as np
import pytest
import torch

from p0trans.dtypes import DTYPES
from p0trans.ops import INFIX, OPERATIONS, PREFIX
from p0trans.ops.samples import TWO_K, B, D, H, K, S, at_least, shape, tensor
from p0trans.ops.table import Operation, Precedence, Rejection, Sample, Site
from p0trans.shapes.dim import Constraint, Dim, constant
from p0trans.types import TensorType
from tests.ops.support import SmallNumbers, infer, spelled

F32_BS = tensor("F32", B, S)


def rejected(
    name: str, *operands: TensorType, where: tuple[Constraint, ...] = (), **attributes: Any
) -> Rejection:
    outcome = infer(OPERATIONS[name], Sample(operands, "", attributes, where))
    assert isinstance(outcome, Rejection)
    return outcome


def blamed(rejection: Rejection) -> tuple[str, int | str | None]:
    operand = rejection.operand
    return rejection.code, rejection.attribute if operand is None else operand


def test_dtypes_are_looked_at_before_shapes() -> None:
    rejection = rejected("add", F32_BS, tensor("BF16", B))
    assert blamed(rejection) == ("P0301", 1)
    assert rejection.facts == {"expected": F32_BS, "found": tensor("BF16", B)}


def test_an_unwanted_dtype_is_named_with_what_is_wanted() -> None:
    rejection = rejected("exp", tensor("I32", B))
    assert rejection.facts == {"wanted": "float", "found": DTYPES["I32"]}
    assert rejected("and", F32_BS, tensor("Bool", B, S)).facts["wanted"] == "Bool"
    assert blamed(rejected("and", tensor("Bool", B, S), F32_BS)) == ("P0302", 1)
    assert rejected("take", F32_BS, tensor("U8", B), axis=0).facts["wanted"] == "I32 or I64"
    assert rejected("mod", F32_BS, F32_BS).facts["wanted"] == "integer"
    assert rejected("abs", tensor("Bool")).facts["wanted"] == "numeric"


def test_integer_division_has_its_own_code() -> None:
    rejection = rejected("div", tensor("I8", B), tensor("I8", B))
    assert blamed(rejection) == ("P0303", 0)
    assert rejection.facts == {"found": DTYPES["I8"]}


def test_a_differing_shape_is_shown_beside_the_expected_one() -> None:
    rejection = rejected("mul", F32_BS, tensor("F32", B, 1))
    assert blamed(rejection) == ("P0401", 1)
    assert rejection.facts == {"expected": F32_BS, "found": tensor("F32", B, 1)}


def test_where_facts_make_dims_equal() -> None:
    equal = Constraint(S, "==", TWO_K)
    operation = OPERATIONS["add"]
    outcome = infer(operation, Sample((F32_BS, tensor("F32", B, TWO_K)), "", {}, (equal,)))
    assert outcome == F32_BS
    assert rejected("add", F32_BS, tensor("F32", B, TWO_K)).code == "P0401"


@pytest.mark.parametrize(
    ("condition", "first", "second", "operand"),
    [((B, 1), (B, S), (B, S), 0), ((B, S), (), (B, S), 1), ((B, S), (B, S), (S,), 2),
     ((B,), (B, S), (S,), 2)],
)  # fmt: skip
def test_select_blames_the_odd_one_out(
    condition: tuple[Dim, ...], first: tuple[Dim, ...], second: tuple[Dim, ...], operand: int
) -> None:
    types = tensor("Bool", *condition), tensor("F32", *first), tensor("F32", *second)
    assert blamed(rejected("select", *types)) == ("P0401", operand)


def test_matmul_says_which_dims_do_not_meet() -> None:
    left, right = tensor("F32", B, K), tensor("F32", D, K)
    rejection = rejected("matmul", left, right)
    assert blamed(rejection) == ("P0403", 1)
    assert rejection.facts == {"left": left, "right": right, "inner_left": K, "inner_right": D}
    assert blamed(rejected("matmul", tensor("F32", K), right)) == ("P0404", 0)
    assert blamed(rejected("matmul", tensor("F32", B, S, K), left)) == ("P0404", 1)
    wrong_batch = tensor("F32", H, K, D)
    assert blamed(rejected("matmul", tensor("F32", B, S, K), wrong_batch)) == ("P0405", 1)


def test_broadcast_says_which_axes_do_not_meet() -> None:
    rejection = rejected("broadcast", tensor("F32", B, D), shape=shape(S, B, K))
    assert blamed(rejection) == ("P0501", 0)
    assert (rejection.facts["source_axis"], rejection.facts["target_axis"]) == (1, 2)
    # S may be 1, but only the literal 1 is stretched.
    assert rejected("broadcast", tensor("F32", S), shape=shape(D)).code == "P0501"


@pytest.mark.parametrize(
    ("source", "target", "code"),
    [((B, S), (B, S, 2), "P0703"), ((6,), (4,), "P0703"), ((B, S), (K,), "P0702"),
     ((B, S), (S,), "P0702"), ((B + S,), (B,), "P0703"), ((TWO_K,), (K, 3), "P0703"),
     ((B * B + constant(4),), (constant(2) * B * B + constant(3),), "P0702")],
)  # fmt: skip
def test_reshape_tells_certain_from_unproved(
    source: tuple[Dim | int, ...], target: tuple[Dim | int, ...], code: str
) -> None:
    assert rejected("reshape", tensor("F32", *source), shape=shape(*target)).code == code


def test_slice_says_which_bound_is_not_proved() -> None:
    zero, one, two = map(constant, (0, 1, 2))
    given: dict[str, Any] = {"axis": 1, "start": zero, "stop": S - one}
    rejection = rejected("slice", F32_BS, **given)
    assert blamed(rejection) == ("P0802", "stop")
    assert rejection.facts == {"constraint": Constraint(zero, "<", S - one)}
    long = rejected("slice", F32_BS, axis=1, start=zero, stop=S + one)
    assert long.facts == {"constraint": Constraint(S + one, "<=", S)}
    early = rejected("slice", F32_BS, axis=1, start=S - two, stop=S)
    assert blamed(early) == ("P0802", "start")
    none = rejected("slice", F32_BS, axis=1, start=zero, stop=S, step=0, where=(at_least(S, 2),))
    assert blamed(none) == ("P0802", "step")


def test_concat_and_gather_say_which_axis_differs() -> None:
    rejection = rejected("concat", F32_BS, F32_BS, tensor("F32", D, S), axis=1)
    assert blamed(rejection) == ("P0407", 2)
    assert rejection.facts["axis"] == 0
    rejection = rejected("gather", F32_BS, tensor("I64", B, 1), axis=0)
    assert blamed(rejection) == ("P0407", 1)
    assert rejection.facts["axis"] == 1


def test_a_written_dtype_is_blamed_as_attribute() -> None:
    rejection = rejected("iota", dtype=DTYPES["Bool"], axis=0, shape=shape(B))
    assert blamed(rejection) == ("P0302", "dtype")


def _site(operation: Operation, dtypes: tuple[str, ...]) -> Site | None:
    types = tuple(tensor(dtype, 3) for dtype in dtypes)
    outcome = operation.infer(types, {}, SmallNumbers())
    return Site(types, {}, outcome) if isinstance(outcome, TensorType) else None


_SYMBOLIC = (*INFIX.values(), *PREFIX.values())
_ARRAYS: dict[str, Any] = {
    "F32": [[1.5, -2.0, 3.0], [0.5, 3.0, -1.5], [2.0, 2.0, 3.0]],
    "Bool": [[True, False, True], [False, False, True], [True, True, False]],
}


def _nested() -> list[tuple[str, str, int, str, str]]:
    """Every operator inside every other one, at each place and dtype where it fits."""
    return [
        (outer.name, inner.name, place, taken, source)
        for outer, inner in itertools.product(_SYMBOLIC, repeat=2)
        for place in range(len(outer.operands))
        for source, taken in itertools.product(_ARRAYS, repeat=2)
        if (site := _site(inner, (source,) * len(inner.operands)))
        and site.result.dtype.name == taken
        and _site(outer, (taken,) * len(outer.operands))
    ]


def test_nested_operators_keep_their_meaning() -> None:
    cases = _nested()
    assert len(cases) > 150
    for outer_name, inner_name, place, taken, source in cases:
        outer, inner = OPERATIONS[outer_name], OPERATIONS[inner_name]
        names: dict[str, Any] = {"torch": torch}
        for index in range(3):
            names[f"a{index}"] = torch.tensor(_ARRAYS[source][index])
            names[f"b{index}"] = torch.tensor(_ARRAYS[taken][index])
        inner_site = _site(inner, (source,) * len(inner.operands))
        outer_site = _site(outer, (taken,) * len(outer.operands))
        assert inner_site
        assert outer_site
        plain = [(f"b{index}", Precedence.PRIMARY) for index in range(len(outer.operands))]
        inside = [(f"a{index}", Precedence.PRIMARY) for index in range(len(inner.operands))]
        part = spelled(inner, inner_site, inside)
        whole, _ = spelled(outer, outer_site, [*plain[:place], part, *plain[place + 1 :]])
        names[f"b{place}"] = eval(part[0], names)
        by_steps = eval(spelled(outer, outer_site, plain)[0], names)
        np.testing.assert_array_equal(eval(whole, names).numpy(), by_steps.numpy(), whole)


def test_nested_operators_have_no_needless_parentheses() -> None:
    add, mul = OPERATIONS["add"], OPERATIONS["mul"]
    site = Site((F32_BS, F32_BS), {}, F32_BS)
    x, y = ("x", Precedence.PRIMARY), ("y", Precedence.PRIMARY)
    product = spelled(mul, site, [x, y])
    total = spelled(add, site, [x, y])
    assert spelled(add, site, [total, product])[0] == "x + y + x * y"
    assert spelled(add, site, [x, total])[0] == "x + (x + y)"
    assert spelled(mul, site, [product, total])[0] == "x * y * (x + y)"


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "text"),
    [
        ("reduce_keep", [F32_BS], {"kind": "mean", "axis": 1},
         "torch.mean(x + y, dim=1, keepdim=True)"),
        ("reduce", [tensor("I32", B)], {"kind": "sum", "axis": 0},
         "torch.sum(x + y, dim=0, dtype=torch.int32)"),
        ("broadcast", [tensor("F32")], {"shape": shape(B, S, 1)}, "(x + y).expand(B, S, 1)"),
        ("reshape", [tensor("F32", 1)], {"shape": shape()}, "(x + y).reshape(())"),
        ("transpose", [F32_BS], {"perm": (1, 0)}, "(x + y).permute(1, 0)"),
        ("cast", [F32_BS], {"dtype": DTYPES["BF16"]}, "(x + y).to(torch.bfloat16)"),
        ("slice", [tensor("F32", B, TWO_K)], {"axis": 1, "start": constant(0), "stop": K},
         "(x + y)[:, :K]"),
        ("slice", [tensor("F32", TWO_K)], {"axis": 0, "start": K, "stop": TWO_K}, "(x + y)[K:]"),
        ("slice", [tensor("F32", S)], {"axis": 0, "start": constant(0), "stop": S, "step": 2},
         "(x + y)[::2]"),
        ("iota", [], {"dtype": DTYPES["I32"], "axis": 1, "shape": shape(B, S, K)},
         "torch.arange(S, dtype=torch.int32, device=device).view(S, 1).expand(B, S, K)"),
        ("iota", [], {"dtype": DTYPES["I32"], "axis": 0, "shape": shape(S)},
         "torch.arange(S, dtype=torch.int32, device=device)"),
        ("pad", [tensor("F32", S), tensor("F32")], {"axis": 0, "low": K, "high": constant(0)},
         "torch.cat(((x + y).expand(K), x + y), dim=0)"),
        ("pad", [tensor("F32", S), tensor("F32")], {"axis": 0, "low": constant(0), "high": K},
         "torch.cat((x + y, (x + y).expand(K)), dim=0)"),
        ("mod", [tensor("I32", B)] * 2, {}, "torch.remainder(x + y, x + y)"),
        ("mod", [tensor("I8", B)] * 2, {},
         "torch.remainder((x + y).to(torch.int32), (x + y).to(torch.int32)).to(torch.int8)"),
    ],
)  # fmt: skip
def test_spelling(
    name: str, operands: list[TensorType], attributes: dict[str, Any], text: str
) -> None:
    operation = OPERATIONS[name]
    outcome = operation.infer(tuple(operands), attributes, SmallNumbers())
    assert isinstance(outcome, TensorType)
    site = Site(tuple(operands), attributes, outcome)
    assert spelled(operation, site, [("x + y", Precedence.SUM)] * len(operands))[0] == text
    ast.parse(text, mode="eval")


@pytest.mark.parametrize(
    ("name", "operands", "attributes", "flops", "moved"),
    [
        ("add", [F32_BS, F32_BS], {}, B * S, constant(12) * B * S),
        ("lt", [F32_BS, F32_BS], {}, B * S, constant(9) * B * S),
        ("matmul", [tensor("BF16", H, S, K), tensor("BF16", H, K, D)], {},
         constant(2) * H * S * K * D, constant(2) * (H * S * K + H * K * D + H * S * D)),
        ("reduce", [F32_BS], {"kind": "sum", "axis": 1}, B * S, constant(4) * (B * S + B)),
        ("cast", [F32_BS], {"dtype": DTYPES["BF16"]}, 0, constant(6) * B * S),
        ("broadcast", [tensor("F32")], {"shape": shape(B, S)}, 0, 0),
        ("transpose", [F32_BS], {"perm": (1, 0)}, 0, 0),
        ("concat", [F32_BS, F32_BS], {"axis": 1}, 0, constant(16) * B * S),
        ("take", [tensor("F32", K, D), tensor("I64", B)], {"axis": 0},
         0, constant(8) * (B + B * D)),
        ("iota", [], {"dtype": DTYPES["I32"], "axis": 0, "shape": shape(S)}, 0, constant(4) * S),
        ("const", [], {"dtype": DTYPES["F32"], "value": 1.0}, 0, 4),
    ],
)  # fmt: skip
def test_cost(
    name: str,
    operands: list[TensorType],
    attributes: dict[str, Any],
    flops: Dim | int,
    moved: Dim | int,
) -> None:
    operation = OPERATIONS[name]
    outcome = operation.infer(tuple(operands), attributes, SmallNumbers())
    assert isinstance(outcome, TensorType)
    site = Site(tuple(operands), attributes, outcome)
    assert (operation.flops(site),) == shape(flops)
    assert (operation.bytes(site),) == shape(moved)
