"""The reference interpreter on small programs in the typed IR."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from p0trans.interpret import BoundaryError, interpret
from p0trans.ir.program import Definition, Program, Unit
from p0trans.ops import OPERATIONS
from p0trans.shapes.dim import Constraint, constant, variable
from p0trans.source import Source
from p0trans.types import TensorType, TupleType
from tests.emit.build import Build, tensor

B, H, K, S = map(variable, "BHKS")
TWO = constant(2)


def alone(*definitions: Definition) -> Program:
    unit = Unit("main", Source("main.p0", ""), definitions, (), ())
    return Program((unit,), ("main",))


def run(definition: Definition, *inputs: Any, given: dict[str, int] | None = None) -> Any:
    return interpret(alone(definition), definition, inputs, given or {})


def f32(*values: float) -> Any:
    return np.array(values, np.float32)


def rmsnorm() -> Definition:
    build = Build("rmsnorm", "B S D")
    x = build.parameter("x", tensor("F32", "B S D"))
    weight = build.parameter("weight", tensor("F32", "D"))
    eps = build.parameter("eps", tensor("F32"))
    squares = build.apply("mul", x, x)
    mean = build.apply("reduce_keep", squares, kind="mean", axis=2)
    inner = build.apply("add", mean, build.broadcast(eps, "B S 1"))
    rstd = build.broadcast(build.apply("rsqrt", inner), "B S D")
    normed = build.apply("mul", x, rstd)
    return build.done(build.apply("mul", normed, build.broadcast(weight, "B S D")))


def test_rmsnorm() -> None:
    generator = np.random.default_rng(0)
    x = generator.normal(size=(2, 3, 8)).astype(np.float32)
    weight = generator.normal(size=8).astype(np.float32)
    found = run(rmsnorm(), x, weight, np.array(1e-6, np.float32))
    exact = x / np.sqrt(np.mean(x.astype(float) ** 2, axis=2, keepdims=True) + 1e-6) * weight
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_bfloat16_goes_in_and_out() -> None:
    build = Build("double", "B")
    x = build.parameter("x", tensor("BF16", "B"))
    definition = build.done(build.apply("add", x, x))
    found = run(definition, f32(1.0, 2.5).astype(ml_dtypes.bfloat16))
    assert found.dtype == ml_dtypes.bfloat16
    assert found.astype(float).tolist() == [2.0, 5.0]


def test_a_literal_is_rounded_once() -> None:
    build = Build("third")
    definition = build.done(build.literal(0.1))
    assert run(definition) == np.float32(0.1)
    assert run(definition).shape == ()


def test_a_parameter_can_be_the_result() -> None:
    build = Build("same", "B")
    x = build.parameter("x", tensor("F32", "B"))
    assert run(build.done(x), f32(1, 2)).tolist() == [1, 2]
    assert run(build.done(build.alias(x, "y")), f32(1, 2)).tolist() == [1, 2]


def test_tuples_go_in_and_out() -> None:
    build = Build("swap", "B S")
    pair = build.parameter("pair", TupleType((tensor("F32", "B"), tensor("I32", "S"))))
    first, second = build.project(pair, 0), build.project(pair, 1)
    definition = build.done(build.pack(second, build.pack(first, second)))
    second_out, (first_out, again) = run(definition, (f32(1, 2), np.array([3], np.int32)))
    assert first_out.tolist() == [1, 2]
    assert second_out is again


def test_dims_in_attributes_are_evaluated() -> None:
    build = Build("half", "K")
    x = build.parameter("x", TensorType(tensor("F32").dtype, (TWO * K,)))
    definition = build.done(build.apply("slice", x, axis=0, start=K, stop=TWO * K))
    assert run(definition, f32(1, 2, 3, 4, 5, 6)).tolist() == [4, 5, 6]


def test_a_given_number_is_used() -> None:
    build = Build("count", "N")
    definition = build.done(
        build.apply("iota", dtype=tensor("I64").dtype, axis=0, shape=tensor("I64", "N").shape)
    )
    assert run(definition, given={"N": 3}).tolist() == [0, 1, 2]
    with pytest.raises(BoundaryError, match=r"^N: expected an integer.*, found nothing$"):
        run(definition)
    with pytest.raises(BoundaryError, match=r"^M: expected no such number.*, found 1$"):
        run(definition, given={"N": 3, "M": 1})
    with pytest.raises(BoundaryError, match=r"^N: expected N >= 1, found N = 0$"):
        run(definition, given={"N": 0})


def test_calls_are_evaluated_in_the_callers_dims() -> None:
    inner = Build("twice", "S")
    inner_x = inner.parameter("x", tensor("F32", "S"))
    twice = inner.done(inner.apply("add", inner_x, inner_x))
    outer = Build("four_times", "B")
    x = outer.parameter("x", tensor("F32", "B"))
    definition = outer.done(outer.call(twice, "B", outer.call(twice, "B", x)))
    assert interpret(alone(twice, definition), definition, [f32(1, 2)]) == pytest.approx([4, 8])


def test_a_chain_of_ten_thousand_definitions() -> None:
    first = Build("f0")
    x = first.parameter("x", tensor("I32"))
    chain = [first.done(first.apply("add", x, x))]
    for index in range(1, 10_000):
        build = Build(f"f{index}")
        x = build.parameter("x", tensor("I32"))
        one = build.literal(1, "I32")
        chain.append(build.done(build.apply("add", build.call(chain[-1], "", x), one)))
    assert interpret(alone(*chain), chain[-1], [np.array(1, np.int32)]) == 2 + 9_999


def test_an_assumption_of_a_call_is_checked_where_it_runs() -> None:
    inner = Build("flat", "B H K", assume=(Constraint(K, "==", B * H),))
    x = inner.parameter("x", tensor("F32", "B H"))
    flat = inner.done(inner.apply("reshape", x, shape=(K,)))
    outer = Build("caller", "B H K")
    x = outer.parameter("x", tensor("F32", "B H"))
    outer.parameter("like", tensor("F32", "K"))
    unproved = Constraint(K, "==", B * H)
    definition = outer.done(outer.call(flat, "B H K", x, assumptions=(unproved,)))
    program = alone(flat, definition)
    x_array = np.ones((2, 3), np.float32)
    assert np.shape(interpret(program, definition, [x_array, np.ones(6, np.float32)])) == (6,)
    with pytest.raises(BoundaryError, match=r"^B, H, K: expected K == B\*H, found B = 2, H = 3, K"):
        interpret(program, definition, [x_array, np.ones(5, np.float32)])


def pair_sum() -> Definition:
    where = (Constraint(S, ">=", TWO),)
    build = Build("pair_sum", "B S", where=where, assume=(Constraint(S, "<=", B * B),))
    x = build.parameter("x", tensor("F32", "B S"))
    build.parameter("mask", tensor("Bool", "B 1"))
    build.parameter("pair", TupleType((tensor("F32"), tensor("I32", "S"))))
    return build.done(build.apply("reduce", x, kind="sum", axis=1))


def pair_sum_inputs(**changed: Any) -> list[Any]:
    inputs: dict[str, Any] = {
        "x": np.ones((2, 3), np.float32),
        "mask": np.ones((2, 1), np.bool_),
        "pair": (np.array(1, np.float32), np.zeros(3, np.int32)),
    }
    return list((inputs | changed).values())


def test_right_inputs_pass_the_boundary() -> None:
    assert run(pair_sum(), *pair_sum_inputs()).tolist() == [3, 3]


@pytest.mark.parametrize(
    ("changed", "argument", "expected", "found"),
    [
        ({"x": np.ones((2, 3))}, "x", "Tensor[F32, [B, S]]", "float64 of shape [2, 3]"),
        ({"x": f32(1, 2)}, "x", "Tensor[F32, [B, S]]", "float32 of shape [2]"),
        ({"x": (f32(1),)}, "x", "Tensor[F32, [B, S]]", "a tuple of 1"),
        (
            {"mask": np.ones((3, 1), np.bool_)},
            "mask",
            "Tensor[Bool, [B, 1]] with B = 2 on axis 0",
            "3 in [3, 1]",
        ),
        (
            {"mask": np.ones((2, 4), np.bool_)},
            "mask",
            "Tensor[Bool, [B, 1]] with 1 on axis 1",
            "4 in [2, 4]",
        ),
        (
            {"pair": (np.array(1, np.float32), np.zeros(4, np.int32))},
            "pair[1]",
            "Tensor[I32, [S]] with S = 3 on axis 0",
            "4 in [4]",
        ),
        (
            {"pair": (np.array(1, np.float32),)},
            "pair",
            "a tuple of 2 values (Tensor[F32, []], Tensor[I32, [S]])",
            "a tuple of 1",
        ),
        (
            {"pair": np.array(1, np.float32)},
            "pair",
            "a tuple of 2 values (Tensor[F32, []], Tensor[I32, [S]])",
            "float32 of shape []",
        ),
    ],
)
def test_wrong_inputs_are_refused(
    changed: dict[str, Any], argument: str, expected: str, found: str
) -> None:
    with pytest.raises(BoundaryError) as caught:
        run(pair_sum(), *pair_sum_inputs(**changed))
    error = caught.value
    assert (error.argument, error.expected, error.found) == (argument, expected, found)


def sized(rows: int, columns: int) -> list[Any]:
    return pair_sum_inputs(
        x=np.ones((rows, columns), np.float32),
        mask=np.ones((rows, 1), np.bool_),
        pair=(np.array(1, np.float32), np.zeros(columns, np.int32)),
    )


def test_where_and_assume_are_checked() -> None:
    assert run(pair_sum(), *sized(2, 4)).tolist() == [4, 4]
    with pytest.raises(BoundaryError, match=r"^S: expected S >= 2, found S = 1$"):
        run(pair_sum(), *sized(2, 1))
    with pytest.raises(BoundaryError, match=r"expected S <= B\*B, found B = 2, S = 5$"):
        run(pair_sum(), *sized(2, 5))


def test_an_axis_of_no_elements_is_refused() -> None:
    with pytest.raises(BoundaryError, match=r"^B: expected B >= 1, found B = 0$"):
        run(pair_sum(), *sized(0, 3))


def test_the_number_of_inputs_is_checked() -> None:
    with pytest.raises(BoundaryError, match=r"^pair_sum: expected 3 inputs, found 1$"):
        run(pair_sum(), np.ones((2, 3), np.float32))


def test_a_dim_that_does_not_divide_is_refused() -> None:
    build = Build("even", "K")
    x = build.parameter("x", TensorType(tensor("F32").dtype, (TWO * K,)))
    definition = build.done(x)
    assert run(definition, f32(1, 2)).tolist() == [1, 2]
    with pytest.raises(BoundaryError, match=r"with 2\*K = 2 on axis 0, found 3 in \[3\]$"):
        run(definition, f32(1, 2, 3))


def test_a_meaning_that_breaks_its_type_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = OPERATIONS["exp"]._replace(numpy=lambda np, operands, evaluation: operands[0][:1])
    monkeypatch.setattr("p0trans.interpret.evaluate.EVERY", {"exp": wrong})
    build = Build("f", "B")
    x = build.parameter("x", tensor("F32", "B"))
    with pytest.raises(AssertionError, match=r"exp gave float32 of shape \[1\]"):
        run(build.done(build.apply("exp", x)), f32(1, 2))


def test_values_are_let_go_after_their_last_use(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[Any]] = []
    alive: list[int] = []

    def watched(meaning: Callable[..., Any]) -> Callable[..., Any]:
        def meaning_and_count(*arguments: Any) -> Any:
            result = meaning(*arguments)
            gc.collect()
            alive.append(sum(reference() is not None for reference in made))
            made.append(weakref.ref(result))
            return result

        return meaning_and_count

    exp = OPERATIONS["exp"]._replace(numpy=watched(OPERATIONS["exp"].numpy))
    monkeypatch.setattr("p0trans.interpret.evaluate.EVERY", {"exp": exp})
    build = Build("chain", "B")
    value = build.parameter("x", tensor("F32", "B"))
    for _ in range(6):
        value = build.apply("exp", value)
    run(build.done(value), f32(-math.inf, -100))
    # While a step runs, nothing but its operand is held.
    assert alive == [0, 1, 1, 1, 1, 1]


def test_importing_it_imports_neither_numpy_nor_torch() -> None:
    code = (
        "import sys, p0trans.interpret\n"
        "unwanted = {'numpy', 'torch', 'ml_dtypes', 'islpy'}\n"
        "sys.exit(not unwanted.isdisjoint(sys.modules))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
