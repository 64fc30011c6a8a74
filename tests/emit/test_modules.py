"""Modules as classes."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from p0trans.dtypes import DTYPES
from p0trans.ir.program import Const, Definition, Module, Program
from tests.emit.build import (
    Build,
    alone,
    buffer,
    const,
    fact,
    module,
    param,
    sub,
    tensor,
)
from tests.emit.run import emitted, namespace, repeat_kv, rmsnorm


def _norm() -> tuple[Definition, Module]:
    definition = rmsnorm(doc="Root-mean-square layer norm.")
    return definition, module("RMSNorm", definition, [param(1)], [const(2, 1e-6)])


def _ffn() -> tuple[Definition, Module]:
    b = Build("ffn", "B S D H")
    x = b.parameter("x", tensor("F32", "B S D"))
    w_up = b.parameter("w_up", tensor("F32", "D H"))
    w_down = b.parameter("w_down", tensor("F32", "H D"))
    up = b.apply("matmul", x, b.broadcast(w_up, "B D H", owner="up"), let="up")
    definition = b.done(b.apply("matmul", up, b.broadcast(w_down, "B H D")))
    return definition, module("FFN", definition, [param(1, "xavier_uniform"), param(2)])


def _block() -> tuple[tuple[Definition, ...], list[Module]]:
    """Two children; the weight of one is used outside of its call as well."""
    (norm, norm_module), (ffn, ffn_module) = _norm(), _ffn()
    b = Build("block", "B S D H")
    x = b.parameter("x", tensor("F32", "B S D"))
    norm_w = b.parameter("norm_w", tensor("F32", "D"))
    eps = b.parameter("eps", tensor("F32"))
    w_up = b.parameter("w_up", tensor("F32", "D H"))
    w_down = b.parameter("w_down", tensor("F32", "H D"))
    normed = b.call(norm, "B S D", x, norm_w, eps, let="normed")
    mixed = b.call(ffn, "B S D H", normed, w_up, w_down, owner="x")
    total = b.apply("add", x, mixed, let="x")
    definition = b.done(b.apply("mul", total, b.broadcast(norm_w, "B S D")))
    children = [
        sub("norm", norm_module, [(1, 1), (2, 2)], [normed], "B S D"),
        sub("ffn", ffn_module, [(1, 3), (2, 4)], [mixed], "B S D H"),
    ]
    block_module = module("Block", definition, consts=[const(2, 1e-5)], subs=children)
    return (norm, ffn, definition), [norm_module, ffn_module, block_module]


def _nested() -> Program:
    """A module in a module in a module; one name is an attribute of every module."""
    definitions, modules = _block()
    block = definitions[-1]
    b = Build("twice", "B S D H")
    for parameter in block.parameters:
        b.parameter(parameter.name, parameter.type)
    first = b.call(block, "B S D H", 0, 1, 2, 3, 4, let="y")
    second = b.call(block, "B S D H", first, 1, 2, 3, 4)
    bound = [(1, 1), (2, 2), (3, 3), (4, 4)]
    child = sub("half", modules[-1], bound, [first, second], "B S D H")
    twice = b.done(second)
    return alone(*definitions, twice, modules=[*modules, module("Twice", twice, subs=[child])])


def test_state_and_numbers() -> None:
    definition, norm = _norm()
    text = emitted(alone(definition, modules=[norm]), checks="none")
    assert text.split("\n\n\n")[1] == '''\
class RMSNorm(nn.Module):
    """Root-mean-square layer norm.

    Attributes:
        weight: [D], parameter

    Shapes:
        x: [B, S, D]
        result: [B, S, D]
    """

    def __init__(
        self,
        D: int,
        eps: float = 1e-6,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.D = D
        self.eps = eps
        self.weight = nn.Parameter(torch.empty(D, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        nn.init.ones_(self.weight)

    def extra_repr(self) -> str:
        return f"D={self.D}, eps={self.eps}"

    def forward(self, x: Tensor) -> Tensor:
        D = self.D
        B, S, _ = x.shape
        eps = torch.tensor(self.eps, dtype=torch.float32, device=x.device)  # []
        x_sq = x * x  # [B, S, D]
        mean_sq = torch.mean(x_sq, dim=2, keepdim=True)  # [B, S, 1]
        eps_bcast = eps.expand(B, S, 1)  # [B, S, 1]
        denom_inner = mean_sq + eps_bcast  # [B, S, 1]
        rstd = torch.rsqrt(denom_inner)  # [B, S, 1]
        rstd_bcast = rstd.expand(B, S, D)  # [B, S, D]
        normed = x * rstd_bcast  # [B, S, D]
        weight_bcast = self.weight.expand(B, S, D)  # [B, S, D]
        return normed * weight_bcast  # [B, S, D]
'''


def test_a_module_equals_its_definition() -> None:
    definition, norm = _norm()
    model = namespace(alone(definition, modules=[norm]))["RMSNorm"](8, eps=1e-3)
    x = torch.randn(2, 3, 8)
    nn.init.normal_(model.weight)
    expected = nn.functional.rms_norm(x, (8,), model.weight, 1e-3)
    torch.testing.assert_close(model(x), expected)
    assert repr(model) == "RMSNorm(D=8, eps=0.001)"


def test_factory_arguments_and_the_declared_dtype() -> None:
    definition, norm = _norm()
    class_ = namespace(alone(definition, modules=[norm]))["RMSNorm"]
    assert class_(4).weight.dtype == torch.float32
    assert class_(4, dtype=torch.float64).weight.dtype == torch.float64
    assert class_(4, device="meta").weight.device.type == "meta"


def test_floats_of_several_dtypes_are_not_one_argument() -> None:
    b = Build("mixed", "B D")
    x = b.parameter("x", tensor("BF16", "B D"))
    low, high = b.parameter("low", tensor("BF16", "D")), b.parameter("high", tensor("F32", "D"))
    wide = b.apply("cast", b.apply("mul", x, b.broadcast(low, "B D")), dtype=DTYPES["F32"])
    mixed = b.done(b.apply("mul", wide, b.broadcast(high, "B D")))
    text = emitted(alone(mixed, modules=[module("Mixed", mixed, [param(1), param(2)])]))
    assert "self, D: int, device: torch.device | str | None = None" in text
    assert "dtype: torch.dtype | None" not in text
    assert "self.low = nn.Parameter(torch.empty(D, device=device, dtype=torch.bfloat16))" in text
    assert "self.high = nn.Parameter(torch.empty(D, device=device, dtype=torch.float32))" in text


def test_children_read_as_modules_and_their_state_nests() -> None:
    definitions, modules = _block()
    text = emitted(alone(*definitions, modules=modules), checks="none")
    assert "        self.norm = RMSNorm(D, eps=eps, device=device, dtype=dtype)\n" in text
    assert "        self.ffn = FFN(D, H, device=device, dtype=dtype)\n" in text
    assert text.split("def forward")[-1].split("\n", 1)[1].rstrip() == """\
        D = self.D
        B, S, _ = x.shape
        normed: Tensor = self.norm(x)  # [B, S, D]
        ffn_out: Tensor = self.ffn(normed)  # [B, S, D]
        x = x + ffn_out  # [B, S, D]
        return x * self.norm.weight.expand(B, S, D)  # [B, S, D]"""
    names = namespace(_nested())
    model = names["Twice"](4, 6, eps=1e-2)
    assert list(model.state_dict()) == ["half_.norm.weight", "half_.ffn.w_up", "half_.ffn.w_down"]
    assert model.half_.norm.eps == 1e-2
    assert names["Twice"](4, 6).half_.norm.eps == 1e-5
    x = torch.randn(2, 3, 4)

    weight, w_up, w_down = model.state_dict().values()

    def block(x: Tensor) -> Tensor:
        normed = nn.functional.rms_norm(x, (4,), weight, 1e-2)
        total: Tensor = (x + normed @ w_up @ w_down) * weight
        return total

    torch.testing.assert_close(model(x), block(block(x)))


def test_two_children_that_share_a_number_are_given_the_same() -> None:
    norm, norm_module = _norm()
    b = Build("both", "B S D")
    x = b.parameter("x", tensor("F32", "B S D"))
    w, v = b.parameter("w", tensor("F32", "D")), b.parameter("v", tensor("F32", "D"))
    eps = b.parameter("eps", tensor("F32"))
    first = b.call(norm, "B S D", x, w, eps, let="first")
    second = b.call(norm, "B S D", first, v, eps, let="second")
    definition = b.done(second)
    children = [
        sub("one", norm_module, [(1, 1), (2, 3)], [first], "B S D"),
        sub("two", norm_module, [(1, 2), (2, 3)], [second], "B S D"),
    ]
    both = module("Both", definition, subs=children)
    model = namespace(alone(norm, definition, modules=[norm_module, both]))["Both"](4, eps=0.5)
    assert (model.one.eps, model.two.eps) == (0.5, 0.5)


def test_buffers_initializers_and_scalars() -> None:
    b = Build("f", "B N")
    x = b.parameter("x", tensor("F32", "B"))
    b.parameter("counts", tensor("I64", "N"))
    b.parameter("shift", tensor("F32"))
    b.parameter("low", tensor("F32", "N"))
    b.parameter("near", tensor("F32", "N"))
    states = [
        buffer(1, "full", 7),
        param(2, "full", 0.5),
        param(3, "uniform", -0.1, 0.1),
        param(4, "normal", 0.02),
    ]
    definition = b.done(b.apply("neg", x))
    program = alone(definition, modules=[module("Table", definition, states)])
    text = emitted(program)
    for line in (
        "    counts: Tensor\n",
        "nn.init.constant_(self.counts, 7)",
        "nn.init.constant_(self.shift, 0.5)",
        "nn.init.uniform_(self.low, a=-0.1, b=0.1)",
        "nn.init.normal_(self.near, std=0.02)",
        "counts: I64[N], buffer",
    ):
        assert line in text
    table = namespace(program)["Table"](3)
    assert torch.equal(table.counts, torch.full((3,), 7))
    assert [name for name, _ in table.named_parameters()] == ["shift", "low", "near"]
    assert table.shift.shape == ()


@pytest.mark.parametrize(
    ("dtype", "value", "written"),
    [
        ("F32", float("inf"), 'n: float = float("inf")'),
        ("F32", 1, "n: float = 1.0"),
        ("I32", 3, "n: int = 3"),
        ("Bool", True, "n: bool = True"),
    ],
)
def test_numbers_are_python_numbers(dtype: str, value: Any, written: str) -> None:
    b = Build("f")
    b.parameter("x", tensor(dtype))
    n = b.parameter("n", tensor(dtype))
    definition = b.done(b.apply("eq", 0, n))
    consts: list[Const] = [const(n, value)]
    names = alone(definition, modules=[module("Equals", definition, consts=consts)])
    assert f"def __init__(self, {written}) -> None:" in emitted(names)
    model = namespace(names)["Equals"]()
    kind = {"F32": torch.float32, "I32": torch.int32, "Bool": torch.bool}[dtype]
    assert bool(model(torch.tensor(value, dtype=kind)))


def test_a_module_without_state_has_no_constructor_and_may_have_no_inputs() -> None:
    b = Build("one")
    definition = b.done(b.literal(1.0))
    program = alone(definition, modules=[module("One", definition)])
    text = emitted(program)
    assert "__init__" not in text
    assert "    def forward(self) -> Tensor:\n" in text
    assert namespace(program)["One"]().forward() == 1.0


def test_what_the_inputs_do_not_determine_goes_to_the_constructor() -> None:
    program = alone(repeat_kv(), modules=[module("RepeatKv", repeat_kv())])
    model = namespace(program)["RepeatKv"](R=3)
    k = torch.randn(2, 2, 4, 5)
    assert torch.equal(model(k), k.repeat_interleave(3, dim=1))


def test_facts_about_the_constructor_are_checked_there() -> None:
    b = Build("f", "B D H", assume=(fact("D == 2*H"),))
    x = b.parameter("x", tensor("F32", "B"))
    b.parameter("w", tensor("F32", "D"))
    b.parameter("v", tensor("F32", "H"))
    definition = b.done(b.apply("neg", x))
    program = alone(definition, modules=[module("Pair", definition, [param(1), param(2)])])
    class_ = namespace(program)["Pair"]
    class_(4, 2)
    with pytest.raises(ValueError, match=r"^expected D == 2\*H, got D=4, H=3$"):
        class_(4, 3)


def test_forward_calls_the_function_that_is_there_anyway() -> None:
    norm = rmsnorm()
    b = Build("user", "B S D")
    x = b.parameter("x", tensor("F32", "B S D"))
    w, eps = b.parameter("w", tensor("F32", "D")), b.parameter("eps", tensor("F32"))
    user = b.done(b.call(norm, "B S D", x, w, eps))
    weighted = module("Norm", norm, [param(1)])
    text = emitted(alone(norm, user, modules=[weighted, module("User", user)]), checks="none")
    assert "        return rmsnorm(x, self.weight, eps)  # [B, S, D]\n" in text
    assert text.count("torch.rsqrt") == 1
    assert '__all__ = ["Norm", "User"]' in text


def test_names_that_python_has_a_meaning_for() -> None:
    b = Build("scale", "B D")
    x = b.parameter("x", tensor("F32", "B D"))
    w = b.parameter("__w", tensor("F32", "D"))
    scale = b.done(b.apply("mul", x, b.broadcast(w, "B D")))
    scale_module = module("Scale", scale, [param(1)])
    b = Build("__all__", "B D")
    x = b.parameter("__x", tensor("F32", "B D"))
    w = b.parameter("w", tensor("F32", "D"))
    call = b.call(scale, "B D", x, w, owner="__y")
    y = b.apply("add", call, b.broadcast(w, "B D", owner="__y"), let="__y")
    outer = b.done(b.apply("mul", y, x))
    for name in ("__call__", "__class__", "__init__", "__setattr__", "__x"):
        child = sub(name, scale_module, [(1, 1)], [call], "B D")
        program = alone(scale, outer, modules=[scale_module, module("Net", outer, subs=[child])])
        for options in ({}, {"dynamic_shapes": True}):
            names = namespace(program, **options)
            net = names["Net"](D=3)
            inputs = torch.randn(2, 3)
            assert torch.equal(net(_x=inputs), (inputs + 1) * inputs)
            assert [key.rsplit(".", 1)[1] for key in net.state_dict()] == ["_w"]
        assert list(net.dynamic_shapes()) == ["_x"]


def test_a_size_that_is_only_named_is_not_in_the_docstring() -> None:
    b = Build("f", "B H K G R BH", assume=(fact("BH == B*H"), fact("H == G*R")))
    x = b.parameter("x", tensor("F32", "B H K"))
    b.parameter("y", tensor("F32", "G K"))
    flat = b.reshape(x, "BH K", let="flat")
    text = emitted(alone(b.done(b.reshape(flat, "B H K"))))
    assert "    where H == G*R\n" in text
    assert "BH == " not in text
