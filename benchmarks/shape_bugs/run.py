"""What PyTorch, jaxtyping, pyrefly and p0trans say of ten well-known shape bugs.

    python benchmarks/shape_bugs/run.py [--tools PYTHON]

A folder is a bug: `bug.py` has it in PyTorch, `bug.p0` in Phase 0, and `right.p0` is what was
meant. `jaxtyped.py` (for jaxtyping with beartype and with typeguard, when it runs) and `shaped.py`
(for pyrefly with its stubs for torch, before it runs) are the PyTorch with types: once at the
signature alone, once at each step as well, and once without the bug. PYTHON is an interpreter that
has torch, jaxtyping, beartype, typeguard, pyrefly and pyrefly-torch-stubs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from p0trans.diagnostics.model import Diagnostic

HERE = Path(__file__).parent
CASES = tuple(sorted(path for path in HERE.iterdir() if re.match(r"\d\d_", path.name)))
CHECKERS = ("beartype.beartype", "typeguard.typechecked")
FUNCTIONS = ("by_signature", "by_step", "right")
SILENT = "wrong value"
AT_SOME_SIZES = "wrong value at some sizes, error at others"
_PROBE = """
import json, sys
import torch
from jaxtyping import install_import_hook

folder, checker = sys.argv[1:]
sys.path.insert(0, folder)
with install_import_hook("jaxtyped", checker):
    import jaxtyped
import bug

torch.manual_seed(0)
said = {}
for name in ("by_signature", "by_step", "right"):
    try:
        getattr(jaxtyped, name)(*bug.silent())
        said[name] = False
    except Exception:
        said[name] = True
print(json.dumps(said))
"""


def load(path: Path) -> ModuleType:
    """The Python file at `path` as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"shape_bug_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pytorch(case: Path) -> str:
    """What PyTorch does: the program is run and held against the module of `right.p0`."""
    program = load(case / "bug.py")
    inputs = example(case)
    if same(program.bug(*inputs), result(case / "right.p0", inputs)):
        return "right value"
    if not hasattr(program, "loud"):
        return SILENT
    try:
        program.bug(*program.loud())
    except RuntimeError:
        return AT_SOME_SIZES
    return SILENT


def example(case: Path) -> tuple[Any, ...]:
    """Inputs that the program with the bug takes without a word."""
    import torch

    torch.manual_seed(0)
    inputs: tuple[Any, ...] = load(case / "bug.py").silent()
    return inputs


def result(program: Path | str, inputs: tuple[Any, ...]) -> Any:
    """What the one module of a Phase 0 program, given as a path or a text, makes of `inputs`."""
    import p0trans

    module = p0trans.load(program)
    (name,) = module.__all__
    return getattr(module, name)()(*inputs)


def same(left: Any, right: Any) -> bool:
    import torch

    return left.shape == right.shape and torch.allclose(left, right, rtol=1e-3, atol=1e-3)


def fix(case: Path) -> str:
    """What the fixes of p0trans make of `bug.p0`."""
    from p0trans.diagnostics.apply import fix_until_stable
    from p0trans.driver import check_sources
    from p0trans.files import read_source
    from p0trans.source import Source

    def check(current: Source) -> Sequence[Diagnostic]:
        return check_sources([current]).diagnostics

    source = read_source(case / "bug.p0")
    assert isinstance(source, Source)
    fixed, _ = fix_until_stable(source, check)
    if fixed.text == source.text:
        return "to review" if any(found.fixes for found in check(source)) else "none"
    inputs = example(case)
    meant = same(result(fixed.text, inputs), result(case / "right.p0", inputs))
    return "what was meant" if meant else "well typed, not what was meant"


def p0trans_codes(path: Path) -> tuple[str, ...]:
    """The codes of all findings of p0trans in a file."""
    import p0trans

    return tuple(finding.code for finding in p0trans.check(path).diagnostics)


def run_time(case: Path, python: str, checker: str) -> dict[str, bool]:
    """Which functions of `jaxtyped.py` raise when jaxtyping checks them with `checker`."""
    command = [python, "-c", _PROBE, str(case), checker]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    said: dict[str, bool] = json.loads(run.stdout)
    return said


def static(case: Path, python: str) -> dict[str, bool]:
    """In which functions of `shaped.py` pyrefly finds an error."""
    path = case / "shaped.py"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "pyrefly.toml"
        config.write_text('preset = "default"\n')
        command = [str(Path(python).parent / "pyrefly"), "check", str(path)]
        command += ["--python-interpreter-path", python, "--config", str(config)]
        command += ["--output-format", "json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [int(error["line"]) for error in json.loads(run.stdout)["errors"]]
    starts = [
        (number, match[1])
        for number, text in enumerate(path.read_text().splitlines(), start=1)
        if (match := re.match(r"def (\w+)\(", text))
    ]
    found = dict.fromkeys(FUNCTIONS, False)
    for line in lines:
        found[[name for start, name in starts if start <= line][-1]] = True
    return found


def verdict(found: dict[str, bool]) -> str:
    """A tool's answer in words; that it also refuses the right program is part of it."""
    if found["right"]:
        return "error, of the right program too"
    if found["by_signature"]:
        return "error"
    return "error, if each step has its type" if found["by_step"] else "nothing"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", metavar="PYTHON", help="an interpreter that has the tools")
    python = parser.parse_args().tools
    for case in CASES:
        print(f"{case.name}\n  PyTorch: {pytorch(case)}")
        if python:
            for checker in CHECKERS:
                said = verdict(run_time(case, python, checker))
                print(f"  jaxtyping, {checker.split('.')[0]}: {said}")
            print(f"  pyrefly: {verdict(static(case, python))}")
        print(f"  p0trans: {' '.join(p0trans_codes(case / 'bug.p0')) or 'nothing'}")
        print(f"  fix: {fix(case)}")


if __name__ == "__main__":
    main()
