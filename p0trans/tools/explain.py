"""A line explained: the typing rule of each step on it, with its premises filled in."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from p0trans.checker import Checked
from p0trans.checker.context import Context
from p0trans.checker.dims import lower_type
from p0trans.checker.shapes import same_type
from p0trans.diagnostics.model import Diagnostic, Severity
from p0trans.ir.printer import binding_text
from p0trans.ir.program import Apply, Call, Definition, Pack, Program, Project, Step, Unit, Value
from p0trans.ops import OPERATIONS
from p0trans.ops.table import shape_attribute
from p0trans.shapes.dim import Constraint
from p0trans.shapes.facts import Facts
from p0trans.shapes.solve import Given, ShapeBinding
from p0trans.source import Source, Span
from p0trans.syntax import tree
from p0trans.syntax.parse import parse
from p0trans.tools.passages import Passage, line_range, passage, touches
from p0trans.tools.premises import (
    Recorder,
    axis_premises,
    dtype_premises,
    grouped,
    operand_name,
    positive,
)
from p0trans.types import TensorType, Type

_WIDTH = 100
_MARGIN = 10
_LONGEST_TEXT = 60


@dataclass(frozen=True, slots=True)
class Explanation:
    """What is to be said of a line. `errors` are those that stand in the way of an explanation.

    `found` says that the line has something to explain and that it is right.
    """

    text: str
    found: bool
    errors: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a proof: what kind of statement it is, and the statement."""

    word: str
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """The proof of one value or statement, under its text."""

    title: str
    rows: tuple[Row, ...]


def explain_line(checked: Checked, source: Source, line: int) -> Explanation:
    """The proof that line `line` (from 1) of `source` is well typed.

    `checked` is what checking `source`, alone or with others, has given.
    """
    errors = _errors(checked, source)
    here = tuple(error for error in errors if touches(source, error.primary.place.span, line))
    if here:
        return Explanation("", False, here)
    unit = next(unit for unit in checked.program.units if unit.source is source)
    by_span = {definition.span: definition for definition in unit.definitions}
    nodes = [d for d in parse(source).file.declarations if isinstance(d, tree.Definition)]
    for node in nodes:
        if not touches(source, node.span, line):
            continue
        if node.span not in by_span:
            inside = [e for e in errors if _within(e.primary.place.span, node.span)]
            text = f"`{node.name.text}` has no proof to show: it has an error on another line\n"
            return Explanation(text, False, tuple(inside))
        current = passage(source, node, by_span[node.span])
        parts = _explained(checked.program, current, line)
        if parts:
            return Explanation("\n".join((*_heading(current, line), *parts)), True)
    return Explanation(_nothing_there(source, unit, nodes, line), False)


def _errors(checked: Checked, source: Source) -> list[Diagnostic]:
    return [
        diagnostic
        for diagnostic in checked.diagnostics
        if diagnostic.severity is Severity.ERROR and diagnostic.primary.place.source is source
    ]


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _nothing_there(source: Source, unit: Unit, nodes: Sequence[tree.Definition], line: int) -> str:
    """That the line has no step, and the nearest lines before and after it that have one."""
    by_span = {definition.span: definition for definition in unit.definitions}
    ranges = [
        lines
        for node in nodes
        if node.span in by_span
        for lines in passage(source, node, by_span[node.span]).lines()
    ]
    before = max((last for _, last in ranges if last < line), default=None)
    after = min((first for first, _ in ranges if first > line), default=None)
    near = " and ".join(str(number) for number in (before, after) if number is not None)
    which = "lines" if " " in near else "line"
    hint = f"; the nearest with one: {which} {near}" if near else ""
    return f"line {line} of {source.name} has no step{hint}\n"


def _heading(current: Passage, line: int) -> list[str]:
    source, definition = current.source, current.definition
    parts = [
        f"{source.name}:{line} in `{definition.name}`\n",
        f"{line} | {source.line(line)}\n",
    ]
    if definition.shape_parameters:
        parts.append(_wrapped("sizes: ", ", ".join(sizes(definition))))
    return parts


def _explained(program: Program, current: Passage, line: int) -> list[str]:
    proof = Proof(program, current)
    blocks = proof.signature(line) if current.signature_stands_on(line) else []
    blocks += [proof.step(value) for value in current.steps_on(line)]
    if current.result_stands_on(line):
        blocks.append(proof.result())
    return list(map(_block_text, blocks))


# --- sizes ------------------------------------------------------------------------------


def sizes(definition: Definition) -> list[str]:
    """How each shape variable gets its number: `B = x.shape[0]`."""
    return [_size(definition, binding) for binding in definition.bindings]


def _size(definition: Definition, binding: ShapeBinding) -> str:
    if isinstance(binding, Given):
        return f"{binding.variable} is given by the caller"
    return binding_text(definition, binding)


# --- proofs -----------------------------------------------------------------------------


class Proof:
    """The parts of one definition's proof."""

    def __init__(self, program: Program, current: Passage) -> None:
        self.program = program
        self.passage = current
        self.source = current.source
        self.definition = current.definition
        self.facts = Facts(
            current.definition.shape_parameters,
            (*current.definition.where, *current.definition.assume),
        )
        self.typed = current.typed

    def recorder(self) -> Recorder:
        return Recorder(self.facts, self.definition.where)

    def step(self, value: Value) -> Block:
        step = self.definition.step_of(value)
        assert step is not None, "only a step is explained"
        recorder = self.recorder()
        match step.node:
            case Apply():
                rows = self._operation(step.node, recorder)
            case Call():
                rows = self._call(step.node, recorder)
            case Pack(operands):
                rows = [Row("rule", "a tuple has the types of its items")]
                rows += [self._given(f"item {k}", item) for k, item in enumerate(operands)]
            case Project(operand, index):
                rows = [
                    Row("rule", f"this name is item {index} of the tuple"),
                    self._given("tuple", operand),
                ]
            case _:
                rows = [Row("rule", "another name for the same value")]
                rows += [self._given("value", operand) for operand in step.node.operands]
        rows += self._proved(recorder)
        rows.append(Row("so", str(step.type)))
        if step.binding is not None and step.span in self.typed:
            rows += self._declared(step.type, self.typed[step.span])
        return Block(self._title(step), tuple(rows))

    def result(self) -> Block:
        """That the value at the end has the type that the signature declares."""
        definition = self.definition
        recorder = self.recorder()
        same_type(recorder, definition.type_of(definition.result), definition.result_type)
        line = line_range(self.source, self.passage.node.result.span)[0]
        rows = (
            self._given("value", definition.result),
            *self._proved(recorder),
            Row("so", f"{definition.result_type}, as declared in line {line}"),
        )
        return Block(f"the result of {definition.name}", rows)

    def parameter(self, index: int) -> Block:
        parameter = self.definition.parameters[index]
        recorder = self.recorder()
        for tensor in _tensors(parameter.type):
            positive(recorder, tensor.shape)
        rule = Row("rule", "a parameter has the type that it is declared with")
        rows = (rule, *self._proved(recorder), Row("so", str(parameter.type)))
        return Block(f"parameter {parameter.name}", rows)

    def fact(self, constraint: Constraint) -> Block:
        """What a `where` or `assume` fact of the definition is good for."""
        rule = "taken as given, and checked when the program runs"
        if constraint in self.definition.where:
            rule = "a precondition, which every caller has to prove"
        return Block(str(constraint), (Row("rule", rule),))

    def signature(self, line: int) -> list[Block]:
        """What the signature declares on this line."""
        definition, node = self.definition, self.passage.node
        blocks = [
            self.parameter(index)
            for index, parameter in enumerate(definition.parameters)
            if touches(self.source, parameter.span, line)
        ]
        facts = (*definition.where, *definition.assume)
        blocks += [
            self.fact(constraint)
            for place, constraint in zip((*node.where, *node.assume), facts, strict=True)
            if touches(self.source, place.span, line)
        ]
        if touches(self.source, node.result.span, line):
            last = line_range(self.source, self.passage.result.span)[0]
            rule = f"the value at the end of the body, line {last}, has to have this type"
            blocks.append(Block(f"result {definition.result_type}", (Row("rule", rule),)))
        if not blocks:
            rule = "each shape variable is an integer, at least 1"
            blocks.append(Block(f"signature of {definition.name}", (Row("rule", rule),)))
        return blocks

    def _operation(self, node: Apply, recorder: Recorder) -> list[Row]:
        operation = OPERATIONS[node.operation]
        types = self._tensor_types(node.operands)
        rows = [Row("rule", f"`{operation.form}`: {operation.doc}")]
        rows += [
            self._given(operand_name(operation, index), operand)
            for index, operand in enumerate(node.operands)
        ]
        rows += [
            Row("proved", text)
            for text in (
                *dtype_premises(operation, types, node.attributes, self.facts),
                *axis_premises(operation, types, node.attributes),
            )
        ]
        if operation.takes_shape:
            positive(recorder, shape_attribute(node.attributes))
        operation.infer(types, node.attributes, recorder)
        return rows

    def _call(self, node: Call, recorder: Recorder) -> list[Row]:
        unit = self.program.unit(node.definition.unit)
        callee = next((d for d in unit.definitions if d.name == node.definition.name), None)
        if callee is None:
            rule = f"`{node.definition.name}` gives the type that its signature declares"
            return [
                Row("rule", f"{rule}; it has an error of its own"),
                *(self._given(f"argument {k}", v) for k, v in enumerate(node.operands, start=1)),
            ]
        line = line_range(unit.source, callee.span)[0]
        dims = dict(zip(callee.shape_parameters, node.shape_arguments, strict=True))
        rule = f"`{callee.name}`, declared at {unit.source.name}:{line}"
        if dims:
            rule += f", with {', '.join(f'{name} = {dim}' for name, dim in dims.items())}"
        rows = [Row("rule", rule)]
        positive(recorder, node.shape_arguments)
        for parameter, operand in zip(callee.parameters, node.operands, strict=True):
            expected = parameter.type.substitute(dims)
            rows.append(self._given(parameter.name, operand))
            rows.append(Row("takes", f"{parameter.name} : {expected}"))
            same_type(recorder, self.definition.type_of(operand), expected)
        for constraint in callee.where:
            here = constraint.substitute(dims)
            text = f"{constraint} has to hold: here {here}, {recorder.reason(here)}"
            rows.append(Row("where", text))
        for constraint in callee.assume:
            here = constraint.substitute(dims)
            left = here in node.assumptions
            why = "not proved, so checked when it runs" if left else recorder.reason(here)
            rows.append(Row("assume", f"{constraint} is relied on: here {here}, {why}"))
        return rows

    def _declared(self, found: Type, binding: tree.Binding) -> list[Row]:
        """That a `let` with a written type has that type."""
        assert binding.type is not None, "only a `let` with a written type is asked about"
        context = Context(self.source, self.passage.node)
        declared = lower_type(context, binding.type)
        if declared is None:
            return []
        recorder = self.recorder()
        same_type(recorder, found, declared)
        return [*self._proved(recorder), Row("so", f"{declared}, as this `let` declares")]

    def _given(self, name: str, value: Value) -> Row:
        type_ = self.definition.type_of(value)
        return Row("given", f"{name} = {self._value_text(value)} : {type_}, {self._origin(value)}")

    def _proved(self, recorder: Recorder) -> list[Row]:
        return [
            Row("proved", f"{premise.statement}, {premise.reason}")
            for premise in grouped(recorder.premises)
        ]

    def _tensor_types(self, values: Iterable[Value]) -> tuple[TensorType, ...]:
        types = (self.definition.type_of(value) for value in values)
        return tuple(type_ for type_ in types if isinstance(type_, TensorType))

    def _value_text(self, value: Value) -> str:
        step = self.definition.step_of(value)
        if step is None:
            return self.definition.parameters[value].name
        return step.binding or _short(self.source.slice(step.span))

    def _origin(self, value: Value) -> str:
        step = self.definition.step_of(value)
        span = self.definition.parameters[value].span if step is None else step.span
        line = line_range(self.source, span)[0]
        return f"{'a parameter' if step is None else 'a step'} of line {line}"

    def _title(self, step: Step) -> str:
        text = _short(self.source.slice(step.span))
        return text if step.binding in (None, text) else f"{step.binding} = {text}"


def _tensors(root: Type) -> list[TensorType]:
    """The tensors of a type, those inside tuples included."""
    found: list[TensorType] = []
    pending = [root]
    while pending:
        type_ = pending.pop()
        if isinstance(type_, TensorType):
            found.append(type_)
        else:
            pending += reversed(type_.items)
    return found


# --- text -------------------------------------------------------------------------------


def _short(text: str) -> str:
    """Source text in one line; what is long is cut."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_TEXT else f"{line[: _LONGEST_TEXT - 1]}…"


def _block_text(block: Block) -> str:
    lines = [f"{block.title}\n"]
    before = ""
    for row in block.rows:
        word = "" if row.word == before else row.word
        lines.append(_wrapped(f"  {word:{_MARGIN - 2}}", row.text))
        before = row.word
    return "".join(lines)


def _wrapped(head: str, text: str) -> str:
    return (
        textwrap.fill(
            text,
            _WIDTH,
            initial_indent=head,
            subsequent_indent=" " * len(head),
            break_long_words=False,
            break_on_hyphens=False,
        )
        + "\n"
    )
