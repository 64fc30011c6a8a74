"""What each target adds to a file."""

from __future__ import annotations

import ast
import sys
from typing import Any, get_args

import pytest
import torch

from p0trans.emit import OptionError, Options, emit_package
from p0trans.emit.render import template_folder
from p0trans.emit.targets import HOOKS
from p0trans.ir.program import Program
from p0trans.targets import Target
from p0trans.types import TupleType
from tests.emit.accepted import accepted
from tests.emit.build import HEADER, Build, alone, const, module, param, program, tensor, unit
from tests.emit.run import center, emitted, namespace, rmsnorm

TARGETS = get_args(Target)
HOOKED = tuple(target for target, hooks in HOOKS.items() if hooks is not None)


def _norm() -> Program:
    norm = rmsnorm()
    return alone(norm, center(), modules=[module("RMSNorm", norm, [param(1)], [const(2, 1e-6)])])


def _rotate(name: str = "rotate") -> Program:
    """One input is a tuple, one has an axis of `2*K`."""
    b = Build(name, "B K")
    pair = b.parameter("device", TupleType((tensor("F32", "B 2*K"), tensor("F32", "B"))))
    compiled = b.parameter("compiled", tensor("F32", "2*K"))
    spread = b.broadcast(compiled, "B 2*K")
    definition = b.done(b.apply("add", b.project(pair, 0), spread))
    return alone(definition, modules=[module("Rotate", definition)])


def _without_hooks(text: str) -> list[str]:
    """The statements of a file but for its hooks and imports."""
    return [
        ast.get_source_segment(text, node) or ""
        for node in ast.parse(text).body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.FunctionDef) and node.name.startswith("compile_"))
        and not ast.unparse(node).startswith("__all__")
    ]


def test_every_target_is_in_the_table() -> None:
    assert tuple(HOOKS) == TARGETS
    for hooks in filter(None, HOOKS.values()):
        assert (template_folder() / hooks.template).is_file()


@pytest.mark.parametrize("target", HOOKED)
@pytest.mark.parametrize("source", [_norm(), _rotate()], ids=["norm", "rotate"])
def test_targets_differ_in_hooks_alone(target: Target, source: Program) -> None:
    plain, hooked = emitted(source), emitted(source, target=target)
    assert _without_hooks(plain) == _without_hooks(hooked)
    assert plain != hooked


@pytest.mark.parametrize("target", HOOKED)
def test_each_module_has_one_hook(target: Target) -> None:
    text = emitted(_norm(), target=target)
    assert '__all__ = ["RMSNorm", "center", "compile_rms_norm"]' in text
    assert text.count("\ndef compile_") == 1
    assert "module: RMSNorm" in text


def test_a_file_without_modules_has_no_hooks() -> None:
    text = emitted(alone(center()), target="compile")
    assert "compile_" not in text
    assert "Callable" not in text


def test_names_of_hooks_are_free() -> None:
    b = Build("compile_rms_norm", "B")
    taken = b.done(b.apply("neg", b.parameter("x", tensor("F32", "B"))))
    norm = rmsnorm()
    modules = [module("RMSNorm", norm, [param(1)]), module("RmsNorm", norm, [param(1)])]
    text = emitted(alone(taken, norm, modules=modules), target="compile")
    assert "def compile_rms_norm_(module: RMSNorm)" in text
    assert "def compile_rms_norm__(module: RmsNorm)" in text


@pytest.mark.parametrize("target", HOOKED)
def test_a_package_exports_hooks(target: Target) -> None:
    norm = rmsnorm("norm")
    first = program(unit("norm", [norm], [module("Norm", norm, [param(1)])]))
    files = {f.path: f.text for f in emit_package(first, Options(target=target), HEADER)}
    assert "from .norm import Norm, compile_norm\n" in files["__init__.py"]
    assert '__all__ = ["Norm", "compile_norm"]' in files["__init__.py"]
    assert "def compile_norm(" in files["norm.py"]


def test_names_in_a_hook_are_kept_apart() -> None:
    text = emitted(_rotate(), target="xla")
    assert "def call(device_: tuple[Tensor, Tensor], compiled_: Tensor) -> Tensor:" in text
    moved = "(device_[0].to(device), device_[1].to(device)), compiled_.to(device)"
    assert moved in " ".join(text.split()).replace("( (", "((").replace("( ", "(")


def test_dynamic_dims_are_marked_where_they_stand() -> None:
    text = emitted(_rotate(), target="compile", dynamic=("K",))
    hook = text[text.index("def compile_rotate") : text.index("def _check_input")]
    assert "one graph for all sizes of 2*K." in hook
    assert [line.strip() for line in hook.splitlines() if "maybe_mark_dynamic" in line] == [
        "torch._dynamo.maybe_mark_dynamic(device_[0], 1)  # 2*K",
        "torch._dynamo.maybe_mark_dynamic(compiled_, 0)  # 2*K",
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "torch", "dynamic": ("B",)}, "dynamic dims need target compile, not torch"),
        ({"target": "xla", "dynamic": ("B",)}, "dynamic dims need target compile, not xla"),
        (
            {"target": "compile", "dynamic": ("B", "Q")},
            "`Q` does not vary in the inputs of a module; these do: B, S",
        ),
        (
            {"target": "compile", "dynamic": ("D",)},
            "`D` does not vary in the inputs of a module; these do: B, S",
        ),
    ],
)
def test_dynamic_dims_that_cannot_be(options: dict[str, Any], words: str) -> None:
    """D is the size of a parameter, so that the constructor fixes it."""
    with pytest.raises(OptionError) as raised:
        emitted(_norm(), **options)
    assert str(raised.value) == words
    with pytest.raises(OptionError):
        emit_package(_norm(), Options(**options), HEADER)


def test_a_size_of_the_module_does_not_vary_inside_a_sum() -> None:
    source = """let widen [B, D] (x : Tensor[F32, [B + D]]) (y : Tensor[F32, [B]])
    (w : Tensor[F32, [D]]) : Tensor[F32, [B + D]] =
  x + concat[axis=0] y w

module Widen = widen with
  param w = ones
"""
    with pytest.raises(OptionError, match=r"^`D` does not vary in .*; these do: B$"):
        accepted(source).emitted(target="compile", dynamic=("D",))
    text = accepted(source).emitted(target="compile", dynamic=("B",))
    assert "one graph for all sizes of B + D and B." in text


def test_nothing_varies_in_a_file_of_functions() -> None:
    with pytest.raises(OptionError, match=r"^`B` does not vary in .*; nothing does$"):
        emitted(alone(center()), target="compile", dynamic=("B",))


def test_without_torchtpu_the_hook_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch_tpu", None)
    names = namespace(_norm(), target="tpu")
    model = names["RMSNorm"](4)
    with pytest.raises(RuntimeError) as raised:
        names["compile_rms_norm"](model)
    assert str(raised.value) == (
        "compile_rms_norm needs TorchTPU: install torch_tpu on a machine with a TPU"
    )
    assert model(torch.ones(1, 2, 4)).shape == (1, 2, 4)


@pytest.mark.parametrize("target", TARGETS)
def test_importing_a_file_imports_no_runtime(target: Target, monkeypatch: Any) -> None:
    for name in ("torch_xla", "torch_tpu"):
        monkeypatch.setitem(sys.modules, name, None)
    assert "RMSNorm" in namespace(_norm(), target=target)


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ("def compile_rms_norm", {"target": "compile", "dynamic": ("B", "S")}),
        ("    def dynamic_shapes", {"dynamic_shapes": True}),
    ],
)
def test_the_documentation_shows_what_is_emitted(start: str, options: dict[str, Any]) -> None:
    page = (template_folder().parent / "docs" / "targets.md").read_text()
    source = page.split("```p0 rmsnorm.p0\n")[1].split("```")[0]
    shown = page.split(f"```py\n{start}")[1].split("```")[0]
    assert f"{start}{shown}" in accepted(source).emitted(**options)
