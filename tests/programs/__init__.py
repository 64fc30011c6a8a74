"""Well-typed Phase 0 programs for hypothesis, as source text with sizes and inputs.

A definition grows step by step from a pool of typed values. A step is an operation of the table
whose typing rule accepts operands of the pool, or a sample of an operation (or an earlier
definition) whose pattern of types is matched with the pool; an operand that the pool lacks is
made by `cast`, `broadcast`, `transpose` or `reshape`, or becomes a new parameter. Nothing here
names an operation of the table but those four. Every step is evaluated as it is taken, so that
programs whose value is not defined, or on which engines may honestly differ, do not arise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

import p0trans
from p0trans.ir.program import Definition, Program
from p0trans.types import TensorType
from tests.programs.definition import Builder
from tests.programs.running_error import Known
from tests.programs.shapes import Draw

_DEFINITION_NAMES = ("f", "norm", "def", "Tensor_", "torch", "forward", "print", "g_h", "class")


@dataclass(frozen=True)
class Generated:
    """A program, the definition to run, and sizes and inputs that suit it."""

    text: str
    entry: str
    sizes: Mapping[str, int]
    inputs: tuple[Any, ...]

    def __repr__(self) -> str:
        sizes = " ".join(f"{name}={size}" for name, size in self.sizes.items())
        return f"\n// {self.entry} at {sizes}\n{self.text}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """A failing example is printed as a program."""
        printer.text(repr(self))


def _arrays(known: Known) -> Any:
    return tuple(map(_arrays, known)) if isinstance(known, tuple) else known.array


def _module(builder: Builder) -> str:
    """A declaration that makes some of the parameters state."""
    items = []
    for name, type_ in builder.parameters:
        if not isinstance(type_, TensorType) or builder.chance(50):
            continue
        if type_.rank == 0 and type_.dtype.name in ("F32", "F64", "I32", "I64"):
            default = builder.pick(("0.5", "1e-6") if type_.dtype.is_float else ("1", "3"))
            items.append(f"  const {name} = {default}")
        elif type_.dtype.is_float:
            items.append(f"  param {name} = {builder.pick(('ones', 'zeros', 'normal(0.5)'))}")
        else:
            items.append(f"  buffer {name} = zeros")
    heading = f"module M = {builder.name}"
    return "\n".join((f"{heading} with" if items else heading, *items)) + "\n"


@st.composite
def programs(draw: Draw, most_steps: int = 8, modules: bool = True) -> Generated:
    """Programs of one to three definitions, the last of which is to be run."""
    names = draw(st.lists(st.sampled_from(_DEFINITION_NAMES), min_size=1, max_size=3, unique=True))
    earlier: list[Definition] = []
    program: Program | None = None
    text = ""
    while True:
        builder = Builder(draw, names[len(earlier)], earlier, program)
        for _ in range(draw(st.integers(1, 2))):
            type_ = TensorType(builder.dtype(), builder.shape())
            term = builder.parameter(type_)
            assert term is not None
            builder.pool.append(replace(term, parameter=None))
        for _ in range(draw(st.integers(1, most_steps if names[-1] == builder.name else 4))):
            builder.step()
        text += ("" if not text else "\n") + builder.finished()
        if builder.name == names[-1]:
            break
        checked = p0trans.check(text)
        program = checked.program
        if not checked.ok:
            # The property that it checks fails on what there is so far.
            break
        earlier.append(program.units[-1].definitions[-1])
    if modules and builder.chance(30):
        text += "\n" + _module(builder)
    inputs = tuple(map(_arrays, builder.inputs))
    return Generated(text, builder.name, builder.sizes, inputs)
