"""The lines of a function: one for each `let`, unnamed steps folded into the line that uses them.

An expression that grows too long is given a line of its own under a name that tells what it
holds. This also bounds the nesting of every expression, however deep the source nests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from p0trans.emit.expressions import (
    Fragment,
    applied_fragment,
    item_fragment,
    named_fragment,
    number_fragment,
    operation_fragment,
    packed_fragment,
    size_fragment,
    spelled_variables,
)
from p0trans.emit.lines import LINE_LENGTH, Line, Trace, commented, constraint_guard
from p0trans.emit.notation import annotation, code_dim, prose_types
from p0trans.emit.storage import is_large, structure
from p0trans.emit.surroundings import Body, ChildCall, Surroundings
from p0trans.emit.usage import Usage, analyse_usage, light_enough
from p0trans.ir.program import (
    Alias,
    Apply,
    Call,
    Number,
    Pack,
    Project,
    Step,
    Value,
)
from p0trans.ops.fused import EVERY
from p0trans.ops.table import Site
from p0trans.shapes.dim import Constraint
from p0trans.types import TensorType, TupleType, Type

_RESULT = "out"
_FOLDED_LENGTH = 60
_WORTH_A_LINE = 16
# What a reader takes in at a glance; `explicit` code is folded only as its source is.
_FOLDED_OPERATIONS = 4


def write_body(surroundings: Surroundings) -> Body:
    """The body that computes a definition, without the checks of its inputs."""
    operands = {
        value: _operands(step, surroundings.children.get(value))
        for value, step in surroundings.definition.numbered_steps()
    }
    foldable = _foldable(surroundings, operands)
    annotated: frozenset[str] = frozenset()
    while True:
        writer = _Writer(
            surroundings,
            operands,
            analyse_usage(
                surroundings.definition,
                operands,
                # What is written step by step has a line for each child's call, too.
                frozenset() if surroundings.definition.idiomatic else surroundings.children.keys(),
                foldable,
            ),
            dict(enumerate(surroundings.parameters)),
            {*surroundings.values.values(), *surroundings.shapes.values()},
            annotated,
        )
        writer.write()
        if writer.cut:
            # What did not fit where it is used gets its line where the source has it.
            foldable -= writer.cut
            annotated = frozenset()
        elif not writer.untyped <= annotated:
            annotated |= writer.untyped
        else:
            return Body(tuple(writer.lines), frozenset(writer.variables))


@dataclass(slots=True)
class _Writer:
    """The working state of one `write_body`.

    `annotated` are the local names that get a type where they are new. `holders` says which value
    each local name holds; a name may be given again once that value is used no more. `typed` are
    those names that have been given a type, and `untyped` those that need one, since a type checker
    takes what they are given again for Any. `cut` are the named values that had to get a line
    although they were to be folded. `counters` number the temporaries of one `let` that want the
    same name, and `shadowed` the values that a `let` of one name hides but that are still used.
    `guarded` are the facts that have been checked.
    """

    around: Surroundings
    operands: Mapping[Value, tuple[Value, ...]]
    usage: Usage
    fragments: dict[Value, Fragment]
    names: set[str]
    annotated: frozenset[str]
    typed: set[str] = field(default_factory=set)
    untyped: set[str] = field(default_factory=set)
    guarded: set[Constraint] = field(default_factory=set)
    holders: dict[str, Value] = field(default_factory=dict)
    counters: dict[tuple[str | None, str], int] = field(default_factory=dict)
    shadowed: dict[str, int] = field(default_factory=dict)
    large: dict[Type, bool] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    cut: set[Value] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)

    def write(self) -> None:
        definition = self.around.definition
        for index, parameter in enumerate(definition.parameters):
            opening = self.around.openings.get(index)
            if opening is None:
                self.holders[self.fragments[index].text] = index
                self.typed.add(self.fragments[index].text)
            elif index in self.usage.uses:
                opened = Fragment(opening, values=(index,))
                self.assign(self.around.values[parameter.name], index, opened)
        for value, step in definition.numbered_steps():
            if self.around.checks and isinstance(step.node, Call):
                for constraint in step.node.assumptions:
                    self.guard(constraint, value)
            if value in self.usage.groups:
                self.take_apart(self.usage.groups[value])
            elif value in self.usage.uses and value not in self.usage.grouped:
                self.write_step(value, step)
        self.write_return()

    def guard(self, constraint: Constraint, call: Value) -> None:
        """The check of what a call assumes, unless one before it has been checked for the same."""
        if constraint not in self.guarded:
            self.guarded.add(constraint)
            self.lines.append(constraint_guard(constraint, self.around.shapes, Trace((call,))))
            self.variables |= constraint.variables()

    def write_step(self, value: Value, step: Step) -> None:
        if step.binding is not None:
            if value in self.usage.inline:
                # Should it get a line after all, that is under its own name.
                room = LINE_LENGTH - self.around.indent - len(f"{step.binding} = ")
                self.fragments[value] = self.render(value, step, room)
                return
            name = self.let_name(step.binding, value, value)
            typed = ": Tensor" if value in self.around.children else ""
            room = LINE_LENGTH - self.around.indent - len(f"{name}{typed} = ")
            self.bind(name, value, self.render(value, step, room), value)
            return
        is_result = value == self.around.definition.result
        room = LINE_LENGTH - self.around.indent - len("return ") if is_result else _FOLDED_LENGTH
        self.fragments[value] = self.render(value, step, room)
        if value not in self.usage.inline:
            self.hoist(value, value)

    def write_return(self) -> None:
        definition = self.around.definition
        step = definition.step_of(definition.result)
        is_inline_tuple = (
            definition.result in self.usage.inline
            and step is not None
            and isinstance(step.node, Pack)
        )
        if self.fragments[definition.result].untyped and not is_inline_tuple:
            # What a type checker takes for Any cannot be returned as a Tensor.
            self.hoist(definition.result, definition.result + 1, _RESULT)
        fragment = self.fragments[definition.result]
        text = fragment.text
        if is_inline_tuple and not text.endswith(",)"):
            text = text[1:-1]
        comment = ""
        if fragment.folded:
            comment = prose_types(definition.result_type, fragment.dtypes, self.around.shapes)
        returned = replace(fragment, values=fragment.values or (definition.result,))
        self.put(f"return {text}", comment, returned)

    def take_apart(self, members: tuple[Value, ...]) -> None:
        """One line `a, b = …` for named items of one tuple; `_` for those that nothing uses."""
        live = [member for member in members if member in self.usage.uses]
        if not live:
            return
        definition = self.around.definition
        (source,) = self.operands[members[0]]
        type_ = definition.type_of(source)
        assert isinstance(type_, TupleType)
        targets = ["_"] * len(type_.items)
        fragment = self.fragments[source]
        for member in live:
            step = definition.step_of(member)
            assert step is not None
            assert step.binding is not None
            assert isinstance(step.node, Project)
            name = self.let_name(step.binding, member, members[0])
            targets[step.node.index] = name
            self.hold(name, member, fragment.untyped)
        left = ", ".join(targets) if len(targets) > 1 else f"{targets[0]},"
        comment = prose_types(type_, fragment.dtypes, self.around.shapes)
        taken = replace(fragment, values=(*fragment.values, *members))
        self.put(f"{left} = {fragment.text}", comment, taken)

    def put(self, code: str, comment: str, fragment: Fragment) -> None:
        trace = Trace(fragment.values)
        self.lines.append(commented(code, comment, self.around.indent, fragment.notes, trace))

    def bind(self, name: str, value: Value, fragment: Fragment, line: Value) -> None:
        """The line of a `let`. Where the new value can take the place of a large one that is used
        no more, it also takes its name, and the comment has its own: a local lives until the
        function returns, and so would the memory of the old one."""
        taken_over = self.taken_over(value, line)
        if taken_over is None:
            self.assign(name, value, fragment)
        else:
            self.assign(taken_over, value, fragment, f"{name}: ")

    def taken_over(self, value: Value, line: Value) -> str | None:
        """The local that holds a large tensor of the type of `value`, of which this is computed
        element by element and which no line after that of the value `line` uses."""
        definition = self.around.definition
        type_ = definition.type_of(value)
        if not definition.idiomatic or not self.is_large(type_):
            return None
        for operand in self.mentioned(value):
            name = self.fragments[operand].text
            if (
                definition.step_of(operand) is not None
                and self.holders.get(name) == operand
                and definition.type_of(operand) == type_
                and (self.usage.last_use[operand] <= line or self.usage.uses[operand] == 1)
            ):
                return name
        return None

    def is_large(self, type_: Type) -> bool:
        if type_ not in self.large:
            self.large[type_] = is_large(self.around.definition, type_)
        return self.large[type_]

    def mentioned(self, value: Value) -> Iterator[Value]:
        """The values that the expression of `value` names, through operations that keep the
        type and compute each element from those in its place or on its axis."""
        definition = self.around.definition
        pending = [value]
        while pending:
            step = definition.step_of(pending.pop())
            if step is None or not isinstance(step.node, Apply):
                continue
            elementwise = EVERY[step.node.operation].family == "elementwise"
            numbers = definition.number_operands(step.node)
            if not elementwise and len(step.node.operands) - len(numbers) > 1:
                continue
            for operand in step.node.operands:
                if definition.type_of(operand) != step.type:
                    continue
                if operand in self.usage.inline and self.fragments[operand].folded:
                    pending.append(operand)
                else:
                    yield operand

    def assign(self, name: str, value: Value, fragment: Fragment, said: str = "") -> None:
        type_ = self.around.definition.type_of(value)
        comment = said + prose_types(type_, fragment.dtypes, self.around.shapes)
        self.put(f"{self.target(name, value, fragment)} = {fragment.text}", comment, fragment)
        self.hold(name, value, fragment.untyped)

    def target(self, name: str, value: Value, fragment: Fragment) -> str:
        """The left-hand side of an assignment. A child module's call has no type of its own
        (`nn.Module.__call__` gives Any), so that its name is annotated where it is new."""
        if name in self.holders or not (fragment.untyped or name in self.annotated):
            return name
        self.typed.add(name)
        type_ = self.around.definition.type_of(value)
        return f"{name}: {annotation(type_, self.around.shapes, jaxtyping=False)}"

    def hold(self, name: str, value: Value, untyped: bool) -> None:
        """`name` is given `value`, by an expression that may be `untyped`; a name keeps the type
        that it was given."""
        is_any = untyped and name not in self.typed
        if is_any:
            self.untyped.add(name)
        self.holders[name] = value
        type_ = self.around.definition.type_of(value)
        self.fragments[value] = named_fragment(name, name, type_, is_any)

    def hoist(self, value: Value, line: Value, called: str = "") -> None:
        """Gives a folded expression a line of its own, before the line of the value `line`, under
        its `let` name, or `called` where that is free, or called after what it holds."""
        step = self.around.definition.step_of(value)
        assert step is not None
        fragment = self.fragments[value]
        if step.binding is not None and value in self.usage.inline:
            self.cut.add(value)
            self.bind(self.let_name(step.binding, value, line - 1), value, fragment, line - 1)
            return
        stem = fragment.stem
        owner = step.owner
        base = "_".join(part for part in (stem or owner, fragment.noun) if part)
        if called and called not in self.names | self.holders.keys():
            base = called
        while True:
            count = self.counters.get((owner, base), 0) + 1
            self.counters[owner, base] = count
            name = base if count == 1 else f"{base}_{count}"
            if not self.is_taken(name) and self.may_hold(name, value, line - 1):
                break
        self.assign(name, value, fragment)
        # A temporary of this one is named after the same value, not after this temporary.
        self.fragments[value] = replace(self.fragments[value], stem=stem.rstrip("_"))

    def let_name(self, binding: str, value: Value, line: Value) -> str:
        """The name of a `let` whose line is that of the value `line`: a name that it shadows
        is given again when the value under it is not used after this line."""
        name = self.around.values[binding]
        if self.may_hold(name, value, line):
            return name
        count = self.shadowed.get(name, 1)
        numbered = name
        while self.is_taken(numbered) or numbered in self.holders:
            count += 1
            numbered = f"{name}_{count}"
        self.shadowed[name] = count
        self.names.add(numbered)
        return numbered

    def may_hold(self, name: str, value: Value, line: Value) -> bool:
        """Whether `name` is free: it holds nothing, or what Python has the same type for and
        no line after that of the value `line` uses."""
        holder = self.holders.get(name)
        type_of = self.around.definition.type_of
        return holder is None or (
            self.usage.last_use.get(holder, holder) <= line
            and structure(type_of(holder)) == structure(type_of(value))
        )

    def is_taken(self, name: str) -> bool:
        return name in self.names or name in self.around.taken

    def render(self, value: Value, step: Step, room: int) -> Fragment:
        """The step's expression, hoisting its longest operands until it fits in `room`."""
        spell = self.speller(value, step)
        operands = self.operands[value]
        if self.around.definition.idiomatic:
            self.lighten(value, operands)
        fragment = self.noted(value, step, spell([self.fragments[one] for one in operands]))
        excess = len(fragment.text) - room
        if excess <= 0:
            return fragment
        lengths = {
            operand: len(self.fragments[operand].text)
            for operand in operands
            if self.fragments[operand].folded
        }
        for operand in sorted(lengths, key=lambda operand: -lengths[operand]):
            if excess <= 0 or lengths[operand] < _WORTH_A_LINE:
                break
            self.hoist(operand, value)
            excess -= lengths[operand] - len(self.fragments[operand].text)
        return self.noted(value, step, spell([self.fragments[one] for one in operands]))

    def lighten(self, value: Value, operands: Sequence[Value]) -> None:
        """Hoist the heaviest operands until few enough operations are left, but for those that
        the source has in the same expression."""
        weights = {operand: self.fragments[operand].weight for operand in operands}
        for operand in sorted(weights, key=lambda operand: -weights[operand]):
            if sum(self.fragments[other].weight for other in weights) < _FOLDED_OPERATIONS:
                break
            if weights[operand] and not self.is_of_one_let(value, operand):
                self.hoist(operand, value)

    def is_of_one_let(self, value: Value, operand: Value) -> bool:
        """Whether `operand` has no name and stands in the `let` of `value`."""
        step, part = (self.around.definition.step_of(one) for one in (value, operand))
        assert step is not None
        if part is None or part.binding is not None:
            return False
        return part.owner == (step.owner if step.binding is None else step.binding)

    def noted(self, value: Value, step: Step, fragment: Fragment) -> Fragment:
        """The fragment as that of `value`, with a comment on what it stands for, where that was
        several lines."""
        fragment = replace(fragment, values=(*fragment.values, value))
        lines = _replaced_lines(self.around, step)
        if step.origin is None or not lines:
            return fragment
        return replace(fragment, notes=(*fragment.notes, f"{step.origin.idiom} ({lines})"))

    def speller(self, value: Value, step: Step) -> Callable[[Sequence[Fragment]], Fragment]:
        """What makes the step's expression of those of its operands."""
        node = step.node
        if isinstance(node, Alias):
            return lambda operands: operands[0]
        if isinstance(node, Pack):
            return packed_fragment
        if isinstance(node, Project):
            index = node.index
            return lambda operands: item_fragment(operands[0], index)
        if isinstance(node, Call):
            return self.call_speller(value, node)
        if isinstance(node, Number):
            return lambda operands: self.number(node, step)
        return self.operation_speller(step, node)

    def number(self, node: Number, step: Step) -> Fragment:
        if node.parameter is not None:
            # As the module keeps it, not the tensor that other steps may need of it.
            return self.around.parameters[node.parameter]
        if node.dim is not None:
            self.variables |= node.dim.variables()
            return size_fragment(node.dim, node.power, self.around.shapes)
        assert isinstance(step.type, TensorType)
        return number_fragment(node.value, step.type.dtype)

    def operation_speller(
        self, step: Step, node: Apply
    ) -> Callable[[Sequence[Fragment]], Fragment]:
        definition = self.around.definition
        operation = EVERY[node.operation]
        types = tuple(map(definition.type_of, node.operands))
        # What is taken apart into a tuple has the dtype of its items.
        result = step.type.items[0] if isinstance(step.type, TupleType) else step.type
        assert isinstance(result, TensorType)
        operands = tuple(type_ for type_ in types if isinstance(type_, TensorType))
        numbers = definition.number_operands(node)
        spell = (definition.idiomatic and operation.idiom) or operation.torch
        spelling = spell(Site(operands, node.attributes, result, numbers))
        self.variables |= spelled_variables(spelling)
        around = self.around
        return lambda operands: operation_fragment(
            operation.noun, spelling, result.dtype, operands, around.shapes, around.device
        )

    def call_speller(self, value: Value, node: Call) -> Callable[[Sequence[Fragment]], Fragment]:
        child = self.around.children.get(value)
        if child is not None:
            name = child.child
            return lambda operands: applied_fragment(f"self.{name}", operands, (), name, True)
        callee = self.around.callees[node.definition]
        keywords = []
        for index, keyword in callee.keywords:
            dim = node.shape_arguments[index]
            self.variables |= dim.variables()
            keywords.append(f"{keyword}={code_dim(dim, self.around.shapes)}")
        if callee.device and self.around.device is not None:
            keywords.append(f"device={self.around.device}")
        return lambda operands: applied_fragment(callee.name, operands, keywords, callee.name)


def _foldable(
    around: Surroundings, operands: Mapping[Value, tuple[Value, ...]]
) -> frozenset[Value]:
    """The named values that are to be folded into the expression that uses them: in an idiomatic
    definition those that no comment explains, while there are few operations, and the result."""
    definition = around.definition
    if not definition.idiomatic:
        return frozenset()
    named = frozenset(
        value
        for value, step in definition.numbered_steps()
        if step.binding is not None
        and not isinstance(step.node, Pack | Project)
        and not _replaced_lines(around, step)
    )
    return light_enough(definition, operands, named, _FOLDED_OPERATIONS) | {definition.result}


def _replaced_lines(around: Surroundings, step: Step) -> str:
    """The lines of the source that a step stands for; nothing for a single one."""
    return "" if step.origin is None else around.cite(step.origin.spans)


def _operands(step: Step, child: ChildCall | None) -> tuple[Value, ...]:
    if isinstance(step.node, Number):
        # The attribute that holds a number is no use of the tensor that is made of it.
        return ()
    if child is None:
        return step.node.operands
    return tuple(step.node.operands[index] for index in child.inputs)
