"""The typed IR as text: one line a step, its type at the end."""

from __future__ import annotations

from collections.abc import Mapping

from p0trans.dtypes import DType
from p0trans.ir.program import (
    Alias,
    Apply,
    Call,
    Definition,
    Module,
    Node,
    Number,
    Pack,
    Program,
    Project,
    Reference,
    Unit,
    Value,
)
from p0trans.ops.fused import EVERY
from p0trans.ops.table import AttributeValue
from p0trans.shapes.dim import Dim
from p0trans.shapes.solve import FromEquation, FromInput, Given, ShapeBinding
from p0trans.types import Type


def print_program(program: Program) -> str:
    """All units in dependency order."""
    return "\n".join(print_unit(program, unit) for unit in program.units)


def print_unit(program: Program, unit: Unit) -> str:
    """One unit: its definitions, then its modules."""
    parts = [f"unit {unit.name}\n"]
    parts += [print_definition(definition) for definition in unit.definitions]
    parts += [print_module(program, module) for module in unit.modules]
    return "\n".join(parts)


def value_names(definition: Definition) -> dict[Value, str]:
    """A name for each value: its `let` name, or that of the `let` it serves with a number.

    The numbers start anew in each `let`, so that a change in one leaves the others alone.
    """
    names: dict[Value, str] = {
        index: parameter.name for index, parameter in enumerate(definition.parameters)
    }
    taken = dict.fromkeys(names.values(), 1)
    counts: dict[str, int] = {}
    for value, step in definition.numbered_steps():
        if step.binding is None:
            owner = step.owner or "result"
            counts[owner] = counts.get(owner, 0) + 1
            name = f"{owner}.{counts[owner]}"
        else:
            name = step.binding
        # A name that is bound again is another value.
        taken[name] = taken.get(name, 0) + 1
        names[value] = name if taken[name] == 1 else f"{name}'{taken[name]}"
    return names


def print_definition(definition: Definition) -> str:
    names = value_names(definition)
    heading = f"def {definition.name}"
    if definition.shape_parameters:
        heading += f" [{', '.join(definition.shape_parameters)}]"
    for parameter in definition.parameters:
        heading += f" ({parameter.name} : {type_text(parameter.type)})"
    lines = [f"{heading} : {type_text(definition.result_type)}"]
    lines += [f"  size {binding_text(definition, binding)}" for binding in definition.bindings]
    lines += [f"  where {constraint}" for constraint in definition.where]
    lines += [f"  assume {constraint}" for constraint in definition.assume]
    rows = [
        (names[value], node_text(step.node, names), type_text(step.type))
        for value, step in definition.numbered_steps()
    ]
    width = max((len(name) for name, _, _ in rows), default=0)
    node_width = max((len(node) for _, node, _ in rows if len(node) <= 60), default=0)
    lines += [f"  {name:{width}} = {node:{node_width}} : {type_}" for name, node, type_ in rows]
    lines.append(f"  return {names[definition.result]}")
    return "\n".join(lines) + "\n"


def print_module(program: Program, module: Module) -> str:
    definition = program.definition(module.definition)
    parameters = [parameter.name for parameter in definition.parameters]
    lines = [f"module {module.name} = {_reference_text(module.definition)}"]
    for state in module.states:
        numbers = ", ".join(map(str, state.initializer.arguments))
        initializer = state.initializer.name + (f"({numbers})" if numbers else "")
        lines.append(f"  {state.kind} {parameters[state.parameter]} = {initializer}")
    lines += [f"  const {parameters[c.parameter]} = {c.default}" for c in module.consts]
    for sub in module.subs:
        child = program.definition(program.module(sub.module).definition)
        bound = ", ".join(
            f"{child.parameters[theirs].name} = {parameters[mine]}" for theirs, mine in sub.bound
        )
        dims = ", ".join(map(str, sub.shape_arguments))
        lines.append(f"  sub {sub.name} = {_reference_text(sub.module)}[{dims}]({bound})")
    inputs = [name for index, name in enumerate(parameters) if index not in module.owned]
    lines.append(f"  forward({', '.join(inputs)})")
    text = "\n".join(lines) + "\n"
    if module.body is None or module.body == definition:
        return text
    return f"{text}\n{print_definition(module.body)}"


def type_text(type_: Type) -> str:
    """`F32[B, S]`, or `(F32[B, S], F32[B])`."""
    return str(type_).replace("Tensor[", "").replace(", [", "[").replace("]]", "]")


def _reference_text(reference: Reference) -> str:
    return f"{reference.unit}.{reference.name}"


def binding_text(definition: Definition, binding: ShapeBinding) -> str:
    """How a shape parameter gets its number: `K = x.shape[3] / 2`."""
    match binding:
        case FromInput():
            path = "".join(f".{index}" for index in binding.path)
            size = f"{definition.parameters[binding.parameter].name}{path}.shape[{binding.axis}]"
            rest = _less(binding.rest)
            divided = "" if binding.coefficient == 1 else f" / {binding.coefficient}"
            value = f"({size}{rest})" if rest and divided else f"{size}{rest}"
            return f"{binding.variable} = {value}{divided}"
        case FromEquation():
            numerator, denominator = binding.numerator, binding.denominator
            if denominator.as_integer() == 1:
                return f"{binding.variable} = {numerator}"
            divided = f"({numerator})" if _is_sum(numerator) else str(numerator)
            return f"{binding.variable} = {divided} / {_divisor(denominator)}"
        case Given():
            return f"{binding.variable} given"


def _less(rest: Dim) -> str:
    """What is taken away from a size, with its sign in front."""
    if _is_sum(rest):
        return f" - ({rest})"
    text = str(-rest)
    return "" if text == "0" else f" - {text[1:]}" if text.startswith("-") else f" + {text}"


def _divisor(dim: Dim) -> str:
    alone = dim.as_variable() is not None or dim.as_integer() is not None
    return str(dim) if alone else f"({dim})"


def _is_sum(dim: Dim) -> bool:
    return len(dim.terms) > 1


def node_text(node: Node, names: Mapping[Value, str]) -> str:
    """What computes a value, its operands by `names`: `reduce_keep[mean, axis=2] x`."""
    operands = " ".join(names[value] for value in node.operands)
    match node:
        case Apply():
            attributes = [
                _attribute_text(spec.name, node.attributes[spec.name], spec.positional)
                for spec in EVERY[node.operation].attributes
                if spec.name in node.attributes
            ]
            head = node.operation + (f"[{', '.join(attributes)}]" if attributes else "")
            # Written behind the operands: a target shape, or the number of a literal.
            written = "".join(
                f" {_value_text(node.attributes[name])}"
                for name in ("shape", "value")
                if name in node.attributes
            )
            return f"{head}{' ' if operands else ''}{operands}{written}"
        case Call():
            dims = ", ".join(map(str, node.shape_arguments))
            assumed = "".join(f" assuming {constraint}" for constraint in node.assumptions)
            head = f"call {_reference_text(node.definition)}" + (f"[{dims}]" if dims else "")
            return f"{head}{' ' if operands else ''}{operands}{assumed}"
        case Pack():
            return f"({', '.join(names[value] for value in node.operands)})"
        case Project():
            return f"{operands}.{node.index}"
        case Alias():
            return operands
        case Number():
            if node.dim is not None:
                return f"({node.dim})^{node.power}"
            return operands or _value_text(node.value)


def _attribute_text(name: str, value: AttributeValue, positional: bool) -> str:
    return _value_text(value) if positional else f"{name}={_value_text(value)}"


def _value_text(value: AttributeValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    if isinstance(value, DType | Dim):
        return str(value)
    return repr(value) if isinstance(value, float) else str(value)
