"""Which definitions become functions and which modules become classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from p0trans.emit.plan import ClassPlan
from p0trans.emit.usage import analyse_usage
from p0trans.ir.program import Call, Definition, Module, Program, Reference, Unit, Value


@dataclass(frozen=True, slots=True)
class Selection:
    """What is emitted, in source order.

    `called` are the functions that emitted code calls; the others are there for the reader of
    the file. `wrappers` are the modules whose `forward` only calls the function. `calls` has the
    definitions that the code of each function and module calls; `layers` are the modules that
    torch.nn has.
    """

    units: tuple[str, ...]
    functions: tuple[Definition, ...]
    modules: tuple[Module, ...]
    called: frozenset[Reference]
    wrappers: frozenset[Reference]
    function_calls: Mapping[Reference, tuple[Reference, ...]]
    module_calls: Mapping[Reference, tuple[Reference, ...]]
    layers: frozenset[Reference]

    def functions_of(self, unit: str) -> tuple[Definition, ...]:
        return tuple(function for function in self.functions if function.unit == unit)

    def modules_of(self, unit: str) -> tuple[Module, ...]:
        return tuple(module for module in self.modules if module.unit == unit)

    def functions_used(self, items: Iterable[Definition | Module]) -> tuple[Reference, ...]:
        """What the code of some items calls, each once."""
        calls = (
            (
                self.module_calls[module_reference(item)]
                if isinstance(item, Module)
                else self.function_calls[item.reference]
            )
            for item in items
        )
        return tuple(dict.fromkeys(reference for called in calls for reference in called))

    def classes_used(self, items: Iterable[Definition | Module]) -> tuple[Reference, ...]:
        """The child modules of some items, each once."""
        modules = (item for item in items if isinstance(item, Module))
        used = (sub.module for module in modules for sub in module.subs)
        return tuple(dict.fromkeys(module for module in used if module not in self.layers))


def module_reference(module: Module) -> Reference:
    return Reference(module.unit, module.name)


def select(
    program: Program, units: tuple[Unit, ...], plans: Mapping[Reference, ClassPlan]
) -> Selection:
    """What stands for `units`: their modules, the definitions that no module stands for, and
    all that these use, wherever it is declared, but for layers that torch.nn has."""
    definitions = {d.reference: d for unit in program.units for d in unit.definitions}
    declared = {module_reference(m): m for unit in program.units for m in unit.modules}
    layers = frozenset(reference for reference, plan in plans.items() if plan.layer)
    modules = _with_children(declared, [m for unit in units for m in unit.modules], layers)
    covered = {module.definition for module in modules.values()}
    pending = [
        d.reference for unit in units for d in unit.definitions if d.reference not in covered
    ]
    module_calls = {
        reference: _called(module.body or definitions[module.definition], _child_calls(module))
        for reference, module in modules.items()
    }
    for called in module_calls.values():
        pending.extend(called)
    function_calls: dict[Reference, tuple[Reference, ...]] = {}
    while pending:
        reference = pending.pop()
        if reference not in function_calls:
            function_calls[reference] = _called(definitions[reference], frozenset())
            pending.extend(function_calls[reference])
    wrappers = frozenset(
        reference
        for reference, module in modules.items()
        if module.definition in function_calls and not module.consts and not module.subs
    )
    module_calls |= {wrapper: (modules[wrapper].definition,) for wrapper in wrappers}
    return Selection(
        tuple(unit.name for unit in program.units),
        tuple(d for reference, d in definitions.items() if reference in function_calls),
        tuple(m for reference, m in declared.items() if reference in modules),
        frozenset(
            reference
            for calls in (*function_calls.values(), *module_calls.values())
            for reference in calls
        ),
        wrappers,
        function_calls,
        module_calls,
        layers,
    )


def _called(definition: Definition, without: Set[Value]) -> tuple[Reference, ...]:
    """The definitions of the calls whose results are used, but for the steps in `without`."""
    operands = {value: step.node.operands for value, step in definition.numbered_steps()}
    uses = analyse_usage(definition, operands).uses
    return tuple(
        dict.fromkeys(
            step.node.definition
            for value, step in definition.numbered_steps()
            if isinstance(step.node, Call) and value in uses and value not in without
        )
    )


def _child_calls(module: Module) -> frozenset[Value]:
    return frozenset(call for sub in module.subs for call in sub.calls)


def _with_children(
    declared: Mapping[Reference, Module], modules: list[Module], layers: Set[Reference]
) -> Mapping[Reference, Module]:
    found: dict[Reference, Module] = {}
    pending = list(reversed(modules))
    while pending:
        module = pending.pop()
        if module_reference(module) not in found:
            found[module_reference(module)] = module
            pending.extend(declared[s.module] for s in module.subs if s.module not in layers)
    return found
