"""Dims as text for the tests of shapes, and hypothesis strategies for dims and facts."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st

from p0trans.shapes.dim import Constraint, Dim, constant, variable

NAMES = ("A", "B", "C")
RELATIONS = ("==", "!=", "<=", "<", ">=", ">")


def dim(text: str) -> Dim:
    """A dim as Phase 0 writes it: `2*K`, `S / 2 + 1`."""
    return _dim(ast.parse(text.strip(), mode="eval").body)


def _dim(node: ast.expr) -> Dim:
    match node:
        case ast.Constant(int(value)):
            return constant(value)
        case ast.Name(name):
            return variable(name)
        case ast.UnaryOp(ast.USub(), operand):
            return -_dim(operand)
        case ast.BinOp(left, ast.Add(), right):
            return _dim(left) + _dim(right)
        case ast.BinOp(left, ast.Sub(), right):
            return _dim(left) - _dim(right)
        case ast.BinOp(left, ast.Mult(), right):
            return _dim(left) * _dim(right)
        case ast.BinOp(left, ast.Div(), ast.Constant(int(divisor))):
            return _dim(left) // divisor
        case ast.BinOp(left, ast.Mod(), ast.Constant(int(divisor))):
            return _dim(left) % divisor
    raise ValueError(ast.dump(node))


def dims(text: str) -> tuple[Dim, ...]:
    """`B, 2*K` as a shape."""
    return tuple(dim(part) for part in text.split(",")) if text else ()


def constraint(text: str) -> Constraint:
    match = re.fullmatch(r"(.+?)\s*(==|!=|<=|>=|<|>)\s*(.+)", text)
    assert match is not None
    return Constraint(dim(match[1]), match[2], dim(match[3]))


def constraints(text: str) -> tuple[Constraint, ...]:
    """`S >= 2, BH == B*H` as constraints."""
    return tuple(constraint(part.strip()) for part in text.split(",")) if text else ()


def grid(names: Sequence[str], highest: int) -> Iterator[dict[str, int]]:
    """Every way to give each name a value from 1 to `highest`."""
    for values in itertools.product(range(1, highest + 1), repeat=len(names)):
        yield dict(zip(names, values, strict=True))


def dim_strategy(products: bool = True, leaves: int = 8) -> st.SearchStrategy[Dim]:
    leaf = st.one_of(
        st.sampled_from([variable(name) for name in NAMES]),
        st.integers(-4, 6).map(constant),
    )

    def extend(inner: st.SearchStrategy[Dim]) -> st.SearchStrategy[Dim]:
        pairs = st.tuples(inner, inner)
        divided = st.tuples(inner, st.integers(1, 5))
        choices = [
            pairs.map(lambda pair: pair[0] + pair[1]),
            pairs.map(lambda pair: pair[0] - pair[1]),
            st.tuples(inner, st.integers(-3, 4)).map(lambda pair: pair[0] * constant(pair[1])),
            divided.map(lambda pair: pair[0] // pair[1]),
            divided.map(lambda pair: pair[0] % pair[1]),
        ]
        if products:
            choices.append(pairs.map(lambda pair: pair[0] * pair[1]))
        return st.one_of(choices)

    return st.recursive(leaf, extend, max_leaves=leaves)


def constraint_strategy(products: bool = True, leaves: int = 4) -> st.SearchStrategy[Constraint]:
    side = dim_strategy(products, leaves)
    return st.builds(Constraint, side, st.sampled_from(RELATIONS), side)


VALUES = st.fixed_dictionaries({name: st.integers(1, 30) for name in NAMES})
