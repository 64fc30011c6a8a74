"""Programs that apply every operation of the table that takes vectors to their edge values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from p0trans.dtypes import DTYPES
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeKind, Attributes, Notation, Operation, Rejection
from p0trans.shapes.dim import variable
from p0trans.shapes.facts import Facts
from p0trans.types import TensorType
from tests.programs import Generated

_FLOATS = (np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 1.0, -1.0)
_INTEGERS = (-(2**31), -(2**31) + 1, -7, -6, -1, 0, 1, 6, 7, 2**31 - 1)
# No zero, by which integers are not divided, and no -1, by which the least one is not.
_DIVISORS = (-3, -2, 2, 3, 2**31 - 1)


def _uses(operation: Operation, type_: TensorType) -> Iterator[tuple[str, TensorType]]:
    """The applications of `operation` to vectors `a` and `b`, as text with their types."""
    kinds = {spec.kind for spec in operation.attributes}
    if operation.takes_shape or not kinds <= {AttributeKind.WORD, AttributeKind.AXIS}:
        return
    if (
        operation.ids is not None
        or operation.notation is Notation.LITERAL
        or len(operation.operands) > 2
    ):
        return
    words = next((s.choices for s in operation.attributes if s.kind is AttributeKind.WORD), ("",))
    for word in words:
        attributes: Attributes = {
            spec.name: word if spec.kind is AttributeKind.WORD else 0
            for spec in operation.attributes
        }
        types = (type_,) * len(operation.operands)
        outcome = operation.infer(types, attributes, Facts(("N",)))
        if isinstance(outcome, Rejection):
            continue
        written = [
            word if spec.kind is AttributeKind.WORD else f"{spec.name}=0"
            for spec in operation.attributes
        ]
        head = operation.name + (f"[{', '.join(written)}]" if written else "")
        match operation.notation, len(types):
            case Notation.INFIX, _:
                yield f"a {operation.symbol} b", outcome
            case Notation.PREFIX, _:
                yield f"{operation.symbol} a", outcome
            case _, 1:
                yield f"{head} a", outcome
            case _:
                yield f"{head} a b", outcome


def _program(dtype: str, a: Sequence[float], b: Sequence[float]) -> Generated:
    type_ = TensorType(DTYPES[dtype], (variable("N"),))
    uses = [use for operation in OPERATIONS.values() for use in _uses(operation, type_)]
    lets = "".join(f"  let v{i} = {text} in\n" for i, (text, _) in enumerate(uses))
    text = (
        f"let edges [N] (a : {type_}) (b : {type_}) : ({', '.join(str(t) for _, t in uses)}) =\n"
        f"{lets}  ({', '.join(f'v{i}' for i in range(len(uses)))})\n"
    )
    pairs = list(itertools.product(a, b))
    kind = DTYPES[dtype].numpy
    columns = tuple(np.array(column, dtype=kind) for column in zip(*pairs, strict=True))
    return Generated(text, "edges", {"N": len(pairs)}, columns)


def edge_programs() -> list[Generated]:
    """Floats with NaN, infinities, zeros of both signs and halves; integers to their ends."""
    return [_program("F32", _FLOATS, _FLOATS), _program("I32", _INTEGERS, _DIVISORS)]
