"""Python names for Phase 0 names."""

from __future__ import annotations

import pytest

from p0trans.emit.names import MODULE_ATTRIBUTES, RESERVED, allocate, free_name


@pytest.mark.parametrize("name", ["lambda", "None", "match", "type", "torch", "self", "Float32"])
def test_reserved_names_get_an_underscore(name: str) -> None:
    assert free_name(name, RESERVED) == f"{name}_"


@pytest.mark.parametrize("name", ["x", "input", "sum", "D_h", "weight"])
def test_other_names_stay(name: str) -> None:
    assert free_name(name, RESERVED) == name


def test_allocated_names_are_different() -> None:
    names = allocate(["None", "None_", "x", "None"], RESERVED)
    assert names == {"None": "None_", "None_": "None__", "x": "x"}


def test_attributes_of_modules_are_known() -> None:
    from torch import nn

    assert {name for name in dir(nn.Module()) if not name.startswith("__")} <= MODULE_ATTRIBUTES


@pytest.mark.parametrize(
    ("name", "given"), [("__class__", "_class"), ("__call__", "_call"), ("__w", "_w"), ("_w", "_w")]
)
def test_no_name_is_one_of_pythons_own_or_another_in_a_class(name: str, given: str) -> None:
    assert free_name(name, RESERVED) == given


def test_names_without_a_letter_stay_different() -> None:
    names = allocate(["_", "__", "___", "__x", "_x"], RESERVED)
    assert len(set(names.values())) == 5
    assert names["__x"] == "_x"
