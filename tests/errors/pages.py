"""The pages in docs/errors/: their sections, and the programs that stand in them.

A block ```p0 is `main.p0`, and ```p0 NAME.p0 a file of that name beside it. Where the command line
matters, a block ```console has the commands, each after a `$`; else `main.p0` is checked. What the
first program has besides `main.p0` lies beside the corrected one too.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from p0trans.diagnostics.codes import Code, table
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.source import Source

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "errors"
SECTIONS = (
    "A program that breaks it",
    "What p0trans says",
    "The corrected program",
    "The PyTorch bug it prevents",
)
MAIN = "main.p0"
_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Program:
    """The files of one section, by name, and the commands that use them."""

    files: dict[str, str]
    commands: tuple[str, ...]

    def write(self, folder: Path) -> None:
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def as_golden(self) -> str:
        """The text as it stands above a message."""
        if list(self.files) == [MAIN] and not self.commands:
            return self.files[MAIN]
        parts = [f"==> {name} <==\n{text}" for name, text in self.files.items()]
        if self.commands:
            parts.append("".join(f"$ {command}\n" for command in self.commands))
        return "\n".join(parts)


@dataclass(frozen=True)
class Page:
    """One page: its title line, its introduction and its sections by heading."""

    code: str
    title: str
    introduction: str
    sections: dict[str, str]

    @property
    def entry(self) -> Code:
        return table()[self.code]

    @property
    def broken(self) -> Program:
        return _program(self.sections[SECTIONS[0]])

    @property
    def corrected(self) -> Program:
        corrected = _program(self.sections[SECTIONS[2]])
        return Program({**self.broken.files, **corrected.files}, corrected.commands)


def pages() -> list[Page]:
    """Every page, in order of its code."""
    return [_page(path) for path in sorted(FOLDER.glob("P*.md"))]


def check(folder: Path, severity: Severity) -> tuple[Source, list[Diagnostic]]:
    """`main.p0` and what checking finds; notes are left out unless `severity` is a note."""
    source = read_source(folder / MAIN)
    assert isinstance(source, Source)
    source = Source(MAIN, source.text, source.path)
    return source, findings(source, severity)


def findings(source: Source, severity: Severity) -> list[Diagnostic]:
    found = check_sources([source]).diagnostics
    wanted = (severity, Severity.WARNING, Severity.ERROR)
    return [item for item in found if item.severity in wanted]


def run(commands: tuple[str, ...], folder: Path) -> tuple[int, str]:
    """The exit status of the last command and all that was printed."""
    lines = (f'p0trans() {{ "{sys.executable}" -m p0trans "$@"; }}', *commands)
    done = subprocess.run(
        ["sh", "-c", "\n".join(lines)],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def _page(path: Path) -> Page:
    head, *rest = re.split(r"^## ", path.read_text("utf-8"), flags=re.MULTILINE)
    title, _, introduction = head.partition("\n")
    sections = dict(part.split("\n", 1) for part in rest)
    return Page(path.stem, title, introduction.strip(), sections)


def _program(text: str) -> Program:
    files: dict[str, str] = {}
    commands: list[str] = []
    for match in _BLOCK.finditer(text):
        if match[1] == "console":
            commands += (line.removeprefix("$ ") for line in match[3].splitlines())
        else:
            files[match[2] or MAIN] = match[3]
    return Program(files, tuple(commands))
