"""What emitted code checks at its boundary, and what it says."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from p0trans.driver import STD
from p0trans.dtypes import DTYPES
from p0trans.emit.boundary import BoundaryRequest, write_boundary
from p0trans.ir.program import Definition
from p0trans.shapes.solve import solve
from p0trans.types import TupleType
from tests.emit.build import Build, alone, fact, module, param, tensor
from tests.emit.run import built, emitted, loaded, namespace, repeat_kv, rmsnorm


def _function(definition: Definition, *others: Definition) -> Callable[..., Any]:
    function: Callable[..., Any] = namespace(alone(*others, definition))[definition.name]
    return function


def _norm_inputs() -> dict[str, Any]:
    return {"x": torch.ones(2, 3, 4), "weight": torch.ones(4), "eps": torch.tensor(1e-6)}


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        ("eps", 1e-6, TypeError, "eps: expected a Tensor, got float"),
        (
            "x",
            torch.ones(2, 3, 4, dtype=torch.float64),
            TypeError,
            "x: expected torch.float32, got torch.float64",
        ),
        ("x", torch.ones(3, 4), ValueError, "x: expected shape [B, S, D], got [3, 4]"),
        (
            "x",
            torch.ones(2, 0, 4),
            ValueError,
            "x: expected shape [B, S, D] with no empty axis, got [2, 0, 4]",
        ),
        ("weight", torch.ones(5), ValueError, "weight: expected shape [D] = [4], got [5]"),
        ("eps", torch.ones(1), ValueError, "eps: expected shape [], got [1]"),
    ],
)
def test_inputs(name: str, value: Any, error: type[Exception], message: str) -> None:
    function = _function(rmsnorm())
    function(**_norm_inputs())
    with pytest.raises(error) as raised:
        function(**{**_norm_inputs(), name: value})
    assert str(raised.value) == message


def test_a_variable_that_stands_twice_in_one_shape_is_compared() -> None:
    b = Build("f", "B")
    function = _function(b.done(b.parameter("x", tensor("F32", "B B"))))
    function(torch.ones(2, 2))
    with pytest.raises(ValueError, match=r"x: expected shape \[B, B\] = \[2, 2\], got \[2, 3\]"):
        function(torch.ones(2, 3))


def test_a_division_has_to_be_exact() -> None:
    b = Build("f", "K")
    function = _function(b.done(b.parameter("x", tensor("F32", "2*K"))))
    function(torch.ones(4))
    with pytest.raises(ValueError, match=r"x: expected shape \[2\*K\] = \[4\], got \[5\]"):
        function(torch.ones(5))


def test_items_of_a_tuple_are_named_by_their_index() -> None:
    b = Build("f", "B")
    pair = b.parameter("pair", TupleType((tensor("F32", "B"), tensor("I64", "B"))))
    function = _function(b.done(b.project(pair, 0)))
    ids = torch.ones(3, dtype=torch.int64)
    assert function((torch.ones(3), ids)).shape == (3,)
    with pytest.raises(ValueError, match=r"pair\[1\]: expected shape \[B\] = \[2\], got \[3\]"):
        function((torch.ones(2), ids))
    with pytest.raises(TypeError, match=r"pair\[1\]: expected torch\.int64, got torch\.float32"):
        function((torch.ones(2), torch.ones(2)))


def test_facts_are_checked_unless_the_bindings_make_them_true() -> None:
    b = Build("f", "B D K", where=(fact("D >= 3"), fact("D == 2*K")), assume=(fact("B == D*K"),))
    b.parameter("x", tensor("F32", "B D"))
    function = _function(b.done(0))
    function(torch.ones(8, 4))
    for shape, message in (
        ((2, 2), "expected D >= 3, got D=2"),
        ((8, 5), "expected D == 2*K, got D=5, K=2"),
        ((9, 4), "expected B == D*K, got B=9, D=4, K=2"),
    ):
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            function(torch.ones(shape))
        assert str(raised.value) == message
    assert "H !=" not in emitted(alone(repeat_kv()))


def test_integers_of_the_caller_are_checked_before_anything_is_divided_by_them() -> None:
    b = Build("f", "G R H", assume=(fact("H == G*R"),))
    b.parameter("x", tensor("F32", "H"))
    function = _function(b.done(0))
    function(torch.ones(6), G=3)
    with pytest.raises(ValueError, match=r"^expected G >= 1, got G=0$"):
        function(torch.ones(6), G=0)
    with pytest.raises(ValueError, match=r"^expected H == G\*R, got G=4, R=1, H=6$"):
        function(torch.ones(6), G=4)


def test_no_sizes_make_the_checks_divide_by_zero() -> None:
    b = Build("f", "D E K H G R", assume=(fact("D == H*K"), fact("E == G*K"), fact("H == G*R")))
    for name, dim in (("x", "D"), ("y", "E"), ("z", "2*K")):
        b.parameter(name, tensor("F32", dim))
    function = _function(b.done(b.apply("neg", 0)))
    for d, e, two_k in itertools.product(range(1, 9), range(1, 9), range(1, 7)):
        k, odd = divmod(two_k, 2)
        heads, groups = (d // k, e // k) if k else (0, 0)
        fits = not odd and k * heads == d and k * groups == e and groups and heads % groups == 0
        inputs = (torch.ones(d), torch.ones(e), torch.ones(two_k))
        if fits:
            function(*inputs)
        else:
            with pytest.raises(ValueError, match="expected"):
                function(*inputs)


def test_what_the_constructor_decides_is_checked_there() -> None:
    b = Build("heads", "B D H K", assume=(fact("D == H*K"),))
    x = b.parameter("x", tensor("F32", "B D"))
    weight = b.parameter("weight", tensor("F32", "D"))
    scaled = b.apply("mul", x, b.broadcast(weight, "B D"))
    split = b.done(b.reshape(scaled, "B H K"))
    program = alone(split, modules=[module("Heads", split, [param(1)])])
    heads = namespace(program)["Heads"]
    assert heads(D=6, H=3)(torch.ones(2, 6)).shape == (2, 3, 2)
    with pytest.raises(ValueError, match=r"^expected D == H\*K, got D=6, H=4, K=1$"):
        heads(D=6, H=4)
    forward = emitted(program).split("def forward")[1]
    assert "D != " not in forward


def test_a_module_compares_inputs_with_its_constructor() -> None:
    norm = module("Norm", rmsnorm(), [param(1)])
    names = namespace(alone(rmsnorm(), modules=[norm]))
    norm_module = names["Norm"](D=4)
    norm_module(torch.ones(2, 3, 4), torch.tensor(1e-6))
    with pytest.raises(ValueError, match=r"x: expected shape \[B, S, D\] = \[2, 3, 4\], got"):
        norm_module(torch.ones(2, 3, 5), torch.tensor(1e-6))
    with pytest.raises(ValueError, match=r"^expected D >= 1, got D=0$"):
        names["Norm"](D=0)


def test_only_the_boundary_is_checked_and_assumptions_where_the_call_stands() -> None:
    inner = Build("inner", "N M P", assume=(fact("P == N*M"),))
    inner.parameter("x", tensor("F32", "N M"))
    flat = inner.done(inner.reshape(0, "P"))
    outer = Build("outer", "N P")
    x = outer.parameter("x", tensor("F32", "N 3"))
    outer.parameter("y", tensor("F32", "P"))
    call = outer.call(flat, "N 3 P", x, owner="z", assumptions=(fact("P == N*3"),))
    added = outer.done(outer.apply("add", call, 1, let="z"))
    text = emitted(alone(flat, added))
    assert text.count('_check_input("x"') == 1
    function = _function(added, flat)
    assert torch.equal(function(torch.ones(2, 3), torch.ones(6)), 2 * torch.ones(6))
    with pytest.raises(ValueError, match=r"^expected P == 3\*N, got N=2, P=7$"):
        function(torch.ones(2, 3), torch.ones(7))


def test_what_a_caller_has_checked_is_not_checked_again() -> None:
    inner = Build("inner", "N M", assume=(fact("N == M*M"),))
    inner.parameter("x", tensor("F32", "N M"))
    square = inner.done(inner.apply("neg", 0))
    outer = Build("outer", "N M", assume=(fact("N == M*M"),))
    x = outer.parameter("x", tensor("F32", "N M"))
    text = emitted(alone(square, outer.done(outer.call(square, "N M", x))))
    assert text.count('ValueError(f"expected N == M*M, got N={N}, M={M}")') == 1


_DOUBLED = """
let doubled [B, S, D] (x : Tensor[F32, [B, S, D]]) (y : Tensor[F32, [B, S, D]])
    (weight : Tensor[F32, [D]]) (eps : Tensor[F32, []]) : Tensor[F32, [B, S, D]] =
  let normed = rmsnorm[B, S, D] x weight eps in
  normed + y

module Doubled = doubled with
  sub norm = RMSNorm(weight = weight, eps = eps)
"""


def test_a_module_that_only_its_file_uses_checks_nothing() -> None:
    text = built("from std.norm import rmsnorm, RMSNorm\n" + _DOUBLED, style="explicit")
    inner, outer = text.split("class Doubled")
    assert "_check_input(" not in inner
    assert "raise" not in inner
    assert outer.count('_check_input("') == 2
    names = loaded(text)
    doubled = names["Doubled"](D=4)
    x = torch.ones(2, 3, 4)
    assert doubled(x, x).shape == x.shape
    with pytest.raises(ValueError, match=r"x: expected shape .* = \[2, 3, 4\], got \[2, 3, 5\]"):
        doubled(torch.ones(2, 3, 5), x)


def test_a_module_of_the_files_own_checks_its_inputs_also_as_a_child() -> None:
    text = built((STD / "norm.p0").read_text() + _DOUBLED)
    inner, _ = text.split("class Doubled")
    assert '_check_input("x", x, self.weight.dtype' in inner.split("class RMSNorm")[1]


def test_inputs_that_follow_the_state_are_compared_with_one_dtype() -> None:
    text = built("from std.norm import rmsnorm, RMSNorm\n" + _DOUBLED)
    forward = text.split("class Doubled")[1]
    assert "dtype = self.norm.weight.dtype\n" in forward
    assert forward.count("self.norm.weight.dtype") == 1
    names = loaded(text)
    doubled = names["Doubled"](D=4).to(torch.bfloat16)
    x = torch.ones(2, 3, 4, dtype=torch.bfloat16)
    assert doubled(x, x).dtype is torch.bfloat16
    with pytest.raises(TypeError, match=r"y: expected torch\.bfloat16, got torch\.float32"):
        doubled(x, x.float())


def test_without_checks_nothing_is_checked() -> None:
    norm = module("Norm", rmsnorm(), [param(1)])
    for program in (alone(rmsnorm()), alone(repeat_kv()), alone(rmsnorm(), modules=[norm])):
        text = emitted(program, checks="none")
        assert "raise" not in text
        assert "_check" not in text


def test_checks_survive_compilation_with_dynamic_dims_and_export() -> None:
    b = Build("f", "B K S", where=(fact("K >= 2"),), assume=(fact("S == B*K"),))
    x = b.parameter("x", tensor("F32", "B 2*K"))
    y = b.parameter("y", tensor("F32", "B 2*K"))
    total = b.apply("add", x, y, let="total")
    definition = b.done(b.pack(total, b.reshape(total, "2*S")))
    model = namespace(alone(definition, modules=[module("Total", definition)]))["Total"]()
    compiled: Callable[..., Any] = torch.compile(
        model, fullgraph=True, dynamic=True, backend="eager"
    )

    def inputs(rows: int, columns: int) -> tuple[Tensor, Tensor]:
        return torch.randn(rows, columns), torch.randn(rows, columns)

    for sizes in ((3, 4), (5, 6)):
        arguments = inputs(*sizes)
        for got, expected in zip(compiled(*arguments), model(*arguments), strict=True):
            assert torch.equal(got, expected)
    exported = torch.export.export(model, inputs(3, 4))
    arguments = inputs(3, 4)
    run_exported: Callable[..., Any] = exported.module()
    assert torch.equal(run_exported(*arguments)[0], model(*arguments)[0])
    with pytest.raises(ValueError, match=r"expected K >= 2, got K=1"):
        model(*inputs(3, 2))


_NESTED = """let f [B, D] (p : (Tensor[F32, [B, D]], (Tensor[F32, [D]], Tensor[I64, [B]])))
    : Tensor[F32, [B, D]] =
  let (x, r) = p in
  let (w, n) = r in
  x * broadcast w [B, D] + broadcast (reshape (cast[F32] n) [B, 1]) [B, D]
module Net = f
"""


def test_tuples_are_checked_before_what_is_in_them() -> None:
    names = loaded(built(_NESTED))
    net = names["Net"]()
    x, w, n = torch.ones(2, 3), torch.ones(3), torch.ones(2, dtype=torch.int64)
    assert torch.equal(net((x, (w, n))), 2 * x)
    wrong: list[tuple[Any, type[Exception], str]] = [
        (None, TypeError, "p: expected a tuple, got NoneType"),
        ({}, TypeError, "p: expected a tuple, got dict"),
        (x, TypeError, "p: expected a tuple, got Tensor"),
        ((), ValueError, "p: expected a tuple of length 2, got one of length 0"),
        ((x, (w, n), w), ValueError, "p: expected a tuple of length 2, got one of length 3"),
        ((x, w), TypeError, "p[1]: expected a tuple, got Tensor"),
        ((x, (w,)), ValueError, "p[1]: expected a tuple of length 2, got one of length 1"),
        (((w, n), (w, n)), TypeError, "p[0]: expected a Tensor, got tuple"),
    ]
    for value, error, message in wrong:
        with pytest.raises(error) as raised:
            net(value)
        assert str(raised.value) == message
    assert "_check_tuple" not in built(_NESTED, checks="none")


def test_checks_of_tuples_are_compiled_and_exported() -> None:
    names = loaded(built(_NESTED, dynamic_shapes=True))
    net = names["Net"]()
    p = (torch.ones(2, 3), (torch.ones(3), torch.ones(2, dtype=torch.int64)))
    compiled: Callable[..., Any] = torch.compile(net, fullgraph=True, backend="eager")
    assert torch.equal(compiled(p), net(p))
    exported = torch.export.export(net, (p,), dynamic_shapes=net.dynamic_shapes())
    run_exported: Callable[..., Any] = exported.module()
    assert torch.equal(run_exported(p), net(p))


def test_what_two_calls_assume_is_checked_once() -> None:
    inner = Build("inner", "N M P", assume=(fact("P == N*M"),))
    inner.parameter("x", tensor("F32", "N M"))
    inner.parameter("y", tensor("F32", "P"))
    same = inner.done(inner.apply("neg", 0))
    outer = Build("outer", "N M P")
    x, y = outer.parameter("x", tensor("F32", "N M")), outer.parameter("y", tensor("F32", "P"))
    assumptions = (fact("P == N*M"),)
    first = outer.call(same, "N M P", x, y, let="z", assumptions=assumptions)
    twice = outer.done(outer.call(same, "N M P", first, y, assumptions=assumptions))
    text = emitted(alone(same, twice)).split("def outer")[1]
    assert text.count("    if P != M * N:\n") == 1
    function = _function(twice, same)
    assert torch.equal(function(torch.ones(2, 3), torch.ones(6)), torch.ones(2, 3))
    with pytest.raises(ValueError, match=r"^expected P == M\*N, got N=2, M=3, P=5$"):
        function(torch.ones(2, 3), torch.ones(5))


def test_the_local_for_a_dtype_is_called_as_nothing_else_is() -> None:
    request = BoundaryRequest(
        inputs=[("dtype", tensor("F32", "B")), ("y", tensor("F32", "B"))],
        values=(0, 1),
        bindings=solve(("B",), [tensor("F32", "B")] * 2, ()),
        constraints=(),
        names={"B": "B"},
        used=frozenset(),
        checked=True,
        dtypes={DTYPES["F32"]: "self.w.dtype"},
        taken=frozenset({"dtype", "y"}),
    )
    boundary = write_boundary(request)
    assert boundary.dtype == "dtype_ = self.w.dtype"
    assert [(check.value, check.dtype) for check in boundary.inputs] == [
        ("dtype", "dtype_"),
        ("y", "dtype_"),
    ]
