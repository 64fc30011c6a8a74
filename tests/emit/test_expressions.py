"""Expressions: parentheses where precedence asks for them, and nowhere else."""

from __future__ import annotations

import ast

import pytest

from p0trans.dtypes import DTYPES
from p0trans.emit.expressions import (
    Fragment,
    item_fragment,
    named_fragment,
    operation_fragment,
    packed_fragment,
    spelled_variables,
)
from p0trans.ops import OPERATIONS
from p0trans.ops.table import Precedence, Site, Spelling
from p0trans.shapes.dim import constant, variable
from p0trans.types import TensorType
from tests.emit.build import tensor

F32 = DTYPES["F32"]
NAMES = {name: name for name in "ABBSCDEFGHIJKLMNOPQRSTUVWXYZ"}
LOOSE = ("{} < {}", "{} | {}", "{} & {}", "{} + {}", "{} * {}", "-{}", "~{}")
PRECEDENCES = (
    Precedence.COMPARISON,
    Precedence.BITOR,
    Precedence.BITAND,
    Precedence.SUM,
    Precedence.TERM,
    Precedence.UNARY,
    Precedence.UNARY,
)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_spelling_takes_operands_of_any_precedence(name: str) -> None:
    operation = OPERATIONS[name]
    for sample in operation.samples:
        if not isinstance(sample.outcome, TensorType):
            continue
        spelling = operation.torch(Site(sample.operands, sample.attributes, sample.outcome))
        for loose, precedence in zip(LOOSE, PRECEDENCES, strict=True):
            bare = [loose.format(f"p{i}", f"q{i}") for i in range(len(sample.operands))]
            written, explicit = (
                operation_fragment("noun", spelling, F32, operands, _Upper(), "p0.device").text
                for operands in (
                    [Fragment(text, precedence=precedence) for text in bare],
                    [Fragment(f"({text})") for text in bare],
                )
            )
            assert _tree(written) == _tree(explicit), (written, explicit)


class _Upper(dict[str, str]):
    """Every shape variable under its own name."""

    def __missing__(self, key: str) -> str:
        return key


def _tree(expression: str) -> str:
    return ast.dump(ast.parse(expression, mode="eval"))


def _apply(operation: str, *operands: Fragment) -> Fragment:
    type_ = tensor("F32", "B")
    site = Site((type_,) * len(operands), {}, type_)
    spelling = OPERATIONS[operation].torch(site)
    return operation_fragment(operation, spelling, F32, operands, NAMES, None)


def test_no_parentheses_that_precedence_makes_superfluous() -> None:
    a, b, c = (named_fragment(name, name, tensor("F32", "B")) for name in "abc")
    assert _apply("add", _apply("mul", a, b), c).text == "a * b + c"
    assert _apply("mul", _apply("add", a, b), c).text == "(a + b) * c"
    assert _apply("sub", _apply("sub", a, b), c).text == "a - b - c"
    assert _apply("sub", a, _apply("sub", b, c)).text == "a - (b - c)"
    assert _apply("exp", _apply("add", a, b)).text == "torch.exp(a + b)"


def test_fields_are_dims_shapes_and_words() -> None:
    spelling = Spelling(
        "{0}.f({shape}, {n}, {empty}, {word}, {dtype})",
        fields={
            "shape": (variable("B"), constant(2) * variable("K")),
            "n": variable("S") - constant(1),
            "empty": (),
            "word": "yes",
        },
    )
    a = named_fragment("a", "a", tensor("F32", "B"))
    text = operation_fragment("noun", spelling, F32, [a], NAMES, None).text
    assert text == "a.f(B, 2 * K, S - 1, (), yes, torch.float32)"


def test_a_variable_counts_only_where_the_template_shows_it() -> None:
    fields = {
        "start": variable("A"),
        "shape": (variable("B"), variable("C")),
        "stop": variable("D"),
    }
    spelling = Spelling("{0}[{start}:].expand({shape})", fields=fields)
    assert spelled_variables(spelling) == {"A", "B", "C"}


def test_the_device_argument_is_left_out_without_a_device() -> None:
    spelling = Spelling("torch.tensor(1.0, dtype={dtype}, device={device})")
    assert (
        operation_fragment("one", spelling, F32, (), NAMES, None).text
        == "torch.tensor(1.0, dtype=torch.float32)"
    )
    assert (
        operation_fragment("one", spelling, F32, (), NAMES, "x.device").text
        == "torch.tensor(1.0, dtype=torch.float32, device=x.device)"
    )


def test_tuples_and_their_items() -> None:
    a = named_fragment("a", "a", tensor("F32", "B"))
    assert packed_fragment([a]).text == "(a,)"
    assert packed_fragment([a, a]).text == "(a, a)"
    assert item_fragment(a, 1).text == "a[1]"
