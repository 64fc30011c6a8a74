"""The table of codes: what each finding is called, its family, and its words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from p0trans.diagnostics.model import Diagnostic, Fix, Label, Severity
from p0trans.source import Place


class Code(NamedTuple):
    """One kind of finding. `message` and `notes` are `str.format` templates over the facts."""

    code: str
    family: str
    severity: Severity
    title: str
    message: str
    notes: tuple[str, ...] = ()


@cache
def table() -> Mapping[str, Code]:
    """Every code, in order. Codes are stable: a retired one is never given a new meaning."""
    from p0trans.diagnostics.codes.files import FILE_CODES
    from p0trans.diagnostics.codes.semantic import SEMANTIC_CODES
    from p0trans.diagnostics.codes.syntax import SYNTAX_CODES
    from p0trans.diagnostics.codes.warnings import WARNING_CODES

    codes = sorted(
        (*SYNTAX_CODES, *SEMANTIC_CODES, *WARNING_CODES, *FILE_CODES), key=lambda code: code.code
    )
    return MappingProxyType({code.code: code for code in codes})


def diagnose(
    code: str,
    place: Place,
    *,
    label: str = "",
    secondary: tuple[Label, ...] = (),
    notes: tuple[str, ...] = (),
    fixes: tuple[Fix, ...] = (),
    **facts: object,
) -> Diagnostic:
    """The diagnostic `code` at `place`, worded from the table with `facts` filled in.

    Raises KeyError when the code is not in the table or a fact that its words need is missing.
    """
    entry = table()[code]
    return Diagnostic(
        code=entry.code,
        family=entry.family,
        severity=entry.severity,
        message=entry.message.format(**facts),
        primary=Label(place, label),
        secondary=secondary,
        notes=(*(note.format(**facts) for note in entry.notes), *notes),
        fixes=fixes,
    )
