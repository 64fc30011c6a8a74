"""One step of the IR as a Python expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from p0trans.dtypes import DType
from p0trans.emit.notation import code_dim
from p0trans.ops.table import Precedence, Spelling
from p0trans.shapes.dim import Dim
from p0trans.types import TensorType, Type


@dataclass(frozen=True, slots=True)
class Fragment:
    """A Python expression for a value.

    `stem` names the value that it starts from, for naming a temporary after it, and `noun` what
    was done last. `dtypes` are those of the named tensors in it. `folded` tells an expression
    that could have a line of its own from one that is only a name.
    """

    text: str
    stem: str = ""
    noun: str = ""
    dtypes: frozenset[DType] = frozenset()
    precedence: Precedence = Precedence.PRIMARY
    folded: bool = False

    def within(self, precedence: Precedence) -> str:
        """As an operand that must bind at least as tightly as `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def named_fragment(text: str, stem: str, type_: Type) -> Fragment:
    """A name or attribute that holds a value of `type_`."""
    return Fragment(text, stem.rstrip("_"), dtypes=frozenset(_tensor_dtypes(type_)))


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
    return Fragment(
        text, _stem(operands), noun, _dtypes(operands), spelling.precedence, folded=True
    )


def applied_fragment(
    function: str, operands: Sequence[Fragment], keywords: Sequence[str], noun: str
) -> Fragment:
    """A call of an emitted function or child module."""
    arguments = ", ".join((*(operand.text for operand in operands), *keywords))
    return Fragment(
        f"{function}({arguments})", noun.rstrip("_"), "out", _dtypes(operands), folded=True
    )


def packed_fragment(operands: Sequence[Fragment]) -> Fragment:
    """A tuple of values."""
    items = ", ".join(operand.text for operand in operands)
    text = f"({items},)" if len(operands) == 1 else f"({items})"
    folded = any(operand.folded for operand in operands)
    return Fragment(text, _stem(operands), "items", _dtypes(operands), folded=folded)


def item_fragment(operand: Fragment, index: int) -> Fragment:
    """Item `index` of a tuple value."""
    text = f"{operand.within(Precedence.PRIMARY)}[{index}]"
    return Fragment(text, operand.stem, "item", operand.dtypes, folded=operand.folded)


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


def _tensor_dtypes(type_: Type) -> Iterator[DType]:
    if isinstance(type_, TensorType):
        yield type_.dtype
    else:
        for item in type_.items:
            yield from _tensor_dtypes(item)


def _stem(operands: Sequence[Fragment]) -> str:
    return next((operand.stem for operand in operands if operand.stem), "")


def _dtypes(operands: Sequence[Fragment]) -> frozenset[DType]:
    return frozenset[DType]().union(*(operand.dtypes for operand in operands))


def _field_text(value: object, names: Mapping[str, str]) -> str:
    if isinstance(value, Dim):
        return code_dim(value, names)
    if isinstance(value, tuple) and all(isinstance(item, Dim) for item in value):
        return ", ".join(code_dim(dim, names) for dim in value) or "()"
    return str(value)
