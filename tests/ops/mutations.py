"""Wrong spellings of the operation table, one mistake at a time, and whether its test sees them.

A mutant that means the same is not made: operands are swapped only where the NumPy meaning tells
them apart, and a function is replaced only by one that the typing rules allow in its place and
whose NumPy meaning is another there.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeKind, AttributeValue, Operation, Site, Spelling
from p0trans.shapes.dim import Dim, constant
from p0trans.types import TensorType
from tests.ops.support import SmallNumbers, by_numpy, infer, uses, variants
from tests.ops.test_table import test_numpy_and_torch_agree_with_the_typing_rule as table_test

Change = Callable[[Site], Spelling | None]
"""A wrong spelling of a use; None where this mistake cannot be made."""


@dataclass(frozen=True)
class Mutant:
    """An operation whose spelling is wrong, and in what way."""

    operation: Operation
    what: str


def mutants(operation: Operation) -> list[Mutant]:
    """Every mutant of an operation that changes at least one of its sites."""
    sites = _sites(operation)
    return [
        Mutant(operation._replace(torch=_spelled_with(operation, change)), what)
        for what, change in _changes(operation)
        if any(_applies(operation, change, site) for site in sites)
    ]


def is_caught(mutant: Mutant) -> bool:
    """Whether the test over the table fails on the mutant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            table_test(mutant.operation)
        # The test fails by an assertion or by whatever PyTorch says of wrong code.
        except Exception:
            return True
    return False


def _sites(operation: Operation) -> list[Site]:
    found = []
    for sample in variants(operation.name):
        result = infer(operation, sample)
        assert isinstance(result, TensorType)
        found.append(Site(sample.operands, sample.attributes, result))
    return found


def _applies(operation: Operation, change: Change, site: Site) -> bool:
    changed = change(site)
    return changed is not None and changed != operation.torch(site)


def _spelled_with(operation: Operation, change: Change) -> Callable[[Site], Spelling]:
    return lambda site: change(site) or operation.torch(site)


def _changes(operation: Operation) -> Iterator[tuple[str, Change]]:
    yield from _template_changes(operation)
    yield from _field_changes(operation)
    yield from _attribute_changes(operation)
    for other in OPERATIONS.values():
        if other.family == operation.family and _means_something_else(operation, other):
            yield f"{other.name} in its place", _in_its_place(other)


# --- the template ---------------------------------------------------------------------------


def _template_changes(operation: Operation) -> Iterator[tuple[str, Change]]:
    def edited(pattern: str, replacement: str) -> Change:
        def change(site: Site) -> Spelling | None:
            spelling = operation.torch(site)
            template = re.sub(pattern, replacement, spelling.template)
            return None if template == spelling.template else replace(spelling, template=template)

        return change

    for left in range(len(operation.operands) - 1):
        if _tells_apart(operation, left):
            yield f"operands {left} and {left + 1} swapped", _swapped(operation, left)
    if operation.operands:
        yield "left out", lambda site: Spelling("{0}")
    if operation.variadic:
        yield "operands reversed", edited(r"\{all\}", "{1}, {0}")
    yield "no keepdim", edited(r", keepdim=True", "")
    yield "no dtype", edited(r", dtype=\{dtype\}|\.to\(\{dtype\}\)", "")
    for other in ("float32", "float64", "int32", "bool"):
        yield f"dtype {other}", edited(r"\{dtype\}", f"torch.{other}")
    yield "no squeeze", edited(r"\.squeeze\([^)]*\)", "")


def _swapped(operation: Operation, left: int) -> Change:
    def change(site: Site) -> Spelling | None:
        spelling = operation.torch(site)
        first, second = f"{{{left}}}", f"{{{left + 1}}}"
        template = spelling.template.replace(first, "\0").replace(second, first)
        return replace(spelling, template=template.replace("\0", second))

    return change


def _tells_apart(operation: Operation, left: int) -> bool:
    """Whether the NumPy meaning differs when two neighbouring operands change places."""
    for sample in variants(operation.name):
        if len(sample.operands) < left + 2 or sample.operands[left] != sample.operands[left + 1]:
            return True
        for use in uses(operation, sample):
            arrays = list(use.arrays)
            arrays[left : left + 2] = arrays[left + 1], arrays[left]
            try:
                other = by_numpy(replace(use, arrays=tuple(arrays)))
            except ArithmeticError:
                return True
            if not np.array_equal(other, by_numpy(use)):
                return True
    return False


# --- what is filled in ----------------------------------------------------------------------


def _field_changes(operation: Operation) -> Iterator[tuple[str, Change]]:
    names = dict.fromkeys(
        name for site in _sites(operation) for name in operation.torch(site).fields
    )
    for name in names:
        for by in (1, -1):
            yield f"{name} {by:+}", _moved_field(operation, name, by)
        yield f"{name} reversed", _reversed_field(operation, name)


def _moved_field(operation: Operation, name: str, by: int) -> Change:
    def change(site: Site) -> Spelling | None:
        spelling = operation.torch(site)
        value = spelling.fields.get(name)
        if isinstance(value, Dim):
            return _with_field(spelling, name, value + constant(by))
        if isinstance(value, int) and not isinstance(value, bool):
            return _with_field(spelling, name, value + by)
        if isinstance(value, tuple) and value:
            return _with_field(spelling, name, (*value[:-1], value[-1] + constant(by)))
        return None

    return change


def _reversed_field(operation: Operation, name: str) -> Change:
    def change(site: Site) -> Spelling | None:
        spelling = operation.torch(site)
        value = spelling.fields.get(name)
        return _with_field(spelling, name, value[::-1]) if isinstance(value, tuple) else None

    return change


def _with_field(spelling: Spelling, name: str, value: object) -> Spelling | None:
    if f"{{{name}}}" not in spelling.template:
        return None
    return replace(spelling, fields={**spelling.fields, name: value})


# --- the attributes -------------------------------------------------------------------------


def _attribute_changes(operation: Operation) -> Iterator[tuple[str, Change]]:
    for spec in operation.attributes:
        match spec.kind:
            case AttributeKind.AXIS:
                for by in (1, -1):
                    yield f"{spec.name} {by:+}", _attribute(operation, spec.name, _next_axis(by))
            case AttributeKind.PERMUTATION:
                yield f"{spec.name} reversed", _attribute(operation, spec.name, _reversed_value)
            case AttributeKind.WORD:
                for word in spec.choices:
                    yield f"{spec.name} {word}", _attribute(operation, spec.name, _always(word))
            case AttributeKind.INTEGER:
                yield f"{spec.name} + 1", _attribute(operation, spec.name, _one_more)
            case AttributeKind.DTYPE | AttributeKind.DIM:
                # The spelling has these in its template and its fields.
                continue
    for what, other in (("another constant", _another_constant), ("constant negated", _negated)):
        yield what, _attribute(operation, "value", other)


def _attribute(
    operation: Operation,
    name: str,
    other: Callable[[Site, AttributeValue], AttributeValue | None],
) -> Change:
    def change(site: Site) -> Spelling | None:
        if name not in site.attributes:
            return None
        value = other(site, site.attributes[name])
        if value is None or value == site.attributes[name]:
            return None
        return operation.torch(site._replace(attributes={**site.attributes, name: value}))

    return change


def _next_axis(by: int) -> Callable[[Site, AttributeValue], AttributeValue | None]:
    def other(site: Site, axis: AttributeValue) -> AttributeValue | None:
        rank = (site.operands[0] if site.operands else site.result).rank
        assert isinstance(axis, int)
        return axis + by if 0 <= axis + by < rank else None

    return other


def _always(value: AttributeValue) -> Callable[[Site, AttributeValue], AttributeValue]:
    return lambda site, old: value


def _reversed_value(site: Site, value: AttributeValue) -> AttributeValue:
    assert isinstance(value, tuple)
    return value[::-1]


def _one_more(site: Site, value: AttributeValue) -> AttributeValue:
    assert isinstance(value, int)
    return value + 1


def _another_constant(site: Site, value: AttributeValue) -> AttributeValue:
    """Another number nearby; the other truth value."""
    assert isinstance(value, int | float)
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else value * 1.01 + 1e-3


def _negated(site: Site, value: AttributeValue) -> AttributeValue | None:
    assert isinstance(value, int | float)
    return None if isinstance(value, bool) or value == 0 else -value


# --- the family -----------------------------------------------------------------------------


def _in_its_place(other: Operation) -> Change:
    return lambda site: other.torch(site) if _allowed(other, site) else None


def _allowed(other: Operation, site: Site) -> bool:
    if len(other.operands) != len(site.operands):
        return False
    try:
        result = other.infer(site.operands, site.attributes, SmallNumbers())
        other.torch(site)
    except KeyError:
        # It has an attribute that the operation in whose place it would be lacks.
        return False
    return isinstance(result, TensorType)


def _means_something_else(operation: Operation, other: Operation) -> bool:
    """Whether the NumPy meanings differ on a use that the typing rules of both allow."""
    for sample in variants(operation.name):
        for use in uses(operation, sample):
            if _allowed(other, use.site):
                try:
                    found = by_numpy(replace(use, operation=other))
                except (ArithmeticError, ValueError):
                    return True
                if not np.array_equal(found, by_numpy(use)):
                    return True
    return False
