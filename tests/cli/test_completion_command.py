"""Shell completion: the scripts, and what they are answered."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from p0trans.cli import COMMANDS
from p0trans.diagnostics.codes import table
from p0trans.ops import OPERATIONS
from tests.cli.support import invoke, on_path, run


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rmsnorm.p0", "rope.p0", "rope.py", "lowered.mlir", ".hidden.p0", "model/a.p0"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "model" / "deep").mkdir()
    (tmp_path / "model" / "deep" / "b.p0").touch()
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    (tmp_path / "outer" / "inner" / "c.p0").touch()
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)


def completed(*words: str, shell: str = "bash") -> Sequence[str]:
    """What a shell's script gets for the last of `words`."""
    environment = {"_P0TRANS_COMPLETE": f"{shell}_complete"}
    # The script for fish passes the word, those for the others say which it is.
    last = words[-1] if shell == "fish" else str(len(words))
    environment |= {"COMP_WORDS": " ".join(("p0trans", *words)), "COMP_CWORD": last}
    lines = run([], environment=environment).stdout.decode().splitlines()
    return [line for line in lines if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_p0trans(shell: str) -> None:
    result = invoke("completion", shell)
    assert result.exit_code == 0
    assert f"_P0TRANS_COMPLETE={shell}_complete" in result.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=result.stdout, text=True, check=False)
        assert checked.returncode == 0


def test_another_shell() -> None:
    result = invoke("completion", "tcsh")
    assert (result.exit_code, result.stdout) == (2, "")


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_the_script_completes_in_bash(tmp_path_factory: pytest.TempPathFactory) -> None:
    script = (
        'eval "$(p0trans completion bash)"\n'
        "COMP_WORDS=(p0trans check r); COMP_CWORD=2\n"
        '_p0trans_completion p0trans; echo "${COMPREPLY[@]}"\n'
    )
    path = on_path(tmp_path_factory.mktemp("bin"))
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": path},
        check=False,
    )
    assert done.stdout == "rmsnorm.p0 rope.p0\n"


def test_commands_and_options() -> None:
    assert completed("") == [f"plain,{name}" for name in COMMANDS]
    assert completed("ledger", "--format", "") == [
        f"plain,{name}" for name in ("text", "md", "html", "json", "csv")
    ]


@pytest.mark.parametrize("command", ["check", "build", "ir", "ledger", "verify", "explain"])
def test_programs(command: str) -> None:
    assert completed(command, "r") == ["plain,rmsnorm.p0", "plain,rope.p0"]


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("", ["empty/", "model/", "outer/", "rmsnorm.p0", "rope.p0"]),
        ("m", ["model/a.p0", "model/deep/"]),
        ("o", ["outer/inner/c.p0"]),
        ("model/d", ["model/deep/b.p0"]),
        ("./ro", ["./rope.p0"]),
        (".h", [".hidden.p0"]),
        ("e", ["empty/"]),
        ("x", []),
        ("no/x", []),
    ],
)
def test_folders(word: str, found: list[str]) -> None:
    assert completed("check", word) == [f"plain,{path}" for path in found]


def test_programs_and_stablehlo_for_export() -> None:
    assert completed("export", "lo") == ["plain,lowered.mlir"]
    assert completed("check", "lo") == []


def test_emitted_files_for_where() -> None:
    assert completed("where", "ro") == ["plain,rope.py"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("ledger", "net.p0", "--def", ""), ["Net", "add", "net"]),
        (("verify", "add.p0", "net.p0", "--def", "A"), ["Add"]),
        (("verify", "--grad", "add.p0", "--def", ""), ["Add", "add"]),
        (("export", "net.p0", "--module", ""), ["Net"]),
        (("export", "add.p0", "--module", ""), ["Add"]),
        (("ledger", "broken.p0", "--def", ""), ["Add", "add"]),
        (("ledger", "no.p0", "--def", ""), []),
        (("ledger", "--def", ""), []),
        (("verify", "x.p0", "--on", ""), ["eager", "compile", "xla"]),
        (("verify", "x.p0", "--on", "eager,"), ["eager,compile", "eager,xla"]),
        (("verify", "x.p0", "--on", "xla,eager,c"), ["xla,eager,compile"]),
    ],
)
def test_values_of_options(words: tuple[str, ...], found: list[str]) -> None:
    add = "let add [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x + x\n"
    net = f"{add}let net [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = add[B] x\n"
    Path("add.p0").write_text(add)
    Path("net.p0").write_text(f"{net}module Net = net\n")
    Path("broken.p0").write_text(f"{add}let wrong [B] (x : Tensor[F32, [B]]) =\n")
    assert completed(*words) == [f"plain,{value}" for value in found]


@pytest.mark.parametrize(
    "words",
    [
        ("build", "-o"),
        ("review", "-o"),
        ("review", "--against"),
        ("export", "-o"),
        ("export", "--tpu-python"),
        ("where", "--map"),
        ("where", "--traceback"),
    ],
)
def test_paths_of_options_are_left_to_the_shell(words: tuple[str, ...]) -> None:
    assert completed(*words, "r") == ["file,r"]


@pytest.mark.parametrize("name", ["two words.p0", "a$b.p0", "a\nb.p0"])
def test_names_that_a_shell_has_to_quote_are_left_to_it(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    assert completed("check", "")[0] == "file,"


def test_codes_and_operations() -> None:
    codes = [code for code in table() if code.startswith("P05")]
    assert completed("explain", "p05") == [f"plain,{code}" for code in codes]
    assert completed("ops", "red") == ["plain,reduce", "plain,reduce_keep"]
    lines = completed("explain", "P", shell="fish")
    assert len(lines) == len(table())
    assert all(line.count(",") == 1 for line in lines)
    assert len(completed("ops", "")) == len(OPERATIONS)
