"""Target compile: the emitted hooks through TorchDynamo and TorchInductor."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import torch
from torch._dynamo.utils import counters

from p0trans.shapes.solve import input_tensors
from tests.emit.accepted import PATHS, Accepted, accepted

POSITIONS = """let embed [B, S, L, D] (x : Tensor[F32, [B, S, D]]) (table : Tensor[F32, [L, D]])
    : Tensor[F32, [B, S, D]] where S <= L, L >= 40 =
  x + broadcast (slice[axis=0, start=0, stop=S] table) [B, S, D]

module Embed = embed with
  param table = normal(0.02)
"""


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    torch._dynamo.reset()
    counters.clear()
    yield
    torch._dynamo.reset()


def _compile_once(source: Path | str) -> None:
    """One graph serves up to ten sizes of all dims that may vary, and has no break."""
    case = accepted(source)
    (first,) = case.sizes(1, 3)
    fixed = case.constructor(first)
    sizes = case.sizes(10, 3, **fixed)
    assert len(sizes) > 5
    names = case.namespace(target="compile", dynamic=_dynamic(case, fixed))
    module = case.made(names, first)
    *_, hook = (names[name] for name in names["__all__"] if name.startswith("compile_"))
    compiled = hook(module)
    for one in sizes:
        inputs = case.inputs(one)
        torch.testing.assert_close(compiled(*inputs), module(*inputs), equal_nan=True)
    assert counters["stats"]["unique_graphs"] == 1
    assert not counters["graph_break"]


def _dynamic(case: Accepted, fixed: Mapping[str, int]) -> tuple[str, ...]:
    plan = case.subject.plan
    assert plan is not None
    types = [plan.definition.parameters[index].type for index in plan.inputs]
    names = {
        name
        for tensor in input_tensors(types)
        for dim in tensor.type.shape
        for name in dim.variables()
    }
    return tuple(sorted(names - fixed.keys()))


@pytest.fixture
def _traced_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are captured and differentiated as always, and then run by PyTorch itself."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="aot_eager"))


@pytest.mark.usefixtures("_traced_only")
@pytest.mark.parametrize("name", PATHS)
def test_one_graph_for_many_sizes(name: str) -> None:
    _compile_once(PATHS[name])


@pytest.mark.usefixtures("_traced_only")
def test_a_size_that_the_constructor_bounds() -> None:
    _compile_once(POSITIONS)


def test_inductor_compiles_once_for_ten_sizes() -> None:
    _compile_once(PATHS["casebook_a_rmsnorm"])


@pytest.mark.usefixtures("_traced_only")
def test_sizes_that_are_not_marked_have_a_graph_each() -> None:
    case = accepted(PATHS["casebook_a_rmsnorm"])
    names = case.namespace(target="compile", dynamic=("B",))
    compiled = names["compile_rmsnorm"](names["Rmsnorm"]())
    for batch, width in ((2, 4), (3, 4), (5, 4), (2, 6), (3, 6)):
        compiled(*case.inputs({"B": batch, "S": 3, "D": width}))
    assert counters["stats"]["unique_graphs"] == 2


@pytest.mark.usefixtures("_traced_only")
def test_a_size_of_one_is_served() -> None:
    case = accepted(PATHS["shift_right_presburger"])
    names = case.namespace(target="compile", dynamic=("B", "S"))
    module = names["ShiftRight"]()
    compiled = names["compile_shift_right"](module)
    for sizes in ({"B": 2, "S": 4}, {"B": 1, "S": 4}, {"B": 1, "S": 2}, {"B": 3, "S": 9}):
        inputs = case.inputs(sizes)
        torch.testing.assert_close(compiled(*inputs), module(*inputs))


@pytest.mark.usefixtures("_traced_only")
def test_without_dynamic_dims_the_hook_is_a_plain_compile() -> None:
    case = accepted(PATHS["two_results"])
    names = case.namespace(target="compile")
    module = names["Again"]()
    inputs = case.inputs({"B": 2, "S": 3})
    torch.testing.assert_close(names["compile_again"](module)(*inputs), module(*inputs))
    assert counters["stats"]["unique_graphs"] == 1
