"""Goldens: files in golden/ that a test compares byte for byte, and `--update-golden` writes."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test depends on timing, and the same examples are drawn each time, so that a failure is about
# the change at hand; P0TRANS_EXAMPLES=1 looks for new ones.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("seek", deadline=None)
settings.load_profile("seek" if os.environ.get("P0TRANS_EXAMPLES") else "steady")

GOLDEN = Path(__file__).parent.parent / "golden"


class Golden:
    """Compares text with a golden file, or writes the file when asked to."""

    def __init__(self, update: bool) -> None:
        self.update = update

    def check(self, name: str, text: str) -> None:
        """Fail with a diff unless golden/`name` holds exactly `text`."""
        path = GOLDEN / name
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())
            return
        held = path.read_bytes().decode() if path.exists() else ""
        if held != text:
            diff = difflib.unified_diff(
                held.splitlines(), text.splitlines(), f"golden/{name}", "now", lineterm=""
            )
            pytest.fail("\n".join((*diff, "", "to renew: make golden")), pytrace=False)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden/ anew")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(bool(request.config.getoption("--update-golden")))
