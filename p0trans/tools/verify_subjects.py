"""What of an emitted file can be run beside the reference: its modules and its functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from p0trans.dtypes import DType
from p0trans.emit.layout import single_layout
from p0trans.emit.plan import ClassPlan, class_plans
from p0trans.emit.selection import module_reference, select
from p0trans.emit.signatures import given_variables, local_names
from p0trans.ir.program import Call, Definition, Module, Program, Reference
from p0trans.shapes.dim import Constraint
from p0trans.shapes.solve import input_tensors
from p0trans.tools.constraints import constraints
from p0trans.types import tensors

Input: TypeAlias = tuple[int, tuple[int, ...]]
"""A tensor among the inputs: the parameter, and the way into it where that is a tuple."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One class or function of the emitted file and the definition that says what it computes.

    `name` is what the file calls it. `plan` is there for a class; `keywords` are the sizes that a
    call passes as integers, by shape variable: to the constructor of a class, or to a function.
    `constraints` are all that sizes must satisfy for the call to go through.
    """

    name: str
    definition: Definition
    plan: ClassPlan | None
    keywords: Mapping[str, str]
    constraints: tuple[Constraint, ...]

    def is_called(self, name: str) -> bool:
        """Whether `name` is a name of it in the emitted file or in the source."""
        module = None if self.plan is None else self.plan.module.name
        return name in (self.name, self.definition.name, module)


def subjects(program: Program, root: str, emitted: Program | None = None) -> tuple[Subject, ...]:
    """What the file emitted for the unit `root` has of that unit's own, in source order.

    `program` says what each computes. `emitted` is it as emission saw it, rewritten or not; a
    function may be left out of that, but no module.
    """
    seen = emitted or program
    selection = select(seen, (seen.unit(root),), class_plans(seen))
    layout = single_layout(selection, root)
    plans = class_plans(program)
    needed = constraints(program)
    found: list[Subject] = []
    for item in layout.items:
        if item.unit != root:
            continue
        if isinstance(item, Module):
            reference = module_reference(item)
            name, plan = layout.classes[reference], plans[reference]
            definition, keywords = plan.definition, plan.arguments
            found.append(Subject(name, definition, plan, keywords, needed[definition.reference]))
        else:
            shapes = local_names(item, layout.taken()).shapes
            keywords = {variable: shapes[variable] for variable in given_variables(item)}
            name = layout.functions[item.reference]
            definition = program.definition(item.reference)
            found.append(Subject(name, definition, None, keywords, needed[item.reference]))
    return tuple(found)


def dtypes_of(program: Program, definition: Definition) -> frozenset[DType]:
    """The dtypes of all values of a definition and of those that it calls."""
    found: set[DType] = set()
    seen: set[Reference] = set()
    pending = [definition]
    while pending:
        one = pending.pop()
        if one.reference in seen:
            continue
        seen.add(one.reference)
        for type_ in (*(p.type for p in one.parameters), *(step.type for step in one.steps)):
            found.update(tensor.dtype for tensor in tensors(type_))
        pending += (
            program.definition(step.node.definition)
            for step in one.steps
            if isinstance(step.node, Call)
        )
    return frozenset(found)


def leaves_of(program: Program, subject: Subject) -> tuple[Input, ...]:
    """What gradients are taken with respect to: float inputs of a call and float parameters."""
    definition, plan = subject.definition, subject.plan
    taken = (
        index
        for index in range(len(definition.parameters))
        if plan is None or index in plan.inputs or _is_param(program, plan.module, index)
    )
    types = [parameter.type for parameter in definition.parameters]
    chosen = frozenset(taken)
    return tuple(
        (tensor.parameter, tensor.path)
        for tensor in input_tensors(types)
        if tensor.parameter in chosen and tensor.type.dtype.is_float
    )


def _is_param(program: Program, module: Module, parameter: int) -> bool:
    """Whether the module, or the child that owns the parameter, keeps it as `param`."""
    pending = [(module, parameter)]
    while pending:
        owner, index = pending.pop()
        if any(state.parameter == index and state.kind == "param" for state in owner.states):
            return True
        pending += (
            (program.module(sub.module), theirs)
            for sub in owner.subs
            for theirs, mine in sub.bound
            if mine == index
        )
    return False
