"""A rule's variable may be a Python number where it is matched; where it is put, PyTorch may take
none."""

from __future__ import annotations

import pytest

import p0trans
from p0trans.ir.program import Apply, Definition
from p0trans.ir.verify import verify
from p0trans.rewrite.engine import apply_rules, indexed
from p0trans.rewrite.graph import Graph
from p0trans.rewrite.pattern import Pattern, Var, op
from p0trans.rewrite.rule import Rule
from p0trans.rewrite.rules.broadcasting import NUMBERS
from p0trans.rewrite.rules.size import SIZES

_X, _Y = Var("x"), Var("y")
_COUNT = "reduce[sum, axis=0] (broadcast 1.0 [N])"
_OPERANDS = {
    "literal": ("2.5", ["const"]),
    "size": (_COUNT, ["size"]),
    "root": (f"sqrt ({_COUNT})", ["size", "sqrt"]),
    "inverse root": (f"rsqrt ({_COUNT})", ["size", "rsqrt"]),
    "inverse": (f"reciprocal ({_COUNT})", ["size", "reciprocal"]),
    "constant of the module": ("c", []),
}


def rewritten(operand: str, to: Pattern) -> Definition:
    """`x + operand` where the operand is a number, with `to` in place of the sum."""
    program = p0trans.check(
        "let f [N] (x : Tensor[F32, []]) (rows : Tensor[F32, [N]]) (c : Tensor[F32, []])\n"
        f"    : Tensor[F32, []] =\n  x + {operand}"
    ).program
    *others, unit = program.units
    graph = Graph(unit.definitions[-1], frozenset({2}), frozenset())
    rule = Rule("test", "x + y = …", _X + _Y, to)
    events = apply_rules(graph, [indexed([*SIZES, NUMBERS]), indexed([rule])], unit.source)
    assert {"python_number", "test"} <= {event.rule for event in events}
    definition, _ = graph.finished()
    verify(program._replace(units=(*others, unit._replace(definitions=(definition,)))))
    return definition


def operations(definition: Definition) -> list[str]:
    assert all(isinstance(step.node, Apply) for step in definition.steps)
    return [step.node.operation for step in definition.steps if isinstance(step.node, Apply)]


@pytest.mark.parametrize("kind", _OPERANDS)
def test_of_one_operand(kind: str) -> None:
    operand, made = _OPERANDS[kind]
    assert operations(rewritten(operand, op("exp", _Y))) == [*made, "exp"]


@pytest.mark.parametrize("kind", _OPERANDS)
def test_the_result(kind: str) -> None:
    operand, made = _OPERANDS[kind]
    assert operations(rewritten(operand, _Y)) == made


@pytest.mark.parametrize("kind", _OPERANDS)
def test_of_numbers_alone(kind: str) -> None:
    """One of them is a tensor: Python would compute a third number."""
    operand, made = _OPERANDS[kind]
    definition = rewritten(operand, op("sub", _Y, _Y))
    names = [s.node.operation for s in definition.steps if isinstance(s.node, Apply)]
    assert sorted(names) == sorted([*made, "sub"])
    difference = definition.steps[-1].node
    assert isinstance(difference, Apply)
    assert definition.number_operands(difference) == {1}
