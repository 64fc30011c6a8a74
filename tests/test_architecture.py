"""The layers: nothing imports upwards, and translating imports nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "p0trans"

# Each room with the rooms that it may import from, itself included.
LAYERS: dict[str, frozenset[str]] = {}


def _layer(name: str, *below: str) -> None:
    LAYERS[name] = frozenset({name, *(room for one in below for room in LAYERS[one])})


_layer("source")
_layer("dtypes")
_layer("importing")
_layer("diagnostics", "source")
_layer("files", "diagnostics")
_layer("syntax", "diagnostics")
_layer("shapes", "dtypes")
LAYERS["types"] = frozenset({"types", "dtypes", "shapes"})
LAYERS["shapes"] |= {"types"}
_layer("ops", "shapes")
_layer("ir", "ops", "source")
_layer("checker", "ir", "syntax")
_layer("targets")
_layer("rewrite", "ir", "targets")
_layer("emit", "ir", "targets")
_layer("interpret", "ir")
_layer("driver", "checker", "rewrite", "emit", "files")
_layer("api", "driver", "importing")
_layer("highlight", "syntax", "ops")
_layer("tools", "driver", "interpret", "importing", "highlight")
_layer("lsp", "tools")
_layer("cli", "tools", "api", "lsp")


def _room(module: str) -> str:
    return module.split(".")[1]


def _imports(path: Path) -> set[str]:
    """The modules of p0trans that a file imports, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module == "p0trans" else {node.module}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("p0trans.")}


FILES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem in LAYERS
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_backwards(path: Path) -> None:
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    rooms = {_room(module) for module in _imports(path)} - {"__version__"}
    assert rooms <= LAYERS[room]


def test_every_room_has_its_place() -> None:
    rooms = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in PACKAGE.rglob("*.py")
    }
    assert rooms - {"__init__", "__main__"} <= set(LAYERS)


def _imported(code: str) -> set[str]:
    """The top-level modules that a fresh process has imported after running `code`."""
    script = f"{code}\nimport sys\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    run = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    return set(run.stdout.splitlines()[-1].split())


CASEBOOK = PACKAGE.parent / "examples" / "casebook"


def test_translating_needs_no_torch_and_no_numpy() -> None:
    names = _imported(f"import p0trans; p0trans.translate(r'{CASEBOOK / 'block.p0'}')")
    assert {"black", "jinja2"} <= names
    assert not names & {"torch", "numpy", "ml_dtypes", "torch_xla"}


@pytest.mark.parametrize("example", ["rmsnorm", "attention", "block"])
def test_checking_imports_nothing_heavy(example: str) -> None:
    path = CASEBOOK / f"{example}.p0"
    names = _imported(
        "from p0trans.cli import main\n"
        f"try:\n    main(['check', r'{path}'])\n"
        "except SystemExit as stop:\n    assert not stop.code"
    )
    assert "lark" in names
    assert not names & {"torch", "numpy", "black", "jinja2", "islpy", "sympy"}
