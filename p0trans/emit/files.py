"""The emitted files as views: header, imports, exports and items of each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from p0trans.dtypes import DTYPES
from p0trans.emit.classes import class_view
from p0trans.emit.functions import FileScope, function_view
from p0trans.emit.hooks import hook_view, require_dynamic
from p0trans.emit.layout import (
    CHECKS_FILE,
    Import,
    Layout,
    import_lines,
    package_layouts,
    relative_module,
    single_layout,
    sort_key,
)
from p0trans.emit.lines import LINE_LENGTH
from p0trans.emit.names import CHECK_INPUT, CHECK_SHAPE, CHECK_TUPLE, CHECKS
from p0trans.emit.options import Header, Options
from p0trans.emit.plan import ClassPlan, class_plans
from p0trans.emit.selection import Selection, module_reference, select
from p0trans.emit.signatures import given_variables, local_names, told_the_device
from p0trans.emit.surroundings import Callee
from p0trans.emit.targets import HOOKS
from p0trans.emit.view import ClassView, FileView, FunctionView, ItemView
from p0trans.ir.program import Module, Program, Reference

# A local `torch`, `F` or `math` is always written `torch_`, …, so that these find the modules;
# behind a dot, as in `self.F.weight`, they are attributes.
_TORCH = re.compile(r"(?<![\w.])torch\.")
_FUNCTIONAL = re.compile(r"(?<![\w.])F\.")
_MATH = re.compile(r"(?<![\w.])math\.")
_JAXTYPING = re.compile(r"\b(\w+)\[Tensor, ")


def single_file_view(
    program: Program, root: str, options: Options, header: Header
) -> tuple[str, FileView]:
    """The unit named `root` with all that it uses as one file, and that file's path."""
    plans = class_plans(program)
    selection = select(program, (program.unit(root),), plans)
    layout = single_layout(selection, root)
    scope = _scopes((layout,), program, options)[layout.parts]
    _require_options((layout,), plans, options)
    view = _file_view(layout, scope, selection, plans, header, shared_checks=False)
    return layout.path, view


def package_views(program: Program, options: Options, header: Header) -> Mapping[str, FileView]:
    """The files of a package by their paths: one for each unit, of those that were not asked for
    only what is used; one for the checks that they share, and an `__init__.py` for each folder."""
    plans = class_plans(program)
    asked_for = tuple(unit for unit in program.units if unit.name in program.roots)
    selection = select(program, asked_for, plans)
    by_unit = package_layouts(program, selection)
    layouts = tuple(by_unit.values())
    scopes = _scopes(layouts, program, options)
    _require_options(layouts, plans, options)
    views = {
        layout.path: _file_view(
            layout, scopes[layout.parts], selection, plans, header, shared_checks=True
        )
        for layout in layouts
    }
    helpers = [
        helper for helper in CHECKS if any(helper in view.helpers for view in views.values())
    ]
    if helpers:
        views[f"{CHECKS_FILE}.py"] = _checks_view(header, helpers)
    folders = {layout.parts[:depth] for layout in layouts for depth in range(1, len(layout.parts))}
    for folder in folders:
        views["/".join((*folder, "__init__.py"))] = _package_view(header, ())
    roots = [by_unit[unit.name] for unit in asked_for]
    views["__init__.py"] = _package_view(
        header, [(layout.parts, _exports(layout, options)) for layout in roots]
    )
    return views


def _require_options(
    layouts: Sequence[Layout], plans: Mapping[Reference, ClassPlan], options: Options
) -> None:
    modules = (reference for layout in layouts for reference in layout.hooks())
    require_dynamic((plans[reference] for reference in modules), options)


def _exports(layout: Layout, options: Options) -> tuple[str, ...]:
    hooks = layout.hooks().values() if HOOKS[options.target] else ()
    return tuple(sorted((*layout.exports, *hooks), key=sort_key))


def _scopes(
    layouts: Sequence[Layout], program: Program, options: Options
) -> Mapping[tuple[str, ...], FileScope]:
    """What the code of each file may refer to, by the file's place."""
    keywords: dict[Reference, tuple[tuple[int, str], ...]] = {}
    placed = told_the_device(program)
    taken = {layout.parts: layout.taken() for layout in layouts}
    units = {unit.name: unit for unit in program.units}
    for layout in layouts:
        for item in layout.items:
            if not isinstance(item, Module):
                given = given_variables(item)
                names = local_names(item, taken[layout.parts]).shapes if given else {}
                keywords[item.reference] = tuple(
                    (item.shape_parameters.index(name), names[name]) for name in given
                )
    return {
        layout.parts: FileScope(
            layout.classes,
            {
                reference: Callee(name, keywords[reference], reference in placed)
                for reference, name in layout.functions.items()
            },
            taken[layout.parts],
            options,
            units,
        )
        for layout in layouts
    }


def _file_view(
    layout: Layout,
    scope: FileScope,
    selection: Selection,
    plans: Mapping[Reference, ClassPlan],
    header: Header,
    shared_checks: bool,
) -> FileView:
    """The view of one file; with `shared_checks` its helpers are imported from their own file."""
    target = HOOKS[scope.options.target]
    hooks = layout.hooks() if target else {}
    items = []
    for item in layout.items:
        if isinstance(item, Module):
            reference = module_reference(item)
            wraps = reference in selection.wrappers
            public = layout.classes[reference] in layout.exports
            class_ = class_view(plans[reference], plans, scope, wraps, public)
            hook = None
            if reference in hooks:
                hook = hook_view(hooks[reference], class_.name, plans[reference], scope)
            items.append(ItemView(class_, None, hook))
        else:
            public = item.reference not in selection.called
            items.append(ItemView(None, function_view(item, scope, public), None))
    boundaries = [_function_of(item).boundary for item in items]
    called = {
        CHECK_INPUT: any(boundary.inputs for boundary in boundaries),
        CHECK_SHAPE: any(boundary.shapes for boundary in boundaries),
        CHECK_TUPLE: any(boundary.tuples for boundary in boundaries),
    }
    helpers = [helper for helper in CHECKS if called[helper]]
    imports = list(layout.imports)
    if shared_checks:
        module = relative_module(layout.parts, (CHECKS_FILE,))
        imports += [Import(module, helper, helper) for helper in helpers]
    code = "\n".join(text for item in items for text in _code(item))
    library = [Import(*names, names[1]) for names in target.imports] if target and hooks else []
    if any(item.class_ is not None and item.class_.dynamic_shapes for item in items):
        library.append(Import("typing", "Any", "Any"))
    defined = () if shared_checks else tuple(helpers)
    return FileView(
        header=_header_lines(header),
        waivers="F722, F821, RUF100" if scope.jaxtyping else "",
        imports=_imports(code, items, defined, import_lines(library), import_lines(imports)),
        exports=_quoted(_exports(layout, scope.options)),
        hooks=target.template if target else "",
        items=tuple(items),
        helpers=tuple(helpers),
        defined=defined,
    )


def _checks_view(header: Header, helpers: Sequence[str]) -> FileView:
    """The file that the checks of a package share."""
    return FileView(
        header=_header_lines(header),
        waivers="",
        imports=(("import torch", "from torch import Tensor"),),
        exports=_quoted(helpers),
        hooks="",
        items=(),
        helpers=(),
        defined=tuple(helpers),
    )


def _package_view(
    header: Header, files: Sequence[tuple[tuple[str, ...], tuple[str, ...]]]
) -> FileView:
    """An `__init__.py` that re-exports the names of some files, each given with its place; of two
    equal names, the first."""
    imports: list[Import] = []
    exports: list[str] = []
    for place, file_exports in files:
        module = relative_module(("",), place)
        names = [name for name in file_exports if name not in exports]
        exports += names
        imports += [Import(module, name, name) for name in names]
    return FileView(
        header=_header_lines(header),
        waivers="",
        imports=(import_lines(imports),) if imports else (),
        exports=_quoted(sorted(exports, key=sort_key)),
        hooks="",
        items=(),
        helpers=(),
        defined=(),
    )


def _quoted(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f'"{name}"' for name in names)


def _header_lines(header: Header) -> tuple[str, ...]:
    sources = ("standard input" if name == "-" else name for name in header.sources)
    origin = f"Generated by p0trans {header.version} from {', '.join(sources)}."
    width = LINE_LENGTH - len("# ")
    lines = textwrap.wrap(origin, width, break_long_words=False, break_on_hyphens=False)
    command = " ".join(header.command.splitlines())
    return (
        *lines,
        "Do not edit: change the source, then run",
        f"    {command}",
        f"Source SHA-256: {header.digest}",
    )


def _imports(
    code: str,
    items: Sequence[ItemView],
    defined: Sequence[str],
    library: Sequence[str],
    relative: Sequence[str],
) -> tuple[tuple[str, ...], ...]:
    """Groups of import lines: Python's own `library`, what is installed, then this package."""
    uses_torch = any(item.hook is not None for item in items) or _TORCH.search(code)
    installed = ["import torch"] if defined or uses_torch else []
    library = ["import math", *library] if _MATH.search(code) else library
    if _FUNCTIONAL.search(code):
        installed.append("import torch.nn.functional as F")
    annotated = set(_JAXTYPING.findall(code))
    dtypes = sorted(
        (t.jaxtyping for t in DTYPES.values() if t.jaxtyping in annotated), key=sort_key
    )
    if dtypes:
        installed.append(f"from jaxtyping import {', '.join(dtypes)}")
    names = ["Tensor"] if items else []
    names += ["nn"] if any(item.class_ is not None for item in items) else []
    if names:
        installed.append(f"from torch import {', '.join(names)}")
    return tuple(tuple(group) for group in (library, installed, relative) if group)


def _function_of(item: ItemView) -> FunctionView:
    if item.function is not None:
        return item.function
    assert item.class_ is not None
    return item.class_.forward


def _code(item: ItemView) -> Iterator[str]:
    """The code of an item, without comments and docstrings."""
    if item.class_ is not None:
        yield from _constructor_code(item.class_)
        if item.class_.dynamic_shapes is not None:
            yield from item.class_.dynamic_shapes.dims
            yield from (axes for _, axes in item.class_.dynamic_shapes.inputs)
    function = _function_of(item)
    yield from function.parameters
    yield function.returns
    for check in function.boundary.inputs:
        yield check.dtype
    for line in function.body:
        yield line.code


def _constructor_code(class_: ClassView) -> Iterator[str]:
    constructor = class_.constructor
    if constructor is not None:
        yield from constructor.parameters
        yield from (line.code for line in (*constructor.assignments, *constructor.resets))
