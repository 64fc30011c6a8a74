"""golden/ holds what is emitted for every example, and its typed IR beside the source."""

from __future__ import annotations

import importlib.util
import itertools
import sys
from pathlib import Path

import pytest
import torch

import p0trans
from p0trans.api import load, translate
from p0trans.ir.printer import print_program
from tests.conftest import GOLDEN, Golden

EXAMPLES = Path(__file__).parent.parent / "examples"
SOURCES = sorted(EXAMPLES.rglob("*.p0"))
EACH = pytest.mark.parametrize(
    "path", SOURCES, ids=lambda path: str(path.relative_to(EXAMPLES).with_suffix(""))
)


CASEBOOK = pytest.mark.parametrize(
    "path", sorted(EXAMPLES.glob("casebook/*.p0")), ids=lambda path: path.stem
)


def explicit_name(path: Path) -> str:
    return f"explicit/{golden_name(path, '.py')}"


def golden_name(path: Path, suffix: str) -> str:
    return path.relative_to(EXAMPLES).with_suffix(suffix).as_posix()


@EACH
def test_emitted(path: Path, golden: Golden) -> None:
    golden.check(golden_name(path, ".py"), translate(path))


@CASEBOOK
def test_emitted_explicit(path: Path, golden: Golden) -> None:
    golden.check(explicit_name(path), translate(path, style="explicit"))


@EACH
def test_ir(path: Path, golden: Golden) -> None:
    """The source stands above its IR, so that the file alone can be judged."""
    program = p0trans.check(path).program
    text = f"{path.read_text()}\n// {'-' * 70}\n\n{print_program(program)}"
    golden.check(golden_name(path, ".ir"), text)


def test_no_orphans() -> None:
    made = {
        golden_name(path, suffix) for path, suffix in itertools.product(SOURCES, (".py", ".ir"))
    }
    made |= {explicit_name(path) for path in EXAMPLES.glob("casebook/*.p0")}
    held = {
        path.relative_to(GOLDEN).as_posix()
        for path in GOLDEN.rglob("*")
        if path.suffix in (".py", ".ir")
    }
    assert held == made


@EACH
def test_golden_file_imports(path: Path) -> None:
    """The file as it lies there is a module with the same names as one that is loaded now."""
    file = GOLDEN / golden_name(path, ".py")
    spec = importlib.util.spec_from_file_location(f"golden_{path.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    assert module.__all__ == load(path).__all__


def _golden(name: str) -> dict[str, object]:
    namespace: dict[str, object] = {"__name__": name}
    text = (GOLDEN / f"casebook/{name}.py").read_text()
    exec(compile(text, name, "exec"), namespace)
    return namespace


def test_case_a_equals_torch() -> None:
    module = _golden("rmsnorm")["Rmsnorm"]
    assert isinstance(module, type)
    torch.manual_seed(0)
    x, weight = torch.randn(2, 3, 8), torch.randn(8)
    found = module()(x, weight, torch.tensor(1e-5))
    torch.testing.assert_close(found, torch.nn.functional.rms_norm(x, (8,), weight, 1e-5))


def test_case_b_equals_torch() -> None:
    module = _golden("attention")["Attention"]
    assert isinstance(module, type)
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 2, 3, 5, 4).unbind()
    found = module()(q, k, v, torch.tensor(0.5))
    wanted = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=0.5)
    torch.testing.assert_close(found, wanted)


def test_case_c_equals_torch() -> None:
    module = _golden("block")["TransformerBlockPartial"]
    assert isinstance(module, type)
    torch.manual_seed(0)
    block = module(8, 12)
    x = torch.randn(2, 3, 8)
    state = dict(block.named_parameters())
    assert sorted(state) == ["ffn.w_down", "ffn.w_gate", "ffn.w_up", "norm.weight"]
    normed = torch.nn.functional.rms_norm(x, (8,), state["norm.weight"], 1e-6)
    gate, up = normed @ state["ffn.w_gate"], normed @ state["ffn.w_up"]
    wanted = x + (torch.nn.functional.silu(gate) * up) @ state["ffn.w_down"]
    torch.testing.assert_close(block(x), wanted)
