"""A definition's body, checked and put into A-normal form in one walk."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from p0trans.checker import application, calls
from p0trans.checker.context import Context
from p0trans.checker.dims import (
    DEEPEST_TUPLE,
    lower_type,
    rank_fits,
    report_too_large,
    require_positive_dims,
)
from p0trans.checker.edits import innermost
from p0trans.checker.literals import check_literal
from p0trans.checker.names import STATEMENTS, Scope, report_applied, report_unknown
from p0trans.checker.operand import Operand, Reduced
from p0trans.checker.shapes import same_type
from p0trans.diagnostics.model import Fix, Label
from p0trans.dtypes import DTYPES, DType
from p0trans.ir.program import Alias, Apply, Call, Node, Pack, Parameter, Project, Step, Value
from p0trans.ops import CALLABLE, INFIX, OPERATIONS, PREFIX
from p0trans.ops.table import Attributes, Facts, Operation, Rejection
from p0trans.shapes.dim import DimLimitError
from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.types import TensorType, TupleType, Type

# A walk asks for the value of a part with the type it would best have, and is sent the value
# (None when the part is wrong and that has been reported).
Request: TypeAlias = tuple[tree.Expr, Type | None]
Walk: TypeAlias = Generator[Request, "Value | None", "Value | None"]


# Rejections after which a written target shape may itself be the mistake.
_TARGET_IN_DOUBT: Final = frozenset({"P0501", "P0502", "P0703"})


class Argument(NamedTuple):
    """A part of an expression and its value; None when it is wrong."""

    expr: tree.Expr
    value: Value | None


@dataclass(slots=True)
class _Draft:
    """A step while names are still being given."""

    node: Node
    type: Type
    span: Span
    binding: str | None
    owner: str | None
    tree: tree.Expr


class Body:
    """The steps of one definition as they grow. Values are numbered as the IR numbers them."""

    def __init__(
        self, context: Context, scope: Scope, parameters: Sequence[Parameter | None]
    ) -> None:
        self.context = context
        self.scope = scope
        self.parameters = parameters
        self.drafts: list[_Draft] = []
        self._values: dict[str, Value | None] = {
            name: None if parameter is None else index
            for index, (name, parameter) in enumerate(
                zip(scope.parameter_names, parameters, strict=True)
            )
        }
        self._owner: str | None = None
        self._doubtful: set[Value] = set()
        self.recovered = False

    def steps(self) -> tuple[Step, ...]:
        return tuple(
            Step(draft.node, draft.type, draft.span, draft.binding, draft.owner)
            for draft in self.drafts
        )

    # --- values -------------------------------------------------------------------------

    def type_of(self, value: Value) -> Type:
        if value < len(self.parameters):
            parameter = self.parameters[value]
            assert parameter is not None, "a parameter without a type has no value"
            return parameter.type
        return self.drafts[value - len(self.parameters)].type

    def add(self, node: Node, type_: Type, expr: tree.Expr) -> Value:
        self.drafts.append(_Draft(node, type_, expr.span, None, self._owner, expr))
        value = len(self.parameters) + len(self.drafts) - 1
        if not isinstance(node, Call) and not self._doubtful.isdisjoint(node.operands):
            self._doubtful.add(value)
        return value

    def recover(self, type_: Type, expr: tree.Expr, *, doubtful: bool = False) -> Value:
        """A stand-in for a step that is wrong but whose type is written: checking goes on.

        What is wrong may be reported elsewhere, where a broken definition is declared.
        `doubtful` says that the mistake may be in the written type itself: that the value, or
        one made of it, does not fit is then not reported again.
        """
        self.recovered = True
        value = self.add(Pack(()), type_, expr)
        if doubtful:
            self._doubtful.add(value)
        return value

    def is_doubtful(self, value: Value) -> bool:
        """Whether the type of `value` may be wrong by a mistake that has been reported."""
        return value in self._doubtful

    def origin(self, value: Value) -> tuple[Label, ...]:
        """Where the type of a named value comes from."""
        if value < len(self.parameters):
            parameter = self.parameters[value]
            assert parameter is not None, "a parameter without a type has no value"
            return (self.context.label(parameter.span, f"`{parameter.name}` is declared here"),)
        draft = self.drafts[value - len(self.parameters)]
        if draft.binding is None:
            return ()
        return (self.context.label(draft.span, f"`{draft.binding}` is {draft.type}"),)

    def operand(self, argument: Argument, *, in_application: bool) -> Operand:
        """An argument as the one at fault, with all that is known of it."""
        assert argument.value is not None, "only a typed argument can be of the wrong type"
        return Operand(
            innermost(argument.expr),
            in_application,
            self.origin(argument.value),
            self.reduced(argument.value),
        )

    def reduced(self, value: Value) -> Reduced | None:
        """What is known of `value` when an operation that drops an axis made it."""
        if value < len(self.parameters):
            return None
        draft = self.drafts[value - len(self.parameters)]
        if isinstance(draft.node, Alias):
            return self.reduced(draft.node.operand)
        if not isinstance(draft.node, Apply) or not isinstance(draft.tree, tree.Apply):
            return None
        keeper = OPERATIONS[draft.node.operation].kept_by
        axis = draft.node.attributes.get("axis")
        if keeper is None or not isinstance(axis, int):
            return None
        types = self.tensor_types(draft.node.operands)
        kept = OPERATIONS[keeper].infer(types, draft.node.attributes, self.facts)
        if isinstance(kept, Rejection):
            return None
        head = draft.tree.head.span
        return Reduced(axis, kept, head, head.to(draft.tree.attributes_span or head), keeper)

    @property
    def facts(self) -> Facts:
        return self.context.facts

    def tensor_types(self, values: Sequence[Value]) -> tuple[TensorType, ...]:
        types = tuple(self.type_of(value) for value in values)
        return tuple(type_ for type_ in types if isinstance(type_, TensorType))

    # --- the walk -----------------------------------------------------------------------

    def value_of(self, expr: tree.Expr, hint: Type | None) -> Value | None:
        """The value of `expr`, on an explicit stack: text may nest deeper than Python recurses."""
        stack = [(expr, self._walk(expr, hint))]
        answer: Value | None = None
        while stack:
            try:
                request = stack[-1][1].send(answer)
            except StopIteration as stop:
                stack.pop()
                answer = stop.value
            except DimLimitError:
                # Small dims may still make a large one: by a call's substitution, by a rule.
                wrong, _ = stack.pop()
                report_too_large(self.context, wrong.span, "has dims too large to reckon with")
                answer = None
            else:
                stack.append((request[0], self._walk(*request)))
                answer = None
        return answer

    def _walk(self, expr: tree.Expr, hint: Type | None) -> Walk:
        match expr:
            case tree.Name():
                return self._name(expr)
            case tree.Literal():
                return self.literal(expr, expr.value, None)
            case tree.Unary(operator="-", operand=tree.Literal(value=value)) if not isinstance(
                value, bool
            ):
                return self.literal(expr, -value, None)
            case tree.Unary():
                operand = yield expr.operand, hint
                part = Argument(expr.operand, operand)
                return self.operation(PREFIX[expr.operator], expr, (part,), {}, hint)
            case tree.Binary():
                left = yield expr.left, hint
                right = yield expr.right, hint
                parts = (Argument(expr.left, left), Argument(expr.right, right))
                return self.operation(INFIX[expr.operator], expr, parts, {}, hint)
            case tree.Tuple():
                return (yield from self._tuple(expr, hint))
            case tree.Block():
                return (yield from self._block(expr, hint))
            case tree.ShapeArgument():
                raise AssertionError("a shape is read with the application that it belongs to")
            case tree.Apply():
                return (yield from self._apply(expr, hint))

    def is_function(self, expr: tree.Expr) -> bool:
        """Whether `expr` is the bare name of a function, which is reported where it stands."""
        return (
            isinstance(expr, tree.Name)
            and expr.text not in self._values
            and (expr.text in CALLABLE or self.scope.definition(expr.text) is not None)
        )

    def _inner_call_fix(self, head: tree.Name, followers: Sequence[tree.Expr]) -> tuple[Fix, ...]:
        """`matmul x double[B] y` as `matmul x (double[B] y)`: a call as an argument."""
        signature = self.scope.definition(head.text)
        wanted = len(
            CALLABLE[head.text].operands if signature is None else signature.parameters
        ) + (isinstance(followers[0], tree.ShapeArgument) if followers else 0)
        if not followers or len(followers) < wanted:
            return ()
        source = self.context.source
        end = followers[wanted - 1].span.end
        if source.text[end : end + 1] == ")":
            end += 1
        span = Span(head.span.start, end)
        return (
            self.context.replace("put the call in parentheses", span, f"({source.slice(span)})"),
        )

    def _name(self, expr: tree.Name, followers: Sequence[tree.Expr] = ()) -> Value | None:
        """The value of a name; `followers` are the arguments behind it in an application."""
        if expr.text in self._values:
            return self._values[expr.text]
        signature = self.scope.definition(expr.text)
        if signature is not None and not signature.shape_parameters and not signature.parameters:
            return calls.check_call(self, signature, expr, ())
        if signature is not None or expr.text in CALLABLE:
            what = "a definition" if signature is not None else "an operation"
            form = CALLABLE[expr.text].form if signature is None else signature.form
            self.context.report(
                "P0106",
                expr.span,
                fixes=self._inner_call_fix(expr, followers),
                name=expr.text,
                what=what,
                form=form,
            )
            return None
        report_unknown(self.context, self.scope, expr.text, expr.span, tuple(self._values))
        return None

    def literal(
        self, expr: tree.Expr, value: float | int | bool, dtype: DType | None
    ) -> Value | None:
        """A literal; without a dtype it has the one of its form."""
        if dtype is None:
            form = "Bool" if isinstance(value, bool) else "I32" if isinstance(value, int) else "F32"
            dtype = DTYPES[form]
        if not check_literal(self.context, expr, value, dtype):
            return self.recover(TensorType(dtype, ()), expr, doubtful=True)
        node = Apply("const", (), {"dtype": dtype, "value": value})
        return self.add(node, TensorType(dtype, ()), expr)

    def _tuple(self, expr: tree.Tuple, hint: Type | None) -> Walk:
        hints: Sequence[Type | None] = [None] * len(expr.items)
        if isinstance(hint, TupleType) and len(hint.items) == len(expr.items):
            hints = hint.items
        values: list[Value] = []
        for item, item_hint in zip(expr.items, hints, strict=True):
            value = yield item, item_hint
            if value is not None:
                values.append(value)
        if len(values) < len(expr.items):
            return None
        type_ = TupleType(tuple(self.type_of(value) for value in values))
        if tuple_depth(type_) > DEEPEST_TUPLE:
            self.context.report("P0212", expr.span, deepest=DEEPEST_TUPLE)
            return None
        return self.add(Pack(tuple(values)), type_, expr)

    def _block(self, expr: tree.Block, hint: Type | None) -> Walk:
        hidden: list[tuple[str, bool, Value | None]] = []
        outer_owner = self._owner
        for binding in expr.bindings:
            first_new = len(self.parameters) + len(self.drafts)
            declared = None if binding.type is None else lower_type(self.context, binding.type)
            if (
                binding.type is not None
                and declared is not None
                and not require_positive_dims(self.context, binding.type, declared)
            ):
                declared = None
            self._owner = binding.names[0].text
            value = yield binding.value, declared
            value = self._against(binding, value, declared)
            bound = self._bind(binding, value, first_new)
            for name, item in bound:
                hidden.append((name, name in self._values, self._values.get(name)))
                self._values[name] = item
            self._owner = outer_owner
        result = yield expr.result, hint
        for name, existed, value in reversed(hidden):
            if existed:
                self._values[name] = value
            else:
                del self._values[name]
        return result

    def _against(
        self, binding: tree.Binding, value: Value | None, declared: Type | None
    ) -> Value | None:
        if binding.type is None or declared is None:
            return value
        if value is None:
            return self.recover(declared, binding.value)
        self.require_type(Argument(binding.value, value), declared, binding.type.span)
        return (
            value
            if same_type(self.facts, self.type_of(value), declared)
            else self.recover(declared, binding.value, doubtful=True)
        )

    def require_type(self, part: Argument, declared: Type, span: Span) -> None:
        """Report `part` unless it has the type declared at `span`."""
        assert part.value is not None, "a part that is wrong has been reported"
        found = self.type_of(part.value)
        if self.is_doubtful(part.value) or same_type(self.facts, found, declared):
            return
        from p0trans.checker.mismatch import report_mismatch

        operand = self.operand(part, in_application=False)
        labels = (*operand.labels, self.context.label(span, "declared here"))
        report_mismatch(
            self.context,
            Operand(operand.expr, False, labels, operand.reduced),
            found,
            declared,
        )

    def _bind(
        self, binding: tree.Binding, value: Value | None, first_new: Value
    ) -> list[tuple[str, Value | None]]:
        """The names that a `let` gives, each with its value."""
        names = [identifier.text for identifier in binding.names]
        if value is None:
            return [(name, None) for name in names]
        if len(names) == 1:
            return [(names[0], self._give_name(names[0], value, first_new, binding))]
        for index, identifier in enumerate(binding.names):
            if identifier.text != "_" and identifier.text in names[:index]:
                first = binding.names[names.index(identifier.text)]
                self.context.report(
                    "P0103",
                    identifier.span,
                    label="again here",
                    secondary=(self.context.label(first.span, "first declared here"),),
                    what="the name",
                    name=identifier.text,
                )
        type_ = self.type_of(value)
        if not isinstance(type_, TupleType) or len(type_.items) != len(names):
            items = type_.items if isinstance(type_, TupleType) else ()
            self.context.report(
                "P0209",
                binding.names[0].span.to(binding.names[-1].span),
                secondary=(self.context.label(binding.value.span, f"this is {type_}"),),
                found=f"a tuple of {len(items)}" if items else "a tensor",
                wanted=f"{len(names)} names",
            )
            return [(name, None) for name in names]
        bound: list[tuple[str, Value | None]] = []
        for index, identifier in enumerate(binding.names):
            item = self.add(Project(value, index), type_.items[index], binding.value)
            self.drafts[-1].binding = identifier.text
            self.drafts[-1].span = identifier.span
            bound.append((identifier.text, item))
        return bound

    def _give_name(self, name: str, value: Value, first_new: Value, binding: tree.Binding) -> Value:
        if value >= first_new:
            draft = self.drafts[value - len(self.parameters)]
            if draft.binding is None:
                draft.binding = name
                draft.owner = self._owner
                return value
        alias = self.add(Alias(value), self.type_of(value), binding.value)
        self.drafts[-1].binding = name
        return alias

    # --- applications -------------------------------------------------------------------

    def _apply(self, expr: tree.Apply, hint: Type | None) -> Walk:
        name = expr.head.text
        if name in self._values:
            value = self._values[name]
            labels = () if value is None else self.origin(value)
            report_applied(self.context, self.scope, expr, labels, self._values)
            return None
        signature = self.scope.definition(name)
        if signature is None and name not in CALLABLE and name != application.LITERAL.name:
            for part in expr.arguments if name not in STATEMENTS else ():
                if not isinstance(part, tree.ShapeArgument):
                    yield part, None
            report_unknown(self.context, self.scope, name, expr.head.span, tuple(CALLABLE))
            return None
        if signature is None and name == application.LITERAL.name:
            return application.check_literal_application(self, expr)
        parts: list[Argument] = []
        for index, part in enumerate(expr.arguments):
            if isinstance(part, tree.ShapeArgument):
                parts.append(Argument(part, None))
            elif isinstance(part, tree.Name):
                parts.append(Argument(part, self._name(part, expr.arguments[index + 1 :])))
            else:
                parts.append(Argument(part, (yield part, None)))
        if signature is not None:
            return calls.check_call(self, signature, expr, tuple(parts))
        return application.check_application(self, CALLABLE[name], expr, tuple(parts), hint)

    def operation(
        self,
        operation: Operation,
        expr: tree.Expr,
        parts: Sequence[Argument],
        attributes: Attributes,
        hint: Type | None,
    ) -> Value | None:
        """Apply the typing rule of `operation`; report its rejection."""
        values = [part.value for part in parts if part.value is not None]
        if len(values) < len(parts):
            return None
        if not self.only_tensors(operation, parts):
            return None
        types = self.tensor_types(values)
        outcome = operation.infer(types, attributes, self.facts)
        if isinstance(outcome, Rejection):
            if not self._doubtful.isdisjoint(values):
                return None
            # What only a wrong program needs is imported when there is one: a start is not to wait.
            from p0trans.checker.case import Case
            from p0trans.checker.rejections import report

            report(Case(self, operation, expr, parts, types, attributes, outcome, hint))
            shape = attributes.get("shape")
            if types and isinstance(shape, tuple):
                written = tuple(dim for dim in shape if not isinstance(dim, int))
                doubtful = outcome.code in _TARGET_IN_DOUBT
                return self.recover(TensorType(types[0].dtype, written), expr, doubtful=doubtful)
            return None
        if not rank_fits(self.context, "this value", outcome.rank, expr.span):
            return None
        return self.add(Apply(operation.name, tuple(values), attributes), outcome, expr)

    def only_tensors(self, operation: Operation, parts: Sequence[Argument]) -> bool:
        """Whether no operand is a tuple; the first one that is gets reported."""
        for part in parts:
            type_ = None if part.value is None else self.type_of(part.value)
            if part.value is not None and isinstance(type_, TupleType):
                self.context.report(
                    "P0211",
                    part.expr.span,
                    label=f"this is {type_}",
                    secondary=self.origin(part.value),
                    operation=operation.symbol or operation.name,
                )
                return False
        return True

    def call(self, call: Call, type_: Type, expr: tree.Expr) -> Value:
        return self.add(call, type_, expr)


def tuple_depth(type_: Type) -> int:
    """How deep tuples are nested in `type_`; bounded, since a deeper one is never made."""
    if isinstance(type_, TensorType):
        return 0
    return 1 + max((tuple_depth(item) for item in type_.items), default=0)
