"""The shape ledger of a definition: what goes in, what each step makes of it, what it costs.

Costs are those that the operation table declares, in the conventions of `p0trans.ops`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from p0trans.ir.program import Apply, Call, Definition, Node, Program, Reference, Value
from p0trans.ops import OPERATIONS
from p0trans.ops.table import AttributeValue, Site
from p0trans.shapes.dim import Constraint, Dim, DimLimitError, constant
from p0trans.source import Source
from p0trans.tools.ledger_names import RESULT, expression, operation_word, row_names
from p0trans.types import TensorType, Type

INPUT, INTERMEDIATE, OUTPUT = ("input", "intermediate", "output")
MOST_ROWS = 100_000


class LedgerError(Exception):
    """Why a definition has no ledger, as one sentence."""


class Cost(NamedTuple):
    """Operations on elements, and bytes read and written, as polynomials of the shape variables."""

    flops: Dim
    bytes: Dim

    def plus(self, other: Cost) -> Cost:
        return Cost(self.flops + other.flops, self.bytes + other.bytes)

    def substitute(self, replacements: Mapping[str, Dim]) -> Cost:
        return Cost(self.flops.substitute(replacements), self.bytes.substitute(replacements))


NOTHING = Cost(constant(0), constant(0))


class Row(NamedTuple):
    """An input or a step.

    `operation` is the name of the table's operation, or `input`, `call`, `tuple`, `item`, `alias`;
    `expression` shows it on the names of other rows. `depth` is 0 but for the rows of a call that
    is folded out, which follow the call's own and make up its cost.
    """

    role: str
    depth: int
    name: str
    operation: str
    expression: str
    inputs: tuple[Type, ...]
    output: Type
    cost: Cost
    source: Source
    line: int


class Ledger(NamedTuple):
    """The rows of one definition in order; `total` is the sum of those of depth 0.

    `sizes` are numbers for its shape variables, when they are asked for.
    """

    name: str
    doc: str | None
    shape_parameters: tuple[str, ...]
    where: tuple[Constraint, ...]
    assume: tuple[Constraint, ...]
    rows: tuple[Row, ...]
    total: Cost
    sizes: Mapping[str, int] | None


def ledger(
    program: Program,
    definition: Definition,
    costs: Mapping[Reference, Cost],
    *,
    inline: bool = False,
    sizes: Mapping[str, int] | None = None,
) -> Ledger:
    """The ledger of a definition of a checked program; with `inline` every call is folded out.

    `costs` are the `definition_costs` of the program. Raises LedgerError when a cost has more terms
    than a dim may have, or when there would be more than MOST_ROWS rows.
    """
    total = _known(costs, definition.reference)
    if inline:
        _require_few_rows(program, definition)
    try:
        rows = tuple(_all_rows(program, definition, costs, inline))
    except DimLimitError as error:
        raise LedgerError(f"a call in `{definition.name}` has dims with too many terms") from error
    return Ledger(
        definition.name,
        definition.doc,
        definition.shape_parameters,
        definition.where,
        definition.assume,
        rows,
        total,
        sizes,
    )


# --- costs ------------------------------------------------------------------------------


def definition_costs(program: Program) -> Mapping[Reference, Cost]:
    """The cost of each definition in its own dims; those that are too large are left out."""
    costs: dict[Reference, Cost] = {}
    for unit in program.units:
        for definition in unit.definitions:
            try:
                total = NOTHING
                for _, step in definition.numbered_steps():
                    types = tuple(map(definition.type_of, step.node.operands))
                    total = total.plus(_node_cost(program, step.node, types, step.type, costs))
            except (DimLimitError, LedgerError):
                continue
            costs[definition.reference] = total
    return costs


def _known(costs: Mapping[Reference, Cost], reference: Reference) -> Cost:
    if reference not in costs:
        raise LedgerError(f"the cost of `{reference.name}` has too many terms")
    return costs[reference]


def _node_cost(
    program: Program,
    node: Node,
    inputs: tuple[Type, ...],
    output: Type,
    costs: Mapping[Reference, Cost],
) -> Cost:
    """Raises DimLimitError, and LedgerError for a call of a definition without a known cost."""
    if isinstance(node, Call):
        return _known(costs, node.definition).substitute(_dims_of(program, node))
    if isinstance(node, Apply):
        assert isinstance(output, TensorType)
        tensors = tuple(type_ for type_ in inputs if isinstance(type_, TensorType))
        operation = OPERATIONS[node.operation]
        site = Site(tensors, node.attributes, output)
        return Cost(operation.flops(site), operation.bytes(site))
    return NOTHING


def _dims_of(program: Program, node: Call) -> dict[str, Dim]:
    names = program.definition(node.definition).shape_parameters
    return dict(zip(names, node.shape_arguments, strict=True))


# --- rows -------------------------------------------------------------------------------


class _Instance(NamedTuple):
    """A definition in the dims of an outermost one.

    `depth` says how many calls lead to it, and `arguments` what its caller calls its inputs.
    """

    definition: Definition
    names: Mapping[Value, str]
    depth: int = 0
    arguments: tuple[str, ...] = ()


def _all_rows(
    program: Program, definition: Definition, costs: Mapping[Reference, Cost], inline: bool
) -> Iterator[Row]:
    """The rows in order. Calls may be nested deeper than Python recurses."""
    instances = [_Instance(definition, row_names(definition))]
    pending = [_rows(program, instances[0], costs)]
    while pending:
        found = next(pending[-1], None)
        if found is None:
            pending.pop()
            instances.pop()
            continue
        row, call = found
        yield row
        if inline and call is not None:
            instances.append(_called(program, instances[-1], call))
            pending.append(_rows(program, instances[-1], costs))


def _called(program: Program, caller: _Instance, call: Call) -> _Instance:
    definition = program.definition(call.definition)
    return _Instance(
        _definition_at(definition, _dims_of(program, call)),
        row_names(definition),
        caller.depth + 1,
        tuple(caller.names[operand] for operand in call.operands),
    )


def _rows(
    program: Program, here: _Instance, costs: Mapping[Reference, Cost]
) -> Iterator[tuple[Row, Call | None]]:
    """The rows of one definition, each with its node where that is a call."""
    definition, names = here.definition, here.names
    source = program.unit(definition.unit).source
    template = Row(INPUT, here.depth, "", INPUT, "", (), definition.result_type, NOTHING, source, 0)
    arguments = here.arguments or ("",) * len(definition.parameters)
    for parameter, argument in zip(definition.parameters, arguments, strict=True):
        yield template._replace(
            name=parameter.name,
            expression=argument,
            output=parameter.type,
            line=source.position(parameter.span.start)[0],
        ), None
    for value, step in definition.numbered_steps():
        inputs = tuple(map(definition.type_of, step.node.operands))
        yield template._replace(
            role=OUTPUT if value == definition.result else INTERMEDIATE,
            name=names[value],
            operation=operation_word(step.node),
            expression=expression(step.node, names),
            inputs=inputs,
            output=step.type,
            cost=_node_cost(program, step.node, inputs, step.type, costs),
            line=source.position(step.span.start)[0],
        ), (step.node if isinstance(step.node, Call) else None)
    if definition.step_of(definition.result) is None:
        yield template._replace(
            role=OUTPUT,
            name=RESULT,
            operation="alias",
            expression=names[definition.result],
            inputs=(definition.result_type,),
            line=source.position(definition.span.start)[0],
        ), None


def _require_few_rows(program: Program, outermost: Definition) -> None:
    """Each definition counts once, so that a tower of calls that doubles is found in no time."""
    counts: dict[Reference, int] = {}
    for unit in program.units:
        for definition in unit.definitions:
            count = len(definition.parameters) + len(definition.steps)
            for step in definition.steps:
                if isinstance(step.node, Call):
                    count += counts[step.node.definition]
            counts[definition.reference] = count
    if counts[outermost.reference] > MOST_ROWS:
        raise LedgerError(f"`{outermost.name}` has more than {MOST_ROWS} rows with its calls")


def _definition_at(definition: Definition, dims: Mapping[str, Dim]) -> Definition:
    """A definition with the types and dims that it has where its shape variables are `dims`."""
    return definition._replace(
        parameters=tuple(
            parameter._replace(type=parameter.type.substitute(dims))
            for parameter in definition.parameters
        ),
        steps=tuple(
            step._replace(node=_node_at(step.node, dims), type=step.type.substitute(dims))
            for step in definition.steps
        ),
        result_type=definition.result_type.substitute(dims),
    )


def _node_at(node: Node, dims: Mapping[str, Dim]) -> Node:
    if isinstance(node, Apply):
        attributes = {name: _value_at(value, dims) for name, value in node.attributes.items()}
        return node._replace(attributes=attributes)
    if isinstance(node, Call):
        arguments = tuple(dim.substitute(dims) for dim in node.shape_arguments)
        return node._replace(shape_arguments=arguments)
    return node


def _value_at(value: AttributeValue, dims: Mapping[str, Dim]) -> AttributeValue:
    if isinstance(value, Dim):
        return value.substitute(dims)
    if isinstance(value, tuple):
        written = tuple(item.substitute(dims) for item in value if isinstance(item, Dim))
        return written or value
    return value
