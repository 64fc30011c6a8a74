"""`p0trans export --to tpu`: the report and what can go wrong, and libtpu itself where it is.

`make test-tpu` names the Python that has jax and libtpu, and then nothing is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from p0trans.cli.export import command
from p0trans.tools import tpu_aot
from p0trans.tools.tpu_aot import GIB, Report, TpuError, Usage, compile_for_tpu

ROOT = Path(__file__).parents[2]
CASEBOOK = ROOT / "examples" / "casebook"
VARIABLE = "P0TRANS_TPU_PYTHON"
USAGE = Usage(
    flops=2e9, bytes_accessed=3e6, arguments=8 * GIB, outputs=GIB, temporaries=2 * GIB, code=512
)
REPORT = Report(
    topology="v5e:2x2",
    device_kind="TPU v5 lite",
    devices=4,
    jax="0.10.2",
    libtpu="0.0.42.1",
    hbm=16 * GIB,
    usage=USAGE,
    refusal=None,
)


def _matmul(size: int) -> str:
    """StableHLO of the product of two square matrices."""
    matrix = f"tensor<{size}x{size}xf32>"
    return f"""module @product {{
  func.func @main(%arg0: {matrix}, %arg1: {matrix}) -> {matrix} {{
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0]
      : ({matrix}, {matrix}) -> {matrix}
    return %0 : {matrix}
  }}
}}
"""


def _run(*arguments: str, python: str | None = None) -> Result:
    return CliRunner(env={VARIABLE: python}).invoke(command, arguments)


def _script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\ncat > /dev/null\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def mlir(tmp_path: Path) -> str:
    path = tmp_path / "product.mlir"
    path.write_text(_matmul(1024))
    return str(path)


def test_a_report_as_text() -> None:
    assert tpu_aot.render_text("Norm", REPORT) == (
        "Norm for TPU v5 lite, one of 4 devices of v5e:2x2 (jax 0.10.2, libtpu 0.0.42.1)\n"
        "  FLOPs                     2,000,000,000\n"
        "  bytes accessed                3,000,000\n"
        "  arguments           8,589,934,592 bytes\n"
        "  outputs             1,073,741,824 bytes\n"
        "  temporaries         2,147,483,648 bytes\n"
        "  code                          512 bytes\n"
        "  memory in all      11,811,160,576 bytes\n"
        "It fits: it takes 68.8% of the 16 GiB of a device.\n"
    )


@pytest.mark.parametrize(
    ("report", "fits", "words"),
    [
        (replace(REPORT, hbm=8 * GIB), False, "It does not fit: it takes 138% of the 8 GiB"),
        (replace(REPORT, hbm=None), True, "how much memory the device has is not known"),
        (replace(REPORT, usage=None, refusal="Out."), False, "It does not fit: Out."),
    ],
)
def test_what_fits(report: Report, fits: bool, words: str) -> None:
    assert report.fits is fits
    assert words in tpu_aot.render_text("Norm", report)
    assert json.loads(tpu_aot.render_json("Norm", report))["fits"] is fits


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--to", "tpu"), "--to tpu needs --topology, such as v5e:2x2"),
        (("--topology", "v5e:2x2"), "--topology goes with --to tpu"),
        (("--tpu-python", "python"), "--tpu-python goes with --to tpu"),
        (("--to", "tpu", "--topology", "v5e"), "'v5e' is not GENERATION:AxB or"),
        (("--to", "tpu", "--topology", "v5e:0x2"), "'v5e:0x2' is not GENERATION:AxB or"),
        (("--to", "tpu", "--topology", "v5e:2x2", "--dims", "B=2"), "neither --module nor --dims"),
        (("--to", "tpu", "--topology", "v5e:2x2", "--module", "M"), "neither --module nor --dims"),
    ],
)
def test_arguments_that_are_wrong(arguments: tuple[str, ...], words: str, mlir: str) -> None:
    result = _run(mlir, *arguments, python=sys.executable)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_missing_jax_is_said_before_work_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "p0trans.tools.tpu_aot.find_spec", lambda name: None if name == "jax" else find_spec("json")
    )
    result = _run("no_such_file.p0", "--to", "tpu", "--topology", "v5e:2x2")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == (
        "Error: compiling for a TPU needs jax: pip install 'p0trans[tpu-aot]' in an environment "
        "without torch_xla, and name its Python with --tpu-python\n"
    )


def test_missing_jax_where_the_named_python_is() -> None:
    done = subprocess.run(
        [sys.executable, "-I", "-S", tpu_aot.__file__, "v5e:2x2"],
        input=_matmul(8),
        capture_output=True,
        text=True,
        check=True,
    )
    (sentence,) = json.loads(done.stdout).values()
    assert sentence.startswith("compiling for a TPU needs jax and libtpu: pip install")


def test_another_jax_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def compiled(stablehlo: str, topology: str) -> Report:
        raise AttributeError("no DeviceList")

    monkeypatch.setattr("p0trans.tools.tpu_aot.missing", lambda: None)
    monkeypatch.setattr("p0trans.tools.tpu_aot.version", lambda name: "0.99")
    monkeypatch.setattr("p0trans.tools.tpu_aot._compiled", compiled)
    sentence = "jax 0.99 is not understood, 0.10.2 is: no DeviceList"
    assert tpu_aot._answer(_matmul(8), "v5e:2x2") == {"error": sentence}


def test_a_python_that_is_not_there(mlir: str) -> None:
    result = _run(mlir, "--to", "tpu", "--topology", "v5e:2x2", "--tpu-python", "/no/python")
    assert result.exit_code == 1
    assert result.stderr == "Error: /no/python cannot be run: No such file or directory\n"


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("echo one >&2; echo two >&2; exit 3", "the compiler for TPUs broke off: two"),
        ("exit 3", "the compiler for TPUs broke off: exit status 3"),
        ("""echo '{"error": "it rains"}'""", "it rains"),
    ],
)
def test_a_compiler_that_fails(script: str, sentence: str, tmp_path: Path, mlir: str) -> None:
    python = _script(tmp_path / "python", script)
    result = _run(mlir, "--to", "tpu", "--topology", "v5e:2x2", python=python)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {sentence}\n"


def test_what_the_compiler_answers_is_reported(tmp_path: Path, mlir: str) -> None:
    answer = json.loads(tpu_aot.render_json("", replace(REPORT, hbm=8 * GIB)))
    del answer["name"], answer["fits"]
    python = _script(tmp_path / "python", f"echo '{json.dumps(answer)}'")
    arguments = (mlir, "--to", "tpu", "--topology", "v5e:2x2", "--format", "json")
    result = _run(*arguments, python=python)
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {**answer, "name": mlir, "fits": False}
    to_file = _run(*arguments, "-o", str(tmp_path / "report.json"), python=python)
    assert (to_file.exit_code, to_file.output) == (1, "")
    assert (tmp_path / "report.json").read_text() == result.stdout


def test_the_script_imports_only_the_standard_library() -> None:
    code = f"import runpy, sys; runpy.run_path({tpu_aot.__file__!r}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    roots = {name.partition(".")[0] for name in done.stdout.split()}
    assert roots <= {*sys.stdlib_module_names, "__main__"}


def test_the_extra_pins_the_version_that_is_understood() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extra = project["optional-dependencies"]["tpu-aot"]
    assert f"jax[tpu]=={tpu_aot.JAX_VERSION}" in extra


# From here on with libtpu.


@pytest.fixture
def tpu_python() -> str | None:
    """The Python to compile with; None is this one."""
    python = os.environ.get(VARIABLE)
    if python is None:
        pytest.importorskip("jax")
        pytest.importorskip("libtpu")
    return python


def _reported(tpu_python: str | None, *arguments: str) -> dict[str, Any]:
    """In a process of its own, since torch_xla keeps the one that it is imported in."""
    environment = {**os.environ, "PJRT_DEVICE": "CPU"}
    if tpu_python is not None:
        environment[VARIABLE] = tpu_python
    options = ("--to", "tpu", "--topology", "v5e:2x2", "--format", "json")
    done = subprocess.run(
        [sys.executable, "-m", "p0trans", "export", *arguments, *options],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_case_a_compiles_for_v5e(tpu_python: str | None) -> None:
    file = str(CASEBOOK / "rmsnorm.p0")
    dims = ("--dims", "B=2,S=128,D=256")
    found = _reported(tpu_python, file, *dims)
    assert (found["device_kind"], found["devices"], found["fits"]) == ("TPU v5 lite", 4, True)
    assert found["hbm"] == 16 * GIB
    usage = Usage(**found["usage"])
    elements = 2 * 128 * 256
    assert usage.flops >= 4 * elements
    assert usage.outputs == 4 * elements
    assert usage.arguments >= 4 * elements + 4 * 256
    assert usage.code > 0


def test_the_block_compiles_for_v5e(tpu_python: str | None) -> None:
    batch, length, width, hidden = 2, 128, 256, 1024
    dims = f"B={batch},S={length},D={width},H={hidden}"
    module = "TransformerBlockPartial"
    found = _reported(tpu_python, str(CASEBOOK / "block.p0"), "--module", module, "--dims", dims)
    assert (found["name"], found["fits"]) == (module, True)
    products = 3 * 2 * batch * length * width * hidden
    assert products <= found["usage"]["flops"] <= 1.05 * products


@pytest.mark.parametrize(
    ("topology", "kind", "devices", "hbm"),
    [
        ("v4:2x2x1", "TPU v4", 8, 16),
        ("v5e:1x1", "TPU v5 lite", 1, 16),
        ("v5p:2x2x1", "TPU v5", 4, 95),
        ("v6e:2x2", "TPU v6 lite", 4, 32),
        ("tpu7x:2x2x1", "TPU7x", 8, 96),
    ],
)
def test_a_product_on_each_generation(
    topology: str, kind: str, devices: int, hbm: int, tpu_python: str | None
) -> None:
    report = compile_for_tpu(_matmul(1024), topology, tpu_python)
    assert (report.device_kind, report.devices, report.hbm) == (kind, devices, hbm * GIB)
    assert report.usage is not None
    assert report.usage.flops == 2 * 1024**3
    assert (report.usage.arguments, report.usage.outputs) == (8 * 2**20, 4 * 2**20)
    assert report.fits


def test_what_is_too_large(tpu_python: str | None) -> None:
    report = compile_for_tpu(_matmul(40960), "v5e:2x2", tpu_python)
    assert not report.fits
    assert report.refusal is not None
    assert report.refusal.startswith("Ran out of memory on HBM")
    assert compile_for_tpu(_matmul(40960), "v6e:2x2", tpu_python).fits


@pytest.mark.parametrize(
    ("text", "topology", "words"),
    [
        (_matmul(8), "v9:2x2", "libtpu has no topology v9:2x2: "),
        (_matmul(8), "v5e:3x5", "libtpu has no topology v5e:3x5: "),
        ("module { nonsense }", "v5e:2x2", "the text is no StableHLO: 1:10: "),
        (_matmul(8).replace("%0 :", "%1 :"), "v5e:2x2", "the text is no StableHLO: 5:"),
        ("module {}", "v5e:2x2", "libtpu does not compile it: "),
    ],
)
def test_what_is_refused(text: str, topology: str, words: str, tpu_python: str | None) -> None:
    with pytest.raises(TpuError) as caught:
        compile_for_tpu(text, topology, tpu_python)
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)
