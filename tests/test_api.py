"""The Python API: check, translate and load."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import pytest
import torch

import p0trans
from p0trans.driver import build_sources
from p0trans.source import Source

CASEBOOK = Path(__file__).parent.parent / "examples" / "casebook"
RMSNORM = CASEBOOK / "rmsnorm.p0"
DOUBLE = "let double [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] = x + x\n"


def test_load_from_path_and_text() -> None:
    x = torch.arange(3.0)
    assert torch.equal(p0trans.load(DOUBLE).Double()(x), x * 2)
    assert torch.equal(
        p0trans.load(str(RMSNORM)).Rmsnorm()(x.expand(1, 1, 3), torch.ones(3), torch.tensor(0.0)),
        p0trans.load(RMSNORM).Rmsnorm()(x.expand(1, 1, 3), torch.ones(3), torch.tensor(0.0)),
    )


def test_state_from_arguments_is_state_from_a_declaration() -> None:
    declared = RMSNORM.read_text() + (
        "\nmodule Rmsnorm = rmsnorm with\n  param weight = ones\n  const eps = 1e-6\n"
    )
    flagged = p0trans.load(RMSNORM, params={"weight": "ones"}, consts={"eps": "1e-6"})
    x = torch.randn(2, 3, 8)
    assert torch.equal(flagged.Rmsnorm(8)(x), p0trans.load(declared).Rmsnorm(8)(x))
    assert list(flagged.Rmsnorm(8).state_dict()) == ["weight"]


@pytest.mark.parametrize(
    ("params", "code"),
    [({"weigth": "ones"}, "P0913"), ({"weight": "one"}, "P0905"), ({"weight": "normal("}, "P0")],
)
def test_wrong_state_arguments(params: dict[str, str], code: str) -> None:
    with pytest.raises(p0trans.TranslationError) as caught:
        p0trans.translate(RMSNORM, params=params)
    assert caught.value.diagnostics[0].code.startswith(code)


def test_state_arguments_for_what_is_declared() -> None:
    declared = f"{RMSNORM.read_text()}\nmodule Norm = rmsnorm with\n  param weight = ones\n"
    with pytest.raises(ValueError, match="`--const eps` has no effect"):
        p0trans.translate(declared, consts={"eps": "1e-6"})


def test_a_wrong_program_raises_with_its_findings() -> None:
    with pytest.raises(p0trans.TranslationError, match="P0101") as caught:
        p0trans.translate("let f [N] (x : Tensor[F32, [N]]) : Tensor[F32, [N]] = y\n")
    assert [d.code for d in caught.value.diagnostics] == ["P0101"]


def test_a_missing_file_raises() -> None:
    with pytest.raises(p0trans.TranslationError, match="P1201"):
        p0trans.check("no/such/file.p0")


def test_an_empty_program_is_not_translated() -> None:
    with pytest.raises(p0trans.TranslationError, match="P1206"):
        p0trans.translate("// nothing here\n")


def test_modules_with_one_class_name() -> None:
    """Definitions whose names differ, and whose class names would not, give two classes."""
    text = DOUBLE.replace("double", "foo_bar") + DOUBLE.replace("double", "fooBar")
    module = p0trans.load(text)
    assert len(module.__all__) == 2
    for name in module.__all__:
        assert getattr(module, name)()(torch.ones(2)).tolist() == [2.0, 2.0]


def test_a_package_imports_as_the_sources_do(tmp_path: Path) -> None:
    (tmp_path / "norm.p0").write_text(RMSNORM.read_text())
    (tmp_path / "twice.p0").write_text(
        "from norm import rmsnorm\n"
        "let twice [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D]]) "
        "(eps : Tensor[F32, []]) : Tensor[F32, [B, S, D]] =\n"
        "  rmsnorm[B, S, D] (rmsnorm[B, S, D] x w eps) w eps\n"
    )
    from p0trans.driver import Options
    from p0trans.files import read_source

    sources = [read_source(tmp_path / name) for name in ("norm.p0", "twice.p0")]
    good = [source for source in sources if isinstance(source, Source)]
    built = build_sources(good, Options(layout="package"))
    texts = {file.path: file.text for file in built.files}
    assert {"__init__.py", "norm.py", "twice.py"} <= set(texts)
    assert "from .norm import rmsnorm" in texts["twice.py"]


def test_a_loaded_module_compiles_inside_another_and_pickles() -> None:
    """torch.compile and pickle look a class up by the name of its module."""
    norm = p0trans.load(RMSNORM).Rmsnorm()

    class Outer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = norm

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.norm(x, torch.ones(4), torch.tensor(1e-6))
            return y

    x = torch.randn(1, 2, 4)
    compiled = torch.compile(Outer(), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x), Outer()(x))
    assert type(pickle.loads(pickle.dumps(norm))) is type(norm)
    assert type(copy.deepcopy(norm)) is type(norm)
