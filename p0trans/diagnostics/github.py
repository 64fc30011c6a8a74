"""Diagnostics as workflow commands, which GitHub shows as annotations of a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from p0trans.diagnostics.model import Diagnostic, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(diagnostics: Sequence[Diagnostic]) -> str:
    """One `::error …::message` line for each diagnostic, in order."""
    return "".join(f"{_command(item)}\n" for item in diagnostics)


def _command(item: Diagnostic) -> str:
    place = item.primary.place
    line, column = place.source.position(place.span.start)
    end_line, end_column = place.source.position(place.span.end)
    properties = {
        "file": PurePath(place.source.name).as_posix(),
        "line": line,
        "col": column,
        "endLine": end_line,
        "endColumn": end_column,
        "title": item.code,
    }
    written = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    helps = (f"help: {fix.title}" for fix in item.fixes)
    text = "\n".join(filter(None, (item.message, item.primary.text, *item.notes, *helps)))
    return f"::{_COMMANDS[item.severity]} {written}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
