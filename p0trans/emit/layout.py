"""Which items each emitted file has, under which names, and what it imports from the others."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from p0trans.emit.names import KEYWORDS, RESERVED, free_name
from p0trans.emit.selection import Selection, module_reference
from p0trans.ir.program import Definition, Module, Program, Reference

CHECKS_FILE = "_checks"
_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Import:
    """`from MODULE import NAME as ALIAS`, with the module relative to the importing file."""

    module: str
    name: str
    alias: str


@dataclass(frozen=True, slots=True)
class Layout:
    """One file: its dotted place as parts, its items in order, the names of the functions and
    classes that its code refers to, and those of its own items that are for its readers."""

    parts: tuple[str, ...]
    items: tuple[Definition | Module, ...]
    functions: Mapping[Reference, str]
    classes: Mapping[Reference, str]
    exports: tuple[str, ...]
    imports: tuple[Import, ...]

    @property
    def path(self) -> str:
        return "/".join(self.parts) + ".py"

    def taken(self) -> frozenset[str]:
        """The names that a local name must avoid."""
        return RESERVED.union(self.functions.values(), self.classes.values())

    def hooks(self) -> Mapping[Reference, str]:
        """Names for the hooks of the modules that are for the file's readers:
        `compile_rms_norm` for `RMSNorm`."""
        names = (
            (reference, self.classes[reference])
            for reference in map(module_reference, _modules(self.items))
            if self.classes[reference] in self.exports
        )
        return _named(
            (
                (reference, f"compile_{_WORD_START.sub('_', name).lower()}")
                for reference, name in names
            ),
            self.taken(),
        )


def sort_key(name: str) -> tuple[object, ...]:
    """The order of names in `__all__` and imports that ruff and isort keep to: constants, classes,
    then the rest, and numbers in them by value."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return kind, [(int(p), "") if p.isdigit() else (math.inf, p) for p in parts if p]


def import_lines(imports: Sequence[Import]) -> tuple[str, ...]:
    """Import statements in isort's order: farther folders first, one statement for a module, but
    for renamed names."""
    statements: dict[tuple[str, str], list[str]] = {}
    for item in imports:
        renamed = "" if item.alias == item.name else item.name
        words = item.name if not renamed else f"{item.name} as {item.alias}"
        statements.setdefault((item.module, renamed), []).append(words)
    ordered = sorted(
        statements,
        key=lambda key: (-len(key[0]) + len(key[0].lstrip(".")), key[0], sort_key(key[1])),
    )
    return tuple(
        f"from {module} import {', '.join(sorted(statements[module, renamed], key=sort_key))}"
        for module, renamed in ordered
    )


def single_layout(selection: Selection, root: str) -> Layout:
    """Everything in one file. What the root unit declares has the first choice of names."""
    own_first = sorted(selection.modules, key=lambda module: module.unit != root)
    classes = _named(((module_reference(m), m.name) for m in own_first), RESERVED)
    functions = _named(
        (
            (d.reference, d.name)
            for d in sorted(selection.functions, key=lambda definition: definition.unit != root)
        ),
        RESERVED.union(classes.values()),
    )
    items = [item for unit in selection.units for item in _items(selection, unit)]
    own = [item for item in items if item.unit == root]
    return Layout(
        parts=(_identifier(root.rsplit(".", 1)[-1]),),
        items=tuple(items),
        functions=functions,
        classes=classes,
        exports=_exports(own, selection, functions, classes),
        imports=(),
    )


def package_layouts(program: Program, selection: Selection) -> Mapping[str, Layout]:
    """A file for each unit that was asked for or that something is used of, which imports from
    the others what its code refers to."""
    places = unit_places([unit.name for unit in program.units])
    classes: dict[Reference, str] = {}
    functions: dict[Reference, str] = {}
    layouts: dict[str, Layout] = {}
    # A unit comes after those that it imports, so their names are there when it is reached.
    for unit in program.units:
        items = _items(selection, unit.name)
        asked_for = unit.name in program.roots
        if not items and not asked_for:
            continue
        modules = _modules(items)
        definitions = [item for item in items if isinstance(item, Definition)]
        own_classes = _named(((module_reference(m), m.name) for m in modules), RESERVED)
        taken = RESERVED.union(own_classes.values())
        own_functions = _named(((d.reference, d.name) for d in definitions), taken)
        classes |= own_classes
        functions |= own_functions
        taken |= set(own_functions.values())
        imports = []
        used = (
            (selection.functions_used(items), functions, own_functions),
            (selection.classes_used(items), classes, own_classes),
        )
        for references, names, own in used:
            for reference in references:
                if reference not in own:
                    alias = free_name(names[reference], taken)
                    taken |= {alias}
                    own[reference] = alias
                    module = relative_module(places[unit.name], places[reference.unit])
                    imports.append(Import(module, names[reference], alias))
        exports = _exports(items, selection, own_functions, own_classes) if asked_for else ()
        layouts[unit.name] = Layout(
            parts=places[unit.name],
            items=items,
            functions=own_functions,
            classes=own_classes,
            exports=exports,
            imports=tuple(imports),
        )
    return layouts


def relative_module(importer: tuple[str, ...], imported: tuple[str, ...]) -> str:
    """The module `imported` as a file at `importer` names it: `.norm`, `..std.norm`."""
    shared = 0
    while shared < min(len(importer), len(imported)) - 1 and importer[shared] == imported[shared]:
        shared += 1
    return "." * (len(importer) - shared) + ".".join(imported[shared:])


def unit_places(units: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The place of each unit's file in the package. A file is named apart from a folder."""
    parts = {unit: tuple(map(_identifier, unit.split("."))) for unit in units}
    folders = {place[:depth] for place in parts.values() for depth in range(1, len(place))}
    taken = folders | {(CHECKS_FILE,), ("__init__",)}
    places: dict[str, tuple[str, ...]] = {}
    for unit, place in parts.items():
        while place in taken:
            place = (*place[:-1], f"{place[-1]}_")
        taken.add(place)
        places[unit] = place
    return places


def _items(selection: Selection, unit: str) -> tuple[Definition | Module, ...]:
    """In source order; a definition before a module that stands at the same place."""
    items: list[Definition | Module] = [
        *selection.functions_of(unit),
        *selection.modules_of(unit),
    ]
    return tuple(sorted(items, key=lambda item: item.span.start))


def _modules(items: Iterable[Definition | Module]) -> list[Module]:
    return [item for item in items if isinstance(item, Module)]


def _exports(
    items: Iterable[Definition | Module],
    selection: Selection,
    functions: Mapping[Reference, str],
    classes: Mapping[Reference, str],
) -> tuple[str, ...]:
    names = []
    for item in items:
        if isinstance(item, Module):
            names.append(classes[module_reference(item)])
        elif item.reference not in selection.called:
            names.append(functions[item.reference])
    return tuple(sorted(names, key=sort_key))


def _named(items: Iterable[tuple[Reference, str]], taken: frozenset[str]) -> dict[Reference, str]:
    used = set(taken)
    names: dict[Reference, str] = {}
    for reference, name in items:
        names[reference] = free_name(name, used)
        used.add(names[reference])
    return names


def _identifier(name: str) -> str:
    """A file's name as a Python module name."""
    word = re.sub(r"\W", "_", name)
    return free_name(f"_{word}" if not word or word[0].isdigit() else word, KEYWORDS)
