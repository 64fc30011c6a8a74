"""Codes of trouble with files: reading sources and writing what is emitted."""

from __future__ import annotations

from p0trans.diagnostics.codes import Code
from p0trans.diagnostics.model import Severity

FILE_CODES = (
    Code(
        code="P1201",
        family="file",
        severity=Severity.ERROR,
        title="file not found",
        message="`{file}` does not exist",
    ),
    Code(
        code="P1202",
        family="file",
        severity=Severity.ERROR,
        title="a folder where a file is needed",
        message="`{file}` is a folder, not a Phase 0 file",
    ),
    Code(
        code="P1203",
        family="file",
        severity=Severity.ERROR,
        title="not UTF-8 text",
        message="`{file}` is not UTF-8 text: byte 0x{byte:02x} at offset {offset}, in line {line}",
        notes=("Phase 0 files are UTF-8 text: save the file in that encoding",),
    ),
    Code(
        code="P1204",
        family="file",
        severity=Severity.ERROR,
        title="file cannot be read",
        message="`{file}` cannot be read: {reason}",
    ),
    Code(
        code="P1205",
        family="file",
        severity=Severity.ERROR,
        title="file cannot be written",
        message="`{file}` cannot be written: {reason}",
        notes=("the write was given up: no file was changed",),
    ),
    Code(
        code="P1206",
        family="file",
        severity=Severity.WARNING,
        title="no declarations",
        message="`{file}` declares nothing",
        notes=("a file without a definition is well typed, but there is no module to build",),
    ),
)
