"""The order of the passes: the only place that knows it."""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from p0trans import __version__
from p0trans.checker import (
    NOTHING_DECLARED,
    Checked,
    Found,
    Loader,
    StateFlags,
    Work,
    check_units,
)
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.emit.options import EmittedFile, Header, OptionError
from p0trans.emit.options import Options as EmitOptions
from p0trans.files import read_source
from p0trans.ir.program import Module, Program, Unit
from p0trans.source import Source

if TYPE_CHECKING:
    from p0trans.rewrite import Event

STD = Path(__file__).parent / "std"


@dataclass(frozen=True, slots=True)
class Options:
    """What to build. `layout` is `file` (one self-contained file) or `package`; with `explain` the
    rewrites that nearly applied are looked for, too."""

    emit: EmitOptions = field(default_factory=EmitOptions)
    flags: StateFlags = field(default_factory=StateFlags)
    layout: str = "file"
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Built:
    """The emitted files (none when the program is wrong), what was found, the program as it was
    checked and as it was emitted, and what was rewritten."""

    files: tuple[EmittedFile, ...]
    diagnostics: tuple[Diagnostic, ...]
    program: Program
    emitted: Program
    rewrites: tuple[Event, ...] = ()


class StateError(OptionError):
    """State given to a program that declares its modules, and so what each of them owns."""


def load_import(importer: Source, module: tuple[str, ...]) -> Found:
    """`std.norm` is in the shipped library, any other module beside the importing file."""
    imported = locate_import(importer, module)
    if imported.path is None:
        return Found(imported.looked_for)
    if not imported.path.is_file():
        others = tuple(sorted(path.stem for path in imported.path.parent.glob("*.p0")))
        return Found(imported.looked_for, others=others)
    source = read_source(imported.path)
    if isinstance(source, Diagnostic):
        return Found(imported.looked_for, diagnostic=source)
    return Found(imported.looked_for, replace(source, name=imported.name))


class Imported(NamedTuple):
    """Where an import leads: a path, the name of a source there, and both in words.

    `path` is None for an import in a text that is not a file, unless it is from `std`.
    """

    path: Path | None
    name: str
    looked_for: str


def locate_import(importer: Source, module: tuple[str, ...]) -> Imported:
    """Where `load_import` looks."""
    if module[0] == "std":
        path = STD.joinpath(*module[1:]).with_suffix(".p0") if len(module) > 1 else STD
        name = "/".join(module) + ".p0"
        return Imported(path, name, f"{name} in the standard library")
    if importer.path is None:
        return Imported(None, "", "a folder: the importing text is not a file")
    relative = Path(*module).with_suffix(".p0")
    name = os.path.join(os.path.dirname(importer.name), str(relative))
    return Imported(importer.path.parent / relative, name, name)


def check_sources(
    sources: Sequence[Source],
    flags: StateFlags | None = None,
    loader: Loader = load_import,
    work: Work | None = None,
) -> Checked:
    """Parse and check sources with all that they import."""
    with _collector_at_rest():
        return check_units(unit_names(sources), loader, flags, work)


def build_sources(
    sources: Sequence[Source], options: Options, loader: Loader = load_import
) -> Built:
    """Check sources and emit them; nothing is emitted when one is wrong.

    Raises OptionError for options that do not suit each other or the program.
    """
    checked = check_sources(sources, options.flags, loader)
    # A file without a declaration checks, but there is nothing to make a module of.
    diagnostics = tuple(
        d._replace(severity=Severity.ERROR) if d.code == NOTHING_DECLARED else d
        for d in checked.diagnostics
    )
    if any(d.severity is Severity.ERROR for d in diagnostics):
        return Built((), diagnostics, checked.program, checked.program)
    _require_effect(checked.program, options.flags)
    from p0trans.emit import emit_file, emit_package

    header = _header(checked.program, options)
    with _collector_at_rest():
        program, rewrites = in_style(checked.program, options)
        if options.layout == "package":
            files = emit_package(program, options.emit, header)
        else:
            files = (emit_file(program, program.roots[0], options.emit, header),)
    return Built(files, diagnostics, checked.program, program, rewrites)


def _require_effect(program: Program, flags: StateFlags) -> None:
    """Raise StateError for state that only modules which the program declares could have."""
    units = [program.unit(name) for name in program.roots]
    for option, pairs in (("--param", flags.params), ("--const", flags.consts)):
        for name, _ in pairs:
            fitting = [
                (unit, module)
                for unit in units
                for module in unit.modules
                if name in (each.name for each in program.definition(module.definition).parameters)
            ]
            if all(_is_declared(program, unit, module) for unit, module in fitting):
                files = ", ".join(dict.fromkeys(unit.source.name for unit, _ in fitting))
                raise StateError(
                    f"`{option} {name}` has no effect: {files} declares its modules, and with"
                    " them what is state"
                )


def _is_declared(program: Program, unit: Unit, module: Module) -> bool:
    """Whether `module` stands in its file; one that does not has the place of its definition."""
    definition = program.definition(module.definition)
    return (definition.unit, definition.span) != (unit.name, module.span)


def in_style(program: Program, options: Options) -> tuple[Program, tuple[Event, ...]]:
    """A checked program as emission sees it, and what was rewritten for that."""
    if options.emit.style == "explicit":
        return program, ()
    from p0trans.rewrite import rewrite

    return rewrite(program, options.emit.target, options.explain)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Pause the cycle collector: the passes and black build large trees that all live to the
    end, and walking them again and again more than doubles the cost of a line in a long file."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def unit_names(sources: Sequence[Source]) -> list[tuple[str, Source]]:
    """A unit name for each source: its path under the sources' common folder, dotted."""
    paths = [source.path.resolve() for source in sources if source.path is not None]
    common = Path(os.path.commonpath([path.parent for path in paths])) if paths else None
    named: list[tuple[str, Source]] = []
    taken: set[str] = set()
    for source in sources:
        if source.path is None or common is None:
            name = "main"
        else:
            name = ".".join(source.path.resolve().relative_to(common).with_suffix("").parts)
        unique = name
        while unique in taken:
            unique += "_"
        taken.add(unique)
        named.append((unique, source))
    return named


def _header(program: Program, options: Options) -> Header:
    """What the emitted files say of their origin: no path outside the sources' common folder,
    so that the same sources give the same bytes wherever they lie."""
    names = [unit.path for unit in program.units]
    digest = hashlib.sha256()
    for name, unit in sorted(zip(names, program.units, strict=True), key=lambda pair: pair[0]):
        digest.update(f"{name}\0{unit.source.digest()}\n".encode("utf-8", "surrogateescape"))
    roots = tuple(
        "-" if program.unit(root).source.path is None else f"{root.replace('.', '/')}.p0"
        for root in program.roots
    )
    return Header(__version__, roots, digest.hexdigest(), _command(roots, options))


def _command(roots: Sequence[str], options: Options) -> str:
    """The command that builds the same again, with only the options that are not the defaults."""
    words = ["p0trans", "build", *map(_quoted, roots)]
    default = EmitOptions()
    for name in ("style", "target", "checks", "annotate"):
        value = getattr(options.emit, name)
        if value != getattr(default, name):
            words += [f"--{name}", value]
    if options.emit.dynamic:
        words += ["--dynamic", _quoted(",".join(options.emit.dynamic))]
    if options.emit.dynamic_shapes:
        words.append("--dynamic-shapes")
    for name, text in options.flags.params:
        words += ["--param", _quoted(f"{name}={text}")]
    for name, text in options.flags.consts:
        words += ["--const", _quoted(f"{name}={text}")]
    if options.layout == "package":
        words += ["-o", f"{PurePosixPath('.')}/"]
    return " ".join(words)


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)
