"""What only a process of its own shows: imports, encodings, signals and streams."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import BAD, GOOD, heed_interruptions, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX streams and signals")


def test_checking_imports_only_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "good.p0").write_text(GOOD)
    program = (
        "import sys\n"
        "from p0trans.cli import main\n"
        "try:\n"
        "    main(['check', sys.argv[1]])\n"
        "finally:\n"
        "    heavy = {'torch', 'numpy', 'black', 'jinja2', 'islpy', 'sympy'}\n"
        "    print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "good.p0")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "no problems in 1 file\n[]\n"


def test_building_does_not_import_torch_or_numpy(tmp_path: Path) -> None:
    (tmp_path / "good.p0").write_text(GOOD)
    program = (
        "import sys\n"
        "from p0trans.cli import main\n"
        "try:\n"
        "    main(['build', sys.argv[1]])\n"
        "finally:\n"
        "    print(sorted({'torch', 'numpy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "good.p0")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_exit_statuses(tmp_path: Path) -> None:
    assert run(["check", "-"], stdin=GOOD.encode()).returncode == 0
    assert run(["check", "-"], stdin=BAD.encode()).returncode == 1
    assert run(["check"]).returncode == 2
    assert run(["build", str(tmp_path / "missing.p0")]).returncode == 1
    assert run(["explain", "nothing"]).returncode == 2
    assert run(["--version"]).returncode == 0


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_locales_without_the_characters(environment: dict[str, str], tmp_path: Path) -> None:
    path = tmp_path / "norm_é_形.p0"
    path.write_text(BAD.replace("Twice", "Ω 形") + "// 形\n", encoding="utf-8")
    done = run(["check", path.name], environment=environment, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith(b"error[P0101]")
    assert done.stderr == b""
    source = GOOD.replace("Twice", "Ω 形").encode()
    emitted = run(["build", "-"], stdin=source, environment=environment)
    assert emitted.returncode == 0
    assert "Ω 形 the input." in emitted.stdout.decode()


def test_a_name_that_is_not_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.p0")
    try:
        (tmp_path / name).write_text(BAD)
    except OSError:
        pytest.skip("this file system wants names that are text")
    done = run(["check", name], cwd=tmp_path)
    assert done.returncode == 1
    assert b"caf\\udce9.p0:3:7" in done.stdout


@pytest.mark.parametrize("command", [["ops"], ["check", "-"]])
def test_a_reader_who_goes_away_ends_it_quietly(command: list[str]) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "p0trans", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interruptions,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    process.stdin.write(BAD.encode())
    process.stdin.close()
    assert process.stderr.read() == b""
    assert process.wait() == 141
    process.stderr.close()


NEEDS_FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@NEEDS_FULL
@pytest.mark.parametrize("command", [["ops"], ["--help"], ["--version"], ["check", "--help"]])
def test_a_full_disk_behind_standard_output(command: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "p0trans", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == b"Error: the output cannot be written: No space left on device\n"


@NEEDS_FULL
@pytest.mark.parametrize(
    ("command", "status"),
    [(["build", "-"], 0), (["explain", "nothing"], 2), (["nothing"], 2), (["ir", "absent.p0"], 1)],
)
def test_a_full_disk_behind_standard_error(command: list[str], status: int) -> None:
    """It changes neither the result nor the exit status."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "p0trans", *command],
            input=GOOD.encode(),
            stdout=subprocess.PIPE,
            stderr=full,
            check=False,
        )
    assert done.returncode == status
    assert bool(done.stdout) is (status == 0)


def test_a_server_without_standard_output() -> None:
    command = f"{sys.executable} -m p0trans lsp >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, input=b"", check=False)
    assert done.returncode == 1
    assert done.stderr == b"Error: the language server needs standard input and output\n"


def test_no_standard_streams() -> None:
    command = f"{sys.executable} -m p0trans check - <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 1


def test_an_interruption_ends_it_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _ANNOUNCED, "check", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=heed_interruptions,
    )
    assert process.stdin
    assert process.stdout
    assert process.stderr
    # The line comes when the command line is about to read the standard input.
    assert process.stdout.readline() == b"reading\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    assert process.stderr.read().strip() == b""
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


_ANNOUNCED = """
import sys
import p0trans.cli.check
from p0trans import cli, files
read = files._read_standard_input
def announced():
    print("reading", flush=True)
    return read()
files._read_standard_input = announced
cli.main(sys.argv[1:])
"""
