"""One step of the IR as a Python expression."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from p0trans.dtypes import DType
from p0trans.emit.notation import code_dim, number
from p0trans.ir.program import Value
from p0trans.ops.create import nearest
from p0trans.ops.table import Precedence, Spelling
from p0trans.shapes.dim import Dim
from p0trans.types import Type, tensors


@dataclass(frozen=True, slots=True)
class Fragment:
    """A Python expression for a value.

    `stem` names the value that it starts from, for naming a temporary after it, and `noun` what
    was done last. `dtypes` are those of the named tensors in it. `folded` tells an expression
    that could have a line of its own from one that is only a name. `weight` counts the operations
    and calls in it, `notes` are comments on them and `values` what they compute. A type checker
    takes an `untyped` one for Any, as it does what a child module gives, or an item of it.
    """

    text: str
    stem: str = ""
    noun: str = ""
    dtypes: frozenset[DType] = frozenset()
    precedence: Precedence = Precedence.PRIMARY
    folded: bool = False
    weight: int = 0
    notes: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()
    untyped: bool = False

    def within(self, precedence: Precedence) -> str:
        """As an operand that must bind at least as tightly as `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def named_fragment(text: str, stem: str, type_: Type, untyped: bool = False) -> Fragment:
    """A name or attribute that holds a value of `type_`."""
    dtypes = frozenset(tensor.dtype for tensor in tensors(type_))
    return Fragment(text, stem.rstrip("_"), dtypes=dtypes, untyped=untyped)


def operation_fragment(
    noun: str,
    spelling: Spelling,
    dtype: DType,
    operands: Sequence[Fragment],
    names: Mapping[str, str],
    device: str | None,
) -> Fragment:
    """A use of an operation of the table whose result has `dtype`, in its PyTorch spelling."""
    arguments = tuple(
        operand.within(spelling.required(index)) for index, operand in enumerate(operands)
    )
    template = spelling.template
    if device is None:
        # Leaving the argument out says the same as `device=None`.
        template = template.replace(", device={device}", "")
    text = template.format(
        *arguments,
        all=", ".join(arguments),
        device=device,
        dtype=f"torch.{dtype.torch}",
        **{name: _field_text(value, names) for name, value in spelling.fields.items()},
    )
    return replace(
        _combined(text, operands, noun, weight=1),
        precedence=spelling.precedence,
        folded=True,
        untyped=any(operands[index].untyped for index in _deciding(spelling, len(operands))),
    )


def _deciding(spelling: Spelling, count: int) -> Sequence[int]:
    """The operands without whose type a checker does not know the expression's: all of an
    operator's, and the one that a method or an item is of."""
    if spelling.precedence is not Precedence.PRIMARY:
        return range(count)
    receiver = re.match(r"\{(\d+)\}", spelling.template)
    return [int(receiver[1])] if receiver else []


def applied_fragment(
    function: str,
    operands: Sequence[Fragment],
    keywords: Sequence[str],
    noun: str,
    untyped: bool = False,
) -> Fragment:
    """A call of an emitted function or, `untyped`, of a child module."""
    arguments = ", ".join((*(operand.text for operand in operands), *keywords))
    call = _combined(f"{function}({arguments})", operands, "out", weight=1)
    return replace(call, stem=noun.rstrip("_"), folded=True, untyped=untyped)


def number_fragment(value: float | int | bool, dtype: DType) -> Fragment:
    """A literal as a Python number from which PyTorch computes in `dtype`."""
    if dtype.is_float:
        # PyTorch would take more digits of it than a tensor of 16 bits has.
        value = nearest(float(value), dtype) if dtype.bits < 32 else float(value)
    precedence = Precedence.UNARY if value < 0 else Precedence.PRIMARY
    return Fragment(number(value), precedence=precedence)


def size_fragment(dim: Dim, power: float, names: Mapping[str, str]) -> Fragment:
    """The size of an axis, its root, or one over either: `K`, `math.sqrt(K)`, `1 / K`."""
    text = code_dim(dim, names)
    simple = dim.as_variable() is not None or dim.as_integer() is not None
    if abs(power) == 0.5:
        text, simple = f"math.sqrt({text})", True
    if power < 0:
        text = f"1 / {text if simple else f'({text})'}"
        return Fragment(text, precedence=Precedence.TERM)
    return Fragment(text, precedence=Precedence.PRIMARY if simple else Precedence.SUM)


def packed_fragment(operands: Sequence[Fragment]) -> Fragment:
    """A tuple of values."""
    items = ", ".join(operand.text for operand in operands)
    text = f"({items},)" if len(operands) == 1 else f"({items})"
    untyped = any(operand.untyped for operand in operands)
    return replace(_combined(text, operands, "items"), untyped=untyped)


def item_fragment(operand: Fragment, index: int) -> Fragment:
    """Item `index` of a tuple value."""
    text = f"{operand.within(Precedence.PRIMARY)}[{index}]"
    return replace(_combined(text, (operand,), "item"), untyped=operand.untyped)


def _combined(text: str, operands: Sequence[Fragment], noun: str, weight: int = 0) -> Fragment:
    """An expression made of `operands` and `weight` operations more."""
    return Fragment(
        text,
        next((operand.stem for operand in operands if operand.stem), ""),
        noun,
        frozenset[DType]().union(*(operand.dtypes for operand in operands)),
        folded=any(operand.folded for operand in operands),
        weight=sum(operand.weight for operand in operands) + weight,
        notes=tuple(dict.fromkeys(note for operand in operands for note in operand.notes)),
        values=tuple(dict.fromkeys(value for operand in operands for value in operand.values)),
    )


def spelled_variables(spelling: Spelling) -> frozenset[str]:
    """The shape variables that a spelling shows."""
    return frozenset(
        variable
        for name, value in spelling.fields.items()
        if f"{{{name}}}" in spelling.template
        for dim in (value if isinstance(value, tuple) else (value,))
        if isinstance(dim, Dim)
        for variable in dim.variables()
    )


def _field_text(value: object, names: Mapping[str, str]) -> str:
    if isinstance(value, Dim):
        return code_dim(value, names)
    if isinstance(value, tuple) and all(isinstance(item, Dim) for item in value):
        return ", ".join(code_dim(dim, names) for dim in value) or "()"
    return str(value)
