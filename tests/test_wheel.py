"""The wheel, installed where there is no PyTorch: it has its templates and translates."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CASEBOOK = ROOT / "examples" / "casebook"


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel and what it depends on, and nothing else."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
    run(*build, folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    run(python, *pip, wheel, cwd=folder)
    return python


def test_translates_without_torch(python: Path, tmp_path: Path) -> None:
    (tmp_path / "block.p0").write_text((CASEBOOK / "block.p0").read_text())
    torch = "import importlib.util as u; print(u.find_spec('torch'), u.find_spec('numpy'))"
    assert run(python, "-c", torch, cwd=tmp_path) == "None None\n"
    run(python, "-m", "p0trans", "check", "block.p0", cwd=tmp_path)
    run(python, "-m", "p0trans", "build", "block.p0", cwd=tmp_path)
    golden = (ROOT / "golden" / "casebook" / "block.py").read_text()
    assert (tmp_path / "block.py").read_text() == golden


def test_ships_the_standard_library_and_the_pages(python: Path, tmp_path: Path) -> None:
    (tmp_path / "use.p0").write_text(
        "from std.norm import rmsnorm\n"
        "let twice [B, S, D] (x : Tensor[F32, [B, S, D]]) (w : Tensor[F32, [D]]) "
        "(eps : Tensor[F32, []]) : Tensor[F32, [B, S, D]] =\n"
        "  rmsnorm[B, S, D] (rmsnorm[B, S, D] x w eps) w eps\n"
    )
    assert "class Twice" in run(python, "-m", "p0trans", "build", "use.p0", "-o", "-", cwd=tmp_path)
    assert "reduce_keep" in run(python, "-m", "p0trans", "explain", "P0504", cwd=tmp_path)


def test_makes_a_project_and_its_ledger(python: Path, tmp_path: Path) -> None:
    run(python, "-m", "p0trans", "new", "fresh", cwd=tmp_path)
    page = ("ledger", "fresh/fresh.p0", "--format", "html")
    assert "<table>" in run(python, "-m", "p0trans", *page, cwd=tmp_path)


def test_the_version_is_one(python: Path, tmp_path: Path) -> None:
    import p0trans

    assert p0trans.__version__ in run(python, "-m", "p0trans", "--version", cwd=tmp_path)
