"""What the constructor of each emitted class takes and where the class keeps its state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from p0trans.dtypes import DTYPES, DType
from p0trans.emit.names import MODULE_ATTRIBUTES, RESERVED, allocate
from p0trans.emit.torch_layers import TorchLayer, torch_layer
from p0trans.ir.program import Definition, Module, Program, Reference, Sub
from p0trans.ir.program import Number as NumberNode
from p0trans.shapes.dim import Constraint, Dim, variable
from p0trans.shapes.solve import FromEquation, FromInput, Given, ShapeBinding, solve
from p0trans.types import TensorType, Type, tensors


@dataclass(frozen=True, slots=True)
class Owned:
    """Where a parameter of the definition is kept: `weight`, `norm.weight`.

    A `number` is a Python number that the body needs as a tensor.
    """

    path: str
    number: bool


@dataclass(frozen=True, slots=True)
class Number:
    """A parameter that `__init__` takes as a Python number, with its name and default there."""

    parameter: int
    name: str
    default: float | int | bool


@dataclass(frozen=True, slots=True)
class ClassPlan:
    """One class to be.

    `inputs` are the definition's parameters that `forward` takes; `constructor` the shape
    variables that `__init__` takes, `arguments` their names there, and `numbers` its numbers:
    this module's own consts and those of its children. `bindings` give each shape variable its
    number: their input 0 stands for the constructor's variables, input `i + 1` is `inputs[i]`.
    `variables` and `children` are the attributes of shape variables and child modules, `owned`
    those of the parameters that are no inputs. `factory` says which of the device and the dtype of
    its tensors `__init__` takes: no dtype where the module has `floats` of several. Where torch.nn
    has the module, that is its `layer` and emitted instead. `loose` are the numbers that such a
    layer keeps, which may have a wider type there: `nn.RMSNorm` has None for an eps. `copies` are
    the numbers of children that the module keeps, too, since it computes with them.
    """

    module: Module
    definition: Definition
    inputs: tuple[int, ...]
    constructor: tuple[str, ...]
    arguments: Mapping[str, str]
    numbers: tuple[Number, ...]
    bindings: tuple[ShapeBinding, ...]
    variables: Mapping[str, str]
    children: Mapping[str, str]
    owned: Mapping[int, Owned]
    factory: tuple[str, ...]
    floats: frozenset[DType]
    loose: frozenset[int]
    copies: frozenset[int]
    layer: TorchLayer | None

    @property
    def known(self) -> TensorType:
        """The type that stands for the constructor among the inputs."""
        return _known(self.constructor)

    @property
    def settled(self) -> tuple[ShapeBinding, ...]:
        """The bindings that the constructor's variables determine, their own included."""
        found: list[ShapeBinding] = []
        known: set[str] = set()
        for binding in self.bindings:
            if (isinstance(binding, FromInput) and binding.parameter == 0) or (
                isinstance(binding, FromEquation) and binding.sources <= known
            ):
                found.append(binding)
                known.add(binding.variable)
        return tuple(found)

    @property
    def settled_facts(self) -> tuple[Constraint, ...]:
        """What the definition demands of its shape variables and the constructor decides."""
        settled = {binding.variable for binding in self.settled}
        facts = dict.fromkeys((*self.definition.where, *self.definition.assume))
        return tuple(fact for fact in facts if fact.variables() and fact.variables() <= settled)

    @property
    def open_facts(self) -> tuple[Constraint, ...]:
        """What it demands of them beyond that."""
        settled = self.settled_facts
        facts = dict.fromkeys((*self.definition.where, *self.definition.assume))
        return tuple(fact for fact in facts if fact not in settled)

    @property
    def has_constructor(self) -> bool:
        return bool(self.constructor or self.owned or self.children)


def class_plans(program: Program) -> Mapping[Reference, ClassPlan]:
    """The plan of every module of the program."""
    plans: dict[Reference, ClassPlan] = {}
    definitions = {d.reference: d for unit in program.units for d in unit.definitions}
    classes = {module.name for unit in program.units for module in unit.modules}
    taken = RESERVED | classes | {"device", "dtype"}
    # A module comes after those that its subs name, so their plans are there when it is reached.
    for unit in program.units:
        for module in unit.modules:
            definition = module.body or definitions[module.definition]
            # The class itself is what a file is for that was asked for.
            layer = None if unit.name in program.roots else torch_layer(module, definition)
            plans[Reference(module.unit, module.name)] = _plan(
                module, definition, plans, taken, layer
            )
    return plans


def _plan(
    module: Module,
    definition: Definition,
    plans: Mapping[Reference, ClassPlan],
    taken: frozenset[str],
    layer: TorchLayer | None,
) -> ClassPlan:
    owned_parameters = module.owned
    inputs = tuple(
        index for index in range(len(definition.parameters)) if index not in owned_parameters
    )
    constructor, bindings = _constructor(module, definition, inputs, plans)
    variables = allocate(constructor, MODULE_ATTRIBUTES)
    loose = {
        mine for sub in module.subs for their, mine in sub.bound if their in plans[sub.module].loose
    }
    copies = frozenset(index for index in loose if _is_used(definition, module, index))
    # What a child keeps has its name there.
    kept = sorted(
        (
            *(state.parameter for state in module.states),
            *(const.parameter for const in module.consts),
            *copies,
        )
    )
    names = [definition.parameters[index].name for index in kept]
    values = allocate(names, MODULE_ATTRIBUTES, set(variables.values()))
    children = allocate(
        (sub.name for sub in module.subs),
        MODULE_ATTRIBUTES,
        {*variables.values(), *values.values()},
    )
    owned: dict[int, Owned] = {}
    defaults: dict[int, float | int | bool] = {}
    for sub in module.subs:
        for theirs, mine in sub.bound:
            there = plans[sub.module].owned[theirs]
            owned[mine] = Owned(f"{children[sub.name]}.{there.path}", there.number)
            for number in plans[sub.module].numbers:
                if number.parameter == theirs:
                    defaults.setdefault(mine, number.default)
    for state in module.states:
        owned[state.parameter] = Owned(values[definition.parameters[state.parameter].name], False)
    for const in module.consts:
        owned[const.parameter] = Owned(values[definition.parameters[const.parameter].name], True)
        defaults[const.parameter] = const.default
    for index in copies:
        owned[index] = Owned(values[definition.parameters[index].name], True)
    arguments = allocate(constructor, taken)
    # Shape variables and parameters are two name spaces of the source and one of a signature.
    numbers = allocate(
        (definition.parameters[index].name for index in sorted(defaults)),
        taken,
        set(arguments.values()),
    )
    floats = _floats(definition, module).union(*(plans[sub.module].floats for sub in module.subs))
    return ClassPlan(
        module=module,
        definition=definition,
        inputs=inputs,
        constructor=constructor,
        arguments=arguments,
        numbers=tuple(
            Number(index, numbers[definition.parameters[index].name], defaults[index])
            for index in sorted(defaults)
        ),
        bindings=bindings,
        variables=variables,
        children=children,
        owned=owned,
        factory=_factory(definition, module, floats, plans),
        floats=floats,
        loose=frozenset(loose - copies if layer is None else layer.numbers),
        copies=copies,
        layer=layer,
    )


def _is_used(definition: Definition, module: Module, parameter: int) -> bool:
    """Whether a module computes with a parameter itself, apart from its children."""
    calls = {call for sub in module.subs for call in sub.calls}
    return any(
        parameter in step.node.operands
        for value, step in definition.numbered_steps()
        if value not in calls
    )


def _floats(definition: Definition, module: Module) -> frozenset[DType]:
    """The float dtypes of what a module computes with, Python numbers apart."""
    types = [p.type for i, p in enumerate(definition.parameters) if i not in module.numbers]
    types += [step.type for step in definition.steps if not isinstance(step.node, NumberNode)]
    found = (tensor.dtype for type_ in types for tensor in tensors(type_))
    return frozenset(dtype for dtype in found if dtype.is_float)


def _factory(
    definition: Definition,
    module: Module,
    floats: frozenset[DType],
    plans: Mapping[Reference, ClassPlan],
) -> tuple[str, ...]:
    children = [plans[sub.module].factory for sub in module.subs]
    if not module.states and not any(children):
        return ()
    types = [definition.parameters[state.parameter].type for state in module.states]
    has_floats = any(tensor.dtype.is_float for type_ in types for tensor in tensors(type_))
    if len(floats) == 1 and (has_floats or any("dtype" in names for names in children)):
        return ("device", "dtype")
    return ("device",)


def _constructor(
    module: Module,
    definition: Definition,
    inputs: tuple[int, ...],
    plans: Mapping[Reference, ClassPlan],
) -> tuple[tuple[str, ...], tuple[ShapeBinding, ...]]:
    """The constructor's shape variables: those of the state's shapes and of the children's
    constructors, and what the inputs of `forward` do not determine."""
    needed: set[str] = set()
    for state in module.states:
        needed |= _variables(definition.parameters[state.parameter].type)
    for sub in module.subs:
        for dim in child_dims(sub, plans[sub.module]):
            needed |= dim.variables()
    types = tuple(definition.parameters[index].type for index in inputs)
    while True:
        constructor = tuple(name for name in definition.shape_parameters if name in needed)
        bindings = solve(
            definition.shape_parameters,
            (_known(constructor), *types),
            (*definition.where, *definition.assume),
        )
        given = {binding.variable for binding in bindings if isinstance(binding, Given)}
        if not given:
            return constructor, bindings
        needed |= given


def _known(constructor: tuple[str, ...]) -> TensorType:
    return TensorType(DTYPES["I64"], tuple(map(variable, constructor)))


def child_dims(sub: Sub, child: ClassPlan) -> tuple[Dim, ...]:
    """The dims that a child's constructor takes, in the parent's shape variables."""
    dims = dict(zip(child.definition.shape_parameters, sub.shape_arguments, strict=True))
    sizes = child.known.shape if child.layer is None else child.layer.sizes
    return tuple(size.substitute(dims) for size in sizes)


def _variables(type_: Type) -> frozenset[str]:
    if isinstance(type_, TensorType):
        return frozenset(name for dim in type_.shape for name in dim.variables())
    return frozenset[str]().union(*map(_variables, type_.items))
