"""Files: which import which, in what order they are checked, and what each makes visible."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from p0trans.checker.modules import ModuleScope, check_module, stateless_module
from p0trans.checker.names import Scope, Signature
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.checker.warnings import Analysis, warn
from p0trans.checker.work import Work
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label, Severity
from p0trans.ir.program import Call, Definition, Module, Program, Reference, Unit
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import Parsed, parse

NOTHING_DECLARED = "P1206"


class Found(NamedTuple):
    """Where a loader looked for an imported file and what it found there; `others` are the names
    of the files beside a missing one."""

    looked_for: str
    source: Source | None = None
    diagnostic: Diagnostic | None = None
    others: tuple[str, ...] = ()


# Finds the file that an import names: (importing source, dotted name as a tuple) -> Found.
Loader: TypeAlias = Callable[[Source, tuple[str, ...]], Found]


_COMMAND_LINE: Final = "<command line>"


class StateFlags(NamedTuple):
    """State given outside the source: pairs of a parameter and the text of its initializer."""

    params: tuple[tuple[str, str], ...] = ()
    consts: tuple[tuple[str, str], ...] = ()

    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in (*self.params, *self.consts))


class Checked(NamedTuple):
    """What checking gives: the program, as far as it is right, and all that was found."""

    program: Program
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        return not any(d.severity is Severity.ERROR for d in self.diagnostics)


@dataclass(slots=True)
class _File:
    """One file while its imports are being followed."""

    name: str
    source: Source
    pieces: Sequence[Parsed]
    imports: dict[tree.Import, str | None] = field(default_factory=dict)
    diagnostics: list[Diagnostic] = field(default_factory=list)


@dataclass(slots=True)
class _Exports:
    """What a checked file offers: None for a name whose declaration is wrong; `lost` are the
    names of those that do not even parse."""

    signatures: dict[str, Signature | None] = field(default_factory=dict)
    definitions: dict[str, Definition | None] = field(default_factory=dict)
    modules: dict[str, tuple[Module, Definition] | None] = field(default_factory=dict)
    lost: frozenset[str] = frozenset()


def check_units(
    roots: Sequence[tuple[str, Source]],
    loader: Loader,
    flags: StateFlags | None = None,
    work: Work | None = None,
) -> Checked:
    """Check the named sources and all that they import.

    `roots` pairs each source with its unit name (dotted, relative to their common folder). Where
    `work` parses in pieces, spans and places are those of the pieces.
    """
    flags = flags or StateFlags()
    work = work or Work()
    files, order = _follow_imports(roots, loader, work)
    exports: dict[str, _Exports] = {}
    analyses: dict[Reference, Analysis] = {}
    units: list[Unit] = []
    diagnostics: list[Diagnostic] = []
    root_names = {name for name, _ in roots}
    for name in order:
        unit, found = _check_file(
            files[name], exports, flags if name in root_names else StateFlags(), work
        )
        units.append(unit)
        for definition in unit.definitions:
            analyses[definition.reference] = work.analyse(definition, analyses)
        pieces = files[name].pieces
        if name in root_names and not any(d.severity is Severity.ERROR for d in found):
            found += warn(pieces, unit, analyses, work)
        diagnostics += _in_order(pieces, found)
    names = tuple(name for name, _ in roots)
    if all(d.primary.place.source.name != _COMMAND_LINE for d in diagnostics):
        # A flag that was reported is in no module.
        diagnostics += _unused_flags(flags, [unit for unit in units if unit.name in root_names])
    return Checked(Program(tuple(units), names), tuple(diagnostics))


def _in_order(pieces: Sequence[Parsed], found: Iterable[Diagnostic]) -> list[Diagnostic]:
    numbers = {piece.file.source: number for number, piece in enumerate(pieces)}

    def key(diagnostic: Diagnostic) -> tuple[int, Span]:
        place = diagnostic.primary.place
        return numbers.get(place.source, 0), place.span

    return sorted(found, key=key)


# --- imports ----------------------------------------------------------------------------


def _follow_imports(
    roots: Sequence[tuple[str, Source]], loader: Loader, work: Work
) -> tuple[dict[str, _File], list[str]]:
    """All files by unit name, and those names with every file after what it imports."""
    files: dict[str, _File] = {}
    by_path: dict[Path, str] = {}
    for name, source in roots:
        files[name] = _File(name, source, work.parse(source))
        if source.path is not None:
            by_path[source.path.resolve()] = name
    order: list[str] = []
    state: dict[str, str] = {}
    for root, _ in roots:
        stack: list[tuple[str, list[tuple[Source, tree.Import]] | None]] = [(root, None)]
        while stack:
            name, pending = stack.pop()
            if pending is None:
                if name in state:
                    continue
                state[name] = "open"
                pending = _imports(files[name])
            if not pending:
                state[name] = "done"
                order.append(name)
                continue
            source, node = pending.pop()
            stack.append((name, pending))
            target = _load(files, by_path, name, source, node, loader, work)
            if target is not None and state.get(target) == "open":
                chain = [entry for entry, _ in stack]
                chain = [*chain[chain.index(target) :], target]
                _report_cycle(files[name], Place(source, node.span), chain)
                target = None
            files[name].imports[node] = target
            if target is not None:
                stack.append((target, None))
    return files, order


def _imports(file: _File) -> list[tuple[Source, tree.Import]]:
    """The imports of a file with the sources that they stand in, the last one first."""
    return [
        (piece.file.source, declaration)
        for piece in reversed(file.pieces)
        for declaration in reversed(piece.file.declarations)
        if isinstance(declaration, tree.Import)
    ]


def _load(
    files: dict[str, _File],
    by_path: dict[Path, str],
    importer: str,
    source: Source,
    node: tree.Import,
    loader: Loader,
    work: Work,
) -> str | None:
    """The unit that an import names, read if it is new; None when it is reported as missing."""
    file = files[importer]
    parts = tuple(part.text for part in node.module)
    found = loader(file.source, parts)
    span = node.module[0].span.to(node.module[-1].span)
    place = Place(source, span)
    if found.source is None:
        if found.diagnostic is not None:
            file.diagnostics.append(
                found.diagnostic._replace(primary=Label(place, "imported here"))
            )
        else:
            beside_nothing = file.source.path is None and parts[0] != "std"
            code = "P1004" if beside_nothing else "P1001"
            file.diagnostics.append(_not_found(code, place, node.module, found))
        return None
    path = found.source.path
    if path is not None and path.resolve() in by_path:
        return by_path[path.resolve()]
    package = importer.split(".")[:-1]
    name = ".".join(parts if parts[0] == "std" else (*package, *parts))
    files[name] = _File(name, found.source, work.parse(found.source))
    if path is not None:
        by_path[path.resolve()] = name
    return name


def _not_found(
    code: str, place: Place, module: Sequence[tree.Identifier], found: Found
) -> Diagnostic:
    last = module[-1]
    near = nearest(last.text, found.others)
    dotted = ".".join(part.text for part in module)
    meant = None if near is None else f"{dotted.removesuffix(last.text)}{near}"
    edit = Edit(Place(place.source, last.span), near or "")
    return diagnose(
        code,
        place,
        fixes=() if near is None else (Fix(f"write `{meant}`", (edit,)),),
        module=dotted,
        path=found.looked_for,
        near=did_you_mean(meant),
    )


def _report_cycle(file: _File, place: Place, chain: Sequence[str]) -> None:
    file.diagnostics.append(diagnose("P1003", place, module=chain[0], chain=" -> ".join(chain)))


# --- one file ---------------------------------------------------------------------------


class _FileCheck:
    """One file while it is checked, declaration by declaration; `source` is that of the piece."""

    def __init__(self, file: _File, exports: Mapping[str, _Exports], work: Work) -> None:
        self.source = file.source
        self.work = work
        self.unit = file.name
        self.others = exports
        lost = frozenset(name.text for piece in file.pieces for name in piece.broken)
        self.own = _Exports(lost=lost)
        self.visible = _Exports()
        self.broken = set(lost)
        self.declared: dict[str, tuple[Place, str]] = {}
        self.imported: list[Reference] = []
        self.definitions: list[Definition] = []
        self.modules: list[Module] = []
        self.diagnostics = [found for piece in file.pieces for found in piece.diagnostics]
        self.diagnostics += file.diagnostics

    def declare(self, name: tree.Identifier, what: str) -> bool:
        """Note a top-level name; False when it is already taken, which is reported."""
        before = self.declared.get(name.text)
        if before is None:
            self.declared[name.text] = Place(self.source, name.span), what
            return True
        place, kind = before
        self.diagnostics.append(
            diagnose(
                "P0103",
                Place(self.source, name.span),
                label="again here",
                secondary=(Label(place, "first declared here"),),
                what=what if what == kind else "the name",
                name=name.text,
            )
        )
        return False


def _check_file(
    file: _File, exports: dict[str, _Exports], flags: StateFlags, work: Work
) -> tuple[Unit, list[Diagnostic]]:
    check = _FileCheck(file, exports, work)
    declarations = [(p.file.source, node) for p in file.pieces for node in p.file.declarations]
    later = {
        node.name.text: Place(source, node.name.span)
        for source, node in declarations
        if isinstance(node, tree.Definition)
    }
    for check.source, declaration in declarations:
        match declaration:
            case tree.Import():
                _check_import(check, declaration, file.imports[declaration])
            case tree.Definition():
                later.pop(declaration.name.text, None)
                _check_definition(check, declaration, later)
            case tree.Module():
                _check_declared_module(check, declaration)
    if not declarations and not check.diagnostics:
        place = Place(check.source, Span(0, 0))
        check.diagnostics.append(diagnose(NOTHING_DECLARED, place, file=check.source.name))
    if not any(isinstance(node, tree.Module) for _, node in declarations):
        _add_stateless_modules(check, flags)
    exports[file.name] = check.own
    unit = Unit(
        file.name,
        file.source,
        tuple(check.definitions),
        tuple(check.modules),
        tuple(check.imported),
    )
    return unit, check.diagnostics


def _check_import(check: _FileCheck, node: tree.Import, target: str | None) -> None:
    for name in node.names:
        if not check.declare(name, "the name"):
            continue
        offered = None if target is None else check.others[target]
        if offered is None or target is None:
            check.broken.add(name.text)
            continue
        known = False
        if name.text in offered.signatures:
            known = True
            signature = offered.signatures[name.text]
            check.visible.signatures[name.text] = signature
            check.visible.definitions[name.text] = offered.definitions[name.text]
            if signature is None:
                check.broken.add(name.text)
        if name.text in offered.modules:
            known = True
            check.visible.modules[name.text] = offered.modules[name.text]
        if known:
            check.imported.append(Reference(target, name.text))
        else:
            check.broken.add(name.text)
            if name.text not in offered.lost:
                known_names = (*offered.signatures, *offered.modules)
                _report_not_offered(check, target, name, known_names)


def _report_not_offered(
    check: _FileCheck, target: str, name: tree.Identifier, offered: Iterable[str]
) -> None:
    place = Place(check.source, name.span)
    near = nearest(name.text, offered)
    check.diagnostics.append(
        diagnose(
            "P1002",
            place,
            fixes=(Fix(f"write `{near}`", (Edit(place, near),)),) if near else (),
            module=target,
            name=name.text,
            near=did_you_mean(near),
        )
    )


def _check_definition(check: _FileCheck, node: tree.Definition, later: Mapping[str, Place]) -> None:
    fresh = check.declare(node.name, "the definition")
    # The scope looks on while the tables grow: a copy for each definition would cost a square.
    scope = Scope(
        tuple(parameter.name.text for parameter in node.parameters),
        check.visible.signatures,
        check.broken,
        later,
    )
    result = check.work.check(check.source, check.unit, node, scope)
    check.diagnostics += result.diagnostics
    if not fresh:
        return
    name = node.name.text
    for exports in (check.own, check.visible):
        exports.signatures[name] = result.signature
        exports.definitions[name] = result.definition
    if result.signature is None:
        check.broken.add(name)
    if result.definition is not None:
        check.definitions.append(result.definition)


def _check_declared_module(check: _FileCheck, node: tree.Module) -> None:
    fresh = check.declare(node.name, "the module")
    module, found = _module(check, check.source, node)
    check.diagnostics += found
    if not fresh:
        return
    definition = check.visible.definitions.get(node.definition.text)
    entry = None if module is None or definition is None else (module, definition)
    check.own.modules[node.name.text] = entry
    check.visible.modules[node.name.text] = entry
    if module is not None:
        check.modules.append(module)


def _module(
    check: _FileCheck, source: Source, node: tree.Module
) -> tuple[Module | None, tuple[Diagnostic, ...]]:
    definitions = {**check.visible.definitions, **dict.fromkeys(check.broken)}
    scope = ModuleScope(definitions, check.visible.modules)
    return check_module(source, check.unit, node, scope)


def _add_stateless_modules(check: _FileCheck, flags: StateFlags) -> None:
    """A file without `module` declarations: a module for each definition that no other calls."""
    called = {
        step.node.definition
        for definition in check.definitions
        for step in definition.steps
        if isinstance(step.node, Call)
    }
    names: set[str] = set()
    for definition in check.definitions:
        if definition.reference in called:
            continue
        module: Module | None = stateless_module(definition, names)
        source, node = _flagged_module(definition, flags)
        if node is not None:
            flagged, found = _module(check, source, node)
            check.diagnostics += found
            module = (
                None
                if flagged is None or module is None
                else flagged._replace(name=module.name, span=definition.span)
            )
        elif source.text:
            check.diagnostics += parse(source).diagnostics
        if module is not None:
            names.add(module.name)
            check.modules.append(module)


def _flagged_module(definition: Definition, flags: StateFlags) -> tuple[Source, tree.Module | None]:
    """The declaration that the flags which fit `definition` stand for.

    It is written out and parsed, so that a flag means what the same words mean in a file.
    """
    names = {parameter.name for parameter in definition.parameters}
    items = [
        f"  {kind} {name} = {text}"
        for kind, pairs in (("param", flags.params), ("const", flags.consts))
        for name, text in pairs
        if name in names
    ]
    if not items:
        return Source(_COMMAND_LINE, ""), None
    text = "\n".join((f"module M = {definition.name} with", *items))
    source = Source(_COMMAND_LINE, text)
    parsed = parse(source)
    whole = parsed.file.declarations
    if parsed.diagnostics or len(whole) != 1 or not isinstance(whole[0], tree.Module):
        return source, None
    return source, whole[0]._replace(doc=definition.doc)


def _unused_flags(flags: StateFlags, roots: Sequence[Unit]) -> list[Diagnostic]:
    """Flags that name no parameter of any module without declared state."""
    names = {
        parameter.name
        for unit in roots
        for wrapped in [{module.definition for module in unit.modules}]
        for definition in unit.definitions
        if definition.reference in wrapped
        for parameter in definition.parameters
    }
    source = Source(_COMMAND_LINE, "")
    return [
        diagnose(
            "P0913",
            Place(source, Span(0, 0)),
            files=", ".join(unit.source.name for unit in roots),
            name=name,
            near=did_you_mean(nearest(name, names)),
        )
        for name in flags.names()
        if name not in names
    ]
