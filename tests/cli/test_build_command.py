from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, invoke

NORM = """let scale [D] (x : Tensor[F32, [D]]) (w : Tensor[F32, [D]]) (k : Tensor[F32, []])
    : Tensor[F32, [D]] =
  x * w * broadcast k [D]
"""
USER = """from good import twice

let four_times [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  twice[B, D] (twice[B, D] x)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.p0", GOOD), ("bad.p0", BAD), ("norm.p0", NORM), ("user.p0", USER)):
        (tmp_path / name).write_text(text)
    return tmp_path


def produced(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".p0"
    )


def test_one_file_gives_one_file_beside_it(folder: Path) -> None:
    result = invoke("build", "good.p0")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    assert produced(folder) == ["good.py"]
    assert "class Twice(nn.Module):" in (folder / "good.py").read_text()


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("out.py", "out.py"),
        ("new/deeper/out.py", "new/deeper/out.py"),
        ("new/", "new/good.py"),
        ("existing", "existing/good.py"),
        ("no_suffix", "no_suffix"),
    ],
)
def test_where_output_goes(folder: Path, output: str, expected: str) -> None:
    (folder / "existing").mkdir()
    assert invoke("build", "good.p0", "-o", output).exit_code == 0
    assert produced(folder) == [expected]


def test_standard_streams(folder: Path) -> None:
    printed = invoke("build", "good.p0", "-o", "-")
    assert "class Twice(nn.Module):" in printed.stdout
    piped = invoke("build", "-", stdin=GOOD)
    assert "class Twice(nn.Module):" in piped.stdout
    assert produced(folder) == []
    assert invoke("build", "-", "-o", "out.py", stdin=GOOD).exit_code == 0
    assert (folder / "out.py").read_text() == piped.stdout


def test_several_files_give_a_package(folder: Path) -> None:
    assert invoke("build", "good.p0", "user.p0", "-o", "package").exit_code == 0
    files = produced(folder)
    assert {"package/__init__.py", "package/good.py", "package/user.py"} <= set(files)


@pytest.mark.parametrize("output", [(), ("-o", "-"), ("-o", "good.p0")])
def test_several_files_need_a_folder(folder: Path, output: tuple[str, ...]) -> None:
    result = invoke("build", "good.p0", "norm.p0", *output)
    assert result.exit_code == 2
    assert "several files need -o DIR" in result.stderr
    assert produced(folder) == []


def test_state_from_the_command_line(folder: Path) -> None:
    arguments = ("build", "norm.p0", "-o", "-", "--param", "w=ones", "--const", "k=0.5")
    result = invoke(*arguments)
    assert result.exit_code == 0
    assert "nn.Parameter" in result.stdout
    assert "k: float = 0.5" in result.stdout


@pytest.mark.parametrize("text", ["w", "=ones", "w=", ""])
def test_state_that_is_no_pair(folder: Path, text: str) -> None:
    result = invoke("build", "norm.p0", "--param", text)
    assert result.exit_code == 2
    assert "is not NAME=VALUE" in result.stderr


def test_options_reach_the_emitter(folder: Path) -> None:
    bare = invoke("build", "good.p0", "-o", "-", "--checks", "none").stdout
    assert "raise" not in bare
    annotated = invoke("build", "good.p0", "-o", "-", "--annotate", "jaxtyping").stdout
    assert 'Float32[Tensor, "B D"]' in annotated


@pytest.mark.parametrize("target", ["compile", "xla", "tpu"])
def test_targets(folder: Path, target: str) -> None:
    text = invoke("build", "good.p0", "-o", "-", "--target", target).stdout
    assert "def compile_twice(" in text
    assert f"#     p0trans build good.p0 --target {target}\n" in text


@pytest.mark.parametrize("files", [("model/good.p0",), ("model/good.p0", "model/deep/norm.p0")])
def test_the_command_of_a_header_gives_the_text_again(
    folder: Path, files: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "model" / "deep").mkdir(parents=True)
    (folder / "good.p0").rename(folder / "model" / "good.p0")
    (folder / "norm.p0").rename(folder / "model" / "deep" / "norm.p0")
    options = ("--target", "compile", "--dynamic", "B", "-o")
    assert invoke("build", *files, *options, "out/").exit_code == 0
    command = (folder / "out" / "good.py").read_text().splitlines()[2]
    program, *words = shlex.split(command.removeprefix("#"))
    assert program == "p0trans"
    monkeypatch.chdir(folder / "model")
    assert invoke(*words, "-o", "../again/").exit_code == 0
    for path in (folder / "out").rglob("*.py"):
        again = folder / "again" / path.relative_to(folder / "out")
        assert again.read_bytes() == path.read_bytes()


def test_state_that_a_file_declares_itself(folder: Path) -> None:
    declared = f"{NORM}\nmodule Scale = scale with\n  param w = ones\n  const k = 2.0\n"
    (folder / "declared.p0").write_text(declared)
    for option, name, value in (
        ("--param", "w", "zeros"),
        ("--const", "k", "0.5"),
        ("--const", "w", "1.0"),
        ("--param", "x", "ones"),
    ):
        for command in ("build", "review"):
            result = invoke(command, "declared.p0", "-o", "out", option, f"{name}={value}")
            assert (result.exit_code, result.stdout) == (2, "")
            assert result.stderr.endswith(
                f"Error: `{option} {name}` has no effect: declared.p0 declares its modules, and"
                " with them what is state\n"
            )
    assert produced(folder) == []
    # It has an effect where another file of the package does not.
    flagged = ("build", "norm.p0", "declared.p0", "-o", "out/", "--param", "w=zeros")
    assert invoke(*flagged).exit_code == 0
    assert "nn.init.zeros_(self.w)" in (folder / "out" / "norm.py").read_text()
    assert "nn.init.ones_(self.w)" in (folder / "out" / "declared.py").read_text()


@pytest.mark.parametrize("text", ["", ",", "B,", " "])
def test_dynamic_dims_without_a_name(folder: Path, text: str) -> None:
    result = invoke("build", "good.p0", "--target", "compile", "--dynamic", text)
    assert result.exit_code == 2
    assert f"--dynamic: '{text}' is not NAME,NAME" in result.stderr


def test_dynamic_dims(folder: Path) -> None:
    arguments = ("--target", "compile", "--dynamic", "B, D", "--dynamic-shapes")
    text = invoke("build", "good.p0", "-o", "-", *arguments).stdout
    assert "maybe_mark_dynamic(x, 0)  # B" in text
    assert "def dynamic_shapes(self)" in text
    command = "p0trans build good.p0 --target compile --dynamic B,D --dynamic-shapes"
    assert f"#     {command}\n" in text
    assert invoke(*command.split()[1:], "-o", "-").stdout == text


def test_a_dynamic_dim_that_is_none(folder: Path) -> None:
    result = invoke("build", "good.p0", "--target", "compile", "--dynamic", "B,Q")
    assert result.exit_code == 2
    assert "--dynamic: `Q` does not vary in the inputs of a module; these do: B, D" in result.stderr
    assert produced(folder) == []


def test_dynamic_dims_need_a_target(folder: Path) -> None:
    result = invoke("build", "good.p0", "--dynamic", "B")
    assert result.exit_code == 2
    assert "dynamic dims need target compile, not torch" in result.stderr


def test_a_wrong_program_writes_nothing(folder: Path) -> None:
    result = invoke("build", "bad.p0", "good.p0", "-o", "package/")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error[P0101]")
    assert produced(folder) == []
    assert not (folder / "package").exists()


def test_findings_in_other_formats(folder: Path) -> None:
    result = invoke("build", "bad.p0", "--format", "json")
    assert json.loads(result.stderr)["code"] == "P0101"


def test_a_missing_file_writes_nothing(folder: Path) -> None:
    result = invoke("build", "good.p0", "missing.p0", "-o", "package/")
    assert result.exit_code == 1
    assert "error[P1201]" in result.stderr
    assert produced(folder) == []


def test_a_file_that_declares_nothing_cannot_be_built(folder: Path) -> None:
    (folder / "empty.p0").write_text("// nothing\n")
    result = invoke("build", "empty.p0")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[P1206]: `empty.p0` declares nothing")
    assert produced(folder) == []


def test_a_source_is_not_overwritten(folder: Path) -> None:
    result = invoke("build", "good.p0", "-o", "good.p0")
    assert result.exit_code == 1
    assert "it is the source that is being translated" in result.stderr
    assert (folder / "good.p0").read_text() == GOOD


def test_a_target_that_cannot_be_written(folder: Path) -> None:
    result = invoke("build", "good.p0", "-o", "norm.p0/good.py")
    assert result.exit_code == 1
    assert result.stderr.startswith("error[P1205]: ")
    assert "Traceback" not in result.stderr
