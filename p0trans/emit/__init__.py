"""Emission: a checked program as PyTorch source files.

The work is imported when something is emitted, so that checking a program does not pay for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from p0trans.emit.options import (
    Annotate,
    Checks,
    EmittedFile,
    Header,
    OptionError,
    Options,
    Style,
)

if TYPE_CHECKING:
    from p0trans.ir.program import Program

__all__ = [
    "Annotate",
    "Checks",
    "EmittedFile",
    "Header",
    "OptionError",
    "Options",
    "Style",
    "emit_file",
    "emit_package",
]


def emit_file(program: Program, root: str, options: Options, header: Header) -> EmittedFile:
    """The unit named `root` as one file that imports nothing but PyTorch (and jaxtyping, where
    asked for): what it uses of other units is in the file as well.

    Raises OptionError for options that do not suit each other or the program."""
    from p0trans.emit.files import single_file_view
    from p0trans.emit.render import environment, render_file

    path, view = single_file_view(program, root, options, header)
    return EmittedFile(path, render_file(view, environment()), view)


def emit_package(program: Program, options: Options, header: Header) -> tuple[EmittedFile, ...]:
    """A file for each unit, in folders as the dots in its name say; the files import each other
    as the sources do. The package re-exports what the program's roots are for.

    Raises OptionError for options that do not suit each other or the program."""
    from p0trans.emit.files import package_views
    from p0trans.emit.render import environment, render_file

    views = package_views(program, options, header)
    templates = environment()
    return tuple(
        EmittedFile(path, render_file(view, templates), view)
        for path, view in sorted(views.items(), key=lambda pair: pair[0])
    )
