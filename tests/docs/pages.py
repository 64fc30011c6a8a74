"""The fenced blocks of the pages in docs/.

A block ```p0 is a program that checks, ```p0 NAME.p0 one that the other blocks of its page find
as a file of that name, and ```p0 error CODE one whose only finding is CODE. A block ```python
runs in the folder of those files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("language.md", "numerics.md", "std.md", "targets.md")
_BLOCK = re.compile(r"^```(\w+)(?: ([^\n]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """One block, by its language and the rest of its opening line."""

    page: str
    line: int
    language: str
    info: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def file_name(self) -> str:
        """Where the block lies in its page's folder."""
        named = self.language == "p0" and self.info.endswith(".p0")
        return self.info if named else f"line_{self.line}.p0"

    @property
    def error(self) -> str | None:
        """The code of a block that shows a mistake."""
        return self.info.removeprefix("error ") if self.info.startswith("error ") else None


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


def blocks(language: str) -> list[Block]:
    """The blocks in one language, of all pages."""
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2] or "", match[3])
        for page in PAGES
        for text in [read(page)]
        for match in _BLOCK.finditer(text)
        if match[1] == language
    ]
