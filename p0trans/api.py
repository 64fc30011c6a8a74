"""The Python API: what the command line does, for notebooks and build scripts."""

from __future__ import annotations

import os
import types
from collections.abc import Mapping, Sequence
from pathlib import Path

from p0trans.checker import Checked, StateFlags
from p0trans.diagnostics.model import Diagnostic
from p0trans.driver import Options, build_sources, check_sources
from p0trans.emit.options import Annotate, Checks, Style
from p0trans.emit.options import Options as EmitOptions
from p0trans.files import read_source
from p0trans.importing import import_text
from p0trans.source import Source
from p0trans.targets import Target


class TranslationError(Exception):
    """A program that is wrong. `diagnostics` are the findings, and the message is their text."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        from p0trans.diagnostics.text import render

        super().__init__("\n" + render(diagnostics))
        self.diagnostics = tuple(diagnostics)


def check(text_or_path: str | os.PathLike[str]) -> Checked:
    """Check a program given as text, or as the path of a `.p0` file.

    A string that ends in `.p0` or a `PathLike` is a path; any other string is Phase 0 text.
    Returns the typed program with all diagnostics; raises TranslationError only when the file
    cannot be read.
    """
    return check_sources([_source(text_or_path)])


def translate(
    text_or_path: str | os.PathLike[str],
    *,
    style: Style = "idiomatic",
    target: Target = "torch",
    checks: Checks = "full",
    annotate: Annotate = "plain",
    dynamic: Sequence[str] = (),
    dynamic_shapes: bool = False,
    params: Mapping[str, str] | None = None,
    consts: Mapping[str, str] | None = None,
) -> str:
    """The emitted Python file for a program given as text or as a path (see `check`).

    The options are those of `p0trans build`. Raises TranslationError when the program is wrong
    and OptionError, a ValueError, for options that do not suit each other or the program.
    """
    emit = EmitOptions(style, target, checks, annotate, tuple(dynamic), dynamic_shapes)
    flags = StateFlags(tuple((params or {}).items()), tuple((consts or {}).items()))
    built = build_sources([_source(text_or_path)], Options(emit, flags))
    if not built.files:
        raise TranslationError(built.diagnostics)
    return built.files[0].text


def load(text_or_path: str | os.PathLike[str], **options: object) -> types.ModuleType:
    """Translate a program and import the result in memory: `load("rmsnorm.p0").RMSNorm(D=256)`.

    Takes the options of `translate` and needs torch. A traceback through the module shows the
    emitted lines.
    """
    text = translate(text_or_path, **options)  # type: ignore[arg-type]
    return import_text(text, Path(text_or_path).stem if _is_path(text_or_path) else "text")


def format(text_or_path: str | os.PathLike[str]) -> str:
    """The text of a program, given as text or as a path (see `check`), in the one layout.

    Nothing is written. Raises TranslationError when the text has a syntax error.
    """
    from p0trans.syntax.format import FormatError, format_source

    try:
        return format_source(_source(text_or_path))
    except FormatError as error:
        raise TranslationError(error.diagnostics) from error


def _is_path(text_or_path: str | os.PathLike[str]) -> bool:
    return not isinstance(text_or_path, str) or (
        text_or_path.endswith(".p0") and "\n" not in text_or_path
    )


def _source(text_or_path: str | os.PathLike[str]) -> Source:
    if isinstance(text_or_path, str) and not _is_path(text_or_path):
        return Source("<string>", text_or_path)
    source = read_source(Path(text_or_path))
    if isinstance(source, Diagnostic):
        raise TranslationError([source])
    return source
