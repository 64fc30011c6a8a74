"""`module` declarations: which parameters of a definition a `torch.nn.Module` owns, and how."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from p0trans.checker.literals import literal_trouble
from p0trans.checker.suggest import did_you_mean, nearest
from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label
from p0trans.ir.program import (
    Call,
    Const,
    Definition,
    Initializer,
    Module,
    Reference,
    State,
    Sub,
    Value,
)
from p0trans.shapes.dim import Dim
from p0trans.shapes.facts import Facts
from p0trans.source import Place, Source, Span
from p0trans.syntax import tree
from p0trans.types import TensorType, Type


class InitializerRule(NamedTuple):
    """What an initializer takes: how many numbers, and the least rank of the parameter."""

    arguments: tuple[str, ...]
    least_rank: int = 0


INITIALIZERS: Mapping[str, InitializerRule] = MappingProxyType(
    {
        "ones": InitializerRule(()),
        "zeros": InitializerRule(()),
        "normal": InitializerRule(("std",)),
        "uniform": InitializerRule(("a", "b")),
        "xavier_uniform": InitializerRule((), 2),
        "kaiming_uniform": InitializerRule((), 2),
        "full": InitializerRule(("v",)),
    }
)
_FILLS = frozenset({"ones", "zeros", "full"})


class ModuleScope(NamedTuple):
    """What a module declaration may name. A definition that is None was reported as wrong."""

    definitions: Mapping[str, Definition | None]
    modules: Mapping[str, tuple[Module, Definition] | None]


class _Report:
    """Collects diagnostics of one declaration."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []

    def add(
        self,
        code: str,
        span: Span,
        *,
        near: str | None = None,
        before: Span | None = None,
        **facts: Any,
    ) -> None:
        """Add a finding; `near` is what was meant, `before` where the same was said first."""
        place = Place(self.source, span)
        fixes = () if near is None else (Fix(f"write `{near}`", (Edit(place, near),)),)
        first = () if before is None else (Label(Place(self.source, before), "first here"),)
        self.diagnostics.append(
            diagnose(code, place, secondary=first, fixes=fixes, near=did_you_mean(near), **facts)
        )


def check_module(
    source: Source, unit: str, declaration: tree.Module, scope: ModuleScope
) -> tuple[Module | None, tuple[Diagnostic, ...]]:
    """The module that `declaration` describes, or what is wrong with it."""
    report = _Report(source)
    name = declaration.definition.text
    if name not in scope.definitions:
        near = nearest(name, scope.definitions)
        report.add(
            "P0901",
            declaration.definition.span,
            near=near,
            name=declaration.name.text,
            definition=name,
        )
        return None, tuple(report.diagnostics)
    definition = scope.definitions[name]
    if definition is None:
        return None, ()
    states: list[State] = []
    consts: list[Const] = []
    subs: list[Sub] = []
    taken: dict[int, str] = {}
    attributes: dict[str, Span] = {}
    # Consts first, whatever their order in the source: a child may be handed one.
    for item in sorted(declaration.items, key=lambda item: isinstance(item, tree.Sub)):
        if item.name.text in attributes:
            report.add(
                "P0907",
                item.name.span,
                before=attributes[item.name.text],
                name=item.name.text,
                what="the name of another part of this module",
            )
            continue
        attributes[item.name.text] = item.name.span
        if isinstance(item, tree.Sub):
            sub = _sub(report, definition, item, scope, taken)
            subs += [] if sub is None else [sub]
            continue
        index = _parameter(report, definition, item.name, taken)
        if index is None:
            continue
        taken[index] = f"a {item.kind}"
        if item.kind == "const":
            const = _const(report, definition, item, index)
            consts += [] if const is None else [const]
        else:
            state = _state(report, definition, item, index)
            states += [] if state is None else [state]
    if report.diagnostics:
        return None, tuple(report.diagnostics)
    module = Module(
        declaration.name.text,
        unit,
        declaration.doc if declaration.doc is not None else definition.doc,
        definition.reference,
        tuple(states),
        tuple(consts),
        tuple(subs),
        declaration.span,
    )
    return module, ()


def stateless_module(definition: Definition, taken: Collection[str]) -> Module:
    """The module of a definition in a file without `module` declarations.

    Its name is the definition's in PascalCase, which `foo_bar` and `fooBar` share: a name that
    is `taken` gets an underscore.
    """
    name = pascal_case(definition.name)
    while name in taken:
        name += "_"
    return Module(
        name,
        definition.unit,
        definition.doc,
        definition.reference,
        (),
        (),
        (),
        definition.span,
    )


def pascal_case(name: str) -> str:
    """`transformer_block` as `TransformerBlock`; a name of underscores alone stays."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_")) or name


# --- items ------------------------------------------------------------------------------


def _parameter(
    report: _Report, definition: Definition, name: tree.Identifier, taken: Mapping[int, str]
) -> int | None:
    names = [parameter.name for parameter in definition.parameters]
    if name.text not in names:
        report.add(
            "P0902",
            name.span,
            near=nearest(name.text, names),
            definition=definition.name,
            name=name.text,
            known=", ".join(names),
        )
        return None
    index = names.index(name.text)
    if index in taken:
        report.add("P0907", name.span, name=name.text, what=f"{taken[index]} of this module")
        return None
    return index


def _state(report: _Report, definition: Definition, item: tree.State, index: int) -> State | None:
    type_ = definition.parameters[index].type
    if not isinstance(type_, TensorType) or (item.kind == "param" and not type_.dtype.is_float):
        floats = "a tensor of floats; a `buffer` may have any dtype"
        wanted = floats if item.kind == "param" else "a tensor"
        report.add(
            "P0903", item.name.span, name=item.name.text, found=type_, kind=item.kind, wanted=wanted
        )
        return None
    initializer = item.initializer
    if initializer.name is None:
        report.add(
            "P0905",
            initializer.span,
            name=report.source.slice(initializer.span),
            known=", ".join(INITIALIZERS),
        )
        return None
    word = initializer.name.text
    rule = INITIALIZERS.get(word)
    if rule is None:
        report.add(
            "P0905",
            initializer.name.span,
            near=nearest(word, INITIALIZERS),
            name=word,
            known=", ".join(INITIALIZERS),
        )
        return None
    trouble = _initializer_trouble(item, word, rule, type_)
    if trouble is not None:
        report.add("P0906", initializer.span, initializer=word, wanted=trouble)
        return None
    arguments = tuple(float(argument) for argument in initializer.arguments)
    return State(item.kind, index, Initializer(word, arguments), item.span)


def _initializer_trouble(
    item: tree.State, word: str, rule: InitializerRule, type_: TensorType
) -> str | None:
    initializer = item.initializer
    if len(initializer.arguments) != len(rule.arguments):
        form = f"{word}({', '.join(rule.arguments)})" if rule.arguments else word
        return f"is written `{form}`"
    bool_filled = word == "full" and type_.dtype.kind == "bool"
    if any(isinstance(argument, bool) for argument in initializer.arguments) and not bool_filled:
        return "takes numbers"
    if type_.rank < rule.least_rank:
        return f"needs a rank of at least {rule.least_rank}, and `{item.name.text}` is {type_}"
    if not type_.dtype.is_float and word not in _FILLS:
        return f"fills floats, and `{item.name.text}` is {type_}"
    if word == "full" and not (bool_filled and initializer.arguments[0] in (0, 1)):
        why = literal_trouble(initializer.arguments[0], type_.dtype)
        if why is not None:
            return f"fills with a value that is not one of {type_.dtype}{why}"
    if word == "uniform" and initializer.arguments[0] > initializer.arguments[1]:
        return "needs its lower bound first"
    if word == "normal" and initializer.arguments[0] < 0:
        return "needs a standard deviation that is not negative"
    return None


def _const(report: _Report, definition: Definition, item: tree.State, index: int) -> Const | None:
    type_ = definition.parameters[index].type
    if not isinstance(type_, TensorType) or type_.rank != 0:
        report.add(
            "P0903",
            item.name.span,
            name=item.name.text,
            found=type_,
            kind="const",
            wanted="a scalar",
        )
        return None
    initializer = item.initializer
    literal = report.source.slice(initializer.span)
    (value,) = initializer.arguments
    why = literal_trouble(value, type_.dtype)
    if why is not None:
        report.add(
            "P0904",
            initializer.span,
            name=item.name.text,
            found=type_.dtype,
            literal=literal,
            why=why,
        )
        return None
    return Const(index, float(value) if type_.dtype.is_float else value, item.span)


# --- children ---------------------------------------------------------------------------


def _sub(
    report: _Report,
    definition: Definition,
    item: tree.Sub,
    scope: ModuleScope,
    taken: dict[int, str],
) -> Sub | None:
    if item.module.text not in scope.modules:
        near = nearest(item.module.text, scope.modules)
        report.add("P0908", item.module.span, near=near, name=item.module.text)
        return None
    found = scope.modules[item.module.text]
    if found is None:
        return None
    child, child_definition = found
    bound = _bound_pairs(report, definition, child, child_definition, item, taken)
    if bound is None:
        return None
    calls = _matching_calls(definition, child_definition, bound)
    if not calls:
        report.add(
            "P0911",
            item.span,
            definition=child_definition.name,
            user=definition.name,
            arguments=" and ".join(
                f"{child_definition.parameters[theirs].name} = {definition.parameters[mine].name}"
                for theirs, mine in bound
            ),
            name=item.name.text,
        )
        return None
    shape_arguments = _shape_arguments(report, definition, child, child_definition, item, calls)
    if shape_arguments is None:
        return None
    return Sub(
        item.name.text,
        Reference(child.unit, child.name),
        bound,
        calls,
        shape_arguments,
        item.span,
        frozenset(mine for theirs, mine in bound if theirs in child.numbers),
    )


def _bound_pairs(
    report: _Report,
    definition: Definition,
    child: Module,
    child_definition: Definition,
    item: tree.Sub,
    taken: dict[int, str],
) -> tuple[tuple[int, int], ...] | None:
    """(parameter of the child's definition, parameter of this one) for all that the child owns."""
    owned = {child_definition.parameters[index].name: index for index in sorted(child.owned)}
    mine = [parameter.name for parameter in definition.parameters]
    reported_before = len(report.diagnostics)
    pairs: dict[int, int] = {}
    for theirs, ours in item.arguments:
        if theirs.text not in owned:
            report.add(
                "P0909",
                theirs.span,
                near=nearest(theirs.text, owned),
                name=theirs.text,
                module=child.name,
                known=", ".join(owned) or "empty",
            )
        elif ours.text not in mine:
            report.add(
                "P0902",
                ours.span,
                near=nearest(ours.text, mine),
                definition=definition.name,
                name=ours.text,
                known=", ".join(mine),
            )
        elif owned[theirs.text] in pairs:
            report.add("P0907", theirs.span, name=theirs.text, what=f"bound in `{item.name.text}`")
        elif not _may_bind(child, owned[theirs.text], taken.get(mine.index(ours.text))):
            owner = taken[mine.index(ours.text)]
            report.add("P0907", ours.span, name=ours.text, what=f"{owner} of this module")
        else:
            pairs[owned[theirs.text]] = mine.index(ours.text)
    for name, index in owned.items():
        if index not in pairs and not any(theirs.text == name for theirs, _ in item.arguments):
            report.add("P0910", item.span, name=name, module=child.name)
    if len(report.diagnostics) > reported_before:
        return None
    for theirs_index, mine_index in pairs.items():
        is_const = theirs_index in child.numbers
        taken[mine_index] = "a const" if is_const else f"state of `{item.name.text}`"
    return tuple(sorted(pairs.items()))


def _may_bind(child: Module, theirs: int, taken: str | None) -> bool:
    """A const may be handed to several children; anything else has one owner."""
    return taken is None or (taken == "a const" and theirs in child.numbers)


def _matching_calls(
    definition: Definition, child_definition: Definition, bound: Sequence[tuple[int, int]]
) -> tuple[Value, ...]:
    """The steps that call the child's definition with exactly the bound parameters."""
    return tuple(
        value
        for value, step in definition.numbered_steps()
        if isinstance(step.node, Call)
        and step.node.definition == child_definition.reference
        and all(step.node.operands[theirs] == mine for theirs, mine in bound)
    )


def _shape_arguments(
    report: _Report,
    definition: Definition,
    child: Module,
    child_definition: Definition,
    item: tree.Sub,
    calls: Sequence[Value],
) -> tuple[Dim, ...] | None:
    """The child's shape arguments; those that its state depends on must agree in all calls."""
    dims = [_call_dims(definition, value) for value in calls]
    facts = Facts(definition.shape_parameters, (*definition.where, *definition.assume))
    for index, variable in enumerate(child_definition.shape_parameters):
        first = dims[0][index]
        different = next((d[index] for d in dims if not facts.equal(d[index], first)), None)
        if different is not None and variable in _state_variables(child, child_definition):
            report.add(
                "P0912",
                item.span,
                name=item.name.text,
                variable=variable,
                first=first,
                second=different,
            )
            return None
    return dims[0]


def _call_dims(definition: Definition, value: Value) -> tuple[Dim, ...]:
    step = definition.step_of(value)
    assert step is not None
    assert isinstance(step.node, Call)
    return step.node.shape_arguments


def _state_variables(child: Module, child_definition: Definition) -> frozenset[str]:
    types: list[Type] = [child_definition.parameters[index].type for index in child.owned]
    return frozenset(
        name
        for type_ in types
        if isinstance(type_, TensorType)
        for dim in type_.shape
        for name in dim.variables()
    )
