"""What is simpler where an operand is a literal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from p0trans.dtypes import DType
from p0trans.ir.program import Apply
from p0trans.ops.create import nearest
from p0trans.rewrite.pattern import Num, Op, Pattern, Var, either, op
from p0trans.rewrite.rule import Match, Rule

_X, _A, _B = Var("x"), Num("a"), Num("b")

_OF_ONE: Mapping[str, Callable[[float], float]] = {
    "neg": lambda a: -a,
    "sqrt": math.sqrt,
    "rsqrt": lambda a: 1 / math.sqrt(a),
    "reciprocal": lambda a: 1 / a,
}
_OF_TWO: Mapping[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}
_FUNCTIONS: Mapping[str, Callable[..., float]] = {**_OF_ONE, **_OF_TWO}


def _are_literals(match: Match) -> str | None:
    if not match.result.dtype.is_float:
        return f"{match.result.dtype} is no float dtype"
    known = all(match.literal(name) is not None for name in match.bound.values)
    return None if known else "a constant of the module can be set, and a size varies"


def _computed(match: Match) -> Pattern | None:
    node, dtype = match.graph.node(match.root), match.result.dtype
    assert isinstance(node, Apply)
    values = (match.number(name).value for name in match.bound.values)
    operands = [nearest(float(value), dtype) for value in values]
    try:
        value = _FUNCTIONS[node.operation](*operands)
    except (ValueError, ArithmeticError):
        return None
    if all(map(math.isfinite, operands)) and not math.isfinite(nearest(value, dtype)):
        return None
    return Op("const", (), {"value": _shortest(value, dtype), "dtype": dtype})


def _shortest(value: float, dtype: DType) -> float:
    """The number with the fewest digits that is `value` in a float32."""
    if dtype.name != "F32":
        return value
    wanted = nearest(value, dtype)
    rounded = (float(f"{wanted:.{digits}g}") for digits in range(1, 10))
    return next((short for short in rounded if nearest(short, dtype) == wanted), wanted)


LITERALS = (
    Rule(
        "literals",
        "an operation on literals is a literal",
        either(*(op(name, _A) for name in _OF_ONE), *(op(name, _A, _B) for name in _OF_TWO)),
        _computed,
        (_are_literals,),
    ),
    Rule("power_of_half", "pow x 0.5 = sqrt x", op("pow", _X, 0.5), op("sqrt", _X)),
    Rule("power_of_minus_half", "pow x (-0.5) = rsqrt x", op("pow", _X, -0.5), op("rsqrt", _X)),
    Rule(
        "power_of_minus_one", "pow x (-1) = reciprocal x", op("pow", _X, -1.0), op("reciprocal", _X)
    ),
)
