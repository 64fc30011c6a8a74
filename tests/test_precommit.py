"""The hooks of .pre-commit-hooks.yaml, run by pre-commit on a scratch repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import BAD, GOOD, on_path

pytest.importorskip("pre_commit")
yaml = pytest.importorskip("yaml")

HOOKS = Path(__file__).parent.parent / ".pre-commit-hooks.yaml"
ARGUMENTS = {"p0trans-build": ["model/user.p0", "-o", "model/user.py"]}
USER = """from good import twice

let four_times [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  twice[B, D] (twice[B, D] x)
"""


class Repository:
    """A git repository with the hooks installed; nothing of it lies outside `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        (self.folder / "model").mkdir(parents=True)
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "PATH": on_path(folder),
            "PRE_COMMIT_HOME": str(folder / "cache"),
            "HOME": str(folder),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.git("init", "--quiet")
        self.git("config", "user.name", "A")
        self.git("config", "user.email", "a@example.org")
        config = {"repos": [{"repo": "local", "hooks": [_local(hook) for hook in _hooks()]}]}
        self.write(".pre-commit-config.yaml", json.dumps(config))

    def git(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self._run("git", *arguments, check=True)

    def hook(self, name: str) -> subprocess.CompletedProcess[str]:
        """Run one hook on what is staged, after staging everything."""
        self.git("add", "--all")
        return self._run(sys.executable, "-m", "pre_commit", "run", name, "--verbose")

    def commit(self) -> subprocess.CompletedProcess[str]:
        """Commit everything, with every hook in the way."""
        self._run(sys.executable, "-m", "pre_commit", "install", check=True)
        self.git("add", "--all")
        return self._run("git", "commit", "--quiet", "--message", "message")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def read(self, name: str) -> str:
        return (self.folder / name).read_text()

    def _run(self, *words: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=check,
        )


def _hooks() -> list[dict[str, Any]]:
    hooks = yaml.safe_load(HOOKS.read_text())
    assert isinstance(hooks, list)
    return hooks


def _local(hook: dict[str, Any]) -> dict[str, Any]:
    """The hook as it stands, but run from this environment, not from one that is downloaded."""
    return {**hook, "language": "system", "args": ARGUMENTS.get(hook["id"], [])}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    return Repository(tmp_path)


def test_the_manifest_is_valid() -> None:
    words = [sys.executable, "-m", "pre_commit", "validate-manifest", str(HOOKS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert [hook["id"] for hook in _hooks()] == ["p0trans-check", "p0trans-fmt", "p0trans-build"]


def test_check(repository: Repository) -> None:
    repository.write("model/good.p0", GOOD)
    done = repository.hook("p0trans-check")
    assert done.returncode == 0, done.stdout
    repository.write("model/bad.p0", BAD)
    done = repository.hook("p0trans-check")
    assert done.returncode == 1
    assert "error[P0101]" in done.stdout


def test_check_is_for_phase_0_only(repository: Repository) -> None:
    repository.write("notes.txt", "")
    assert "no files to check" in repository.hook("p0trans-check").stdout


def test_fmt(repository: Repository) -> None:
    repository.write("model/good.p0", GOOD.replace("  x + x", "x+x"))
    done = repository.hook("p0trans-fmt")
    assert done.returncode == 1
    assert "files were modified by this hook" in done.stdout
    assert repository.read("model/good.p0") == GOOD
    assert repository.hook("p0trans-fmt").returncode == 0


def test_build(repository: Repository) -> None:
    repository.write("model/good.p0", GOOD)
    repository.write("model/user.p0", USER)
    # git does not know the emitted file, so only the hook itself can say that it was missing.
    assert repository.hook("p0trans-build").returncode == 1
    fresh = repository.read("model/user.py")
    assert repository.hook("p0trans-build").returncode == 0
    repository.git("commit", "--quiet", "--message", "one", "--no-verify")

    repository.write("model/user.py", fresh.replace("torch", "torhc"))
    assert repository.hook("p0trans-build").returncode == 1
    assert repository.read("model/user.py") == fresh

    # Only the import changes.
    repository.write("model/good.p0", GOOD.replace("x + x", "x * x"))
    done = repository.hook("p0trans-build")
    assert done.returncode == 1
    assert "wrote model/user.py" in done.stdout
    assert repository.read("model/user.py") != fresh
    assert repository.hook("p0trans-build").returncode == 0


def test_a_commit_waits_for_its_emitted_file(repository: Repository) -> None:
    repository.write("model/good.p0", GOOD)
    repository.write("model/user.p0", USER)
    assert repository.commit().returncode == 1
    # The second time the file that the first has written is committed with its source.
    done = repository.commit()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model/user.py" in repository.git("ls-files").stdout
