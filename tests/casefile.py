"""Reading the programs under tests/cases: the comment lines on top say what must come of each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parent / "cases"
_HEADER = re.compile(r"// (expect|dims|oracle|input|family|at|fix|mentions): (.*)")


@dataclass(frozen=True)
class Case:
    """One program and what it must give; each key may stand on several lines."""

    path: Path
    header: tuple[tuple[str, str], ...]

    def all(self, key: str) -> list[str]:
        return [value for name, value in self.header if name == key]

    def one(self, key: str) -> str | None:
        values = self.all(key)
        return values[0] if values else None

    def dims(self) -> list[dict[str, int]]:
        """The sizes of each run."""
        return [
            {name: int(size) for name, size in (pair.split("=") for pair in line.split())}
            for line in self.all("dims")
        ]


def cases(folder: str) -> list[Case]:
    """The cases of `accept` or `reject`, in order of their names."""
    found = []
    for path in sorted((CASES / folder).glob("*.p0")):
        header = tuple(
            (match[1], match[2].strip())
            for line in path.read_text().splitlines()
            if (match := _HEADER.fullmatch(line))
        )
        found.append(Case(path, header))
    return found
