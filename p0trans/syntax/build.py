"""What each rule of the grammar builds; lark calls these while it parses.

A function has the name of its rule, or of the alias behind `->`, in phase0.lark, and gets the
rule's right-hand side position by position: tokens, and what other rules have built. The lists
grow in place, so that a long program costs linear time; nothing else is shared or changed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from p0trans.source import Span
from p0trans.syntax import tree
from p0trans.syntax.tokens import Token


class Parenthesized(NamedTuple):
    """Something in parentheses, until the rule around it has seen how far they reach."""

    span: Span
    inner: Any


class Bracketed(NamedTuple):
    """The items in a pair of brackets, with the brackets' extent."""

    span: Span
    items: tuple[Any, ...]


def _bare(node: Any) -> Any:
    return node.inner if type(node) is Parenthesized else node


def _from_to(first: Any, last: Any) -> Span:
    return Span(first.span.start, last.span.end)


# --- lists --------------------------------------------------------------------------------


def none(children: list[Any]) -> list[Any]:
    return []


def one(children: list[Any]) -> list[Any]:
    return [children[0]]


def more(children: list[Any]) -> list[Any]:
    children[0].append(children[1])
    return children[0]  # type: ignore[no-any-return]


def more_after(children: list[Any]) -> list[Any]:
    children[0].append(children[2])
    return children[0]  # type: ignore[no-any-return]


def second(children: list[Any]) -> Any:
    return children[1]


def nothing(children: list[Any]) -> None:
    return None


# --- declarations -------------------------------------------------------------------------


def file(children: list[Any]) -> Any:
    return children[0]


def import_(children: list[Any]) -> tree.Import:
    start, path, _, names = children
    return tree.Import(_from_to(start, names[-1]), tuple(path), tuple(names))


def definition(children: list[Any]) -> tree.Definition:
    let, head, shape_parameters, parameters, _, result, where, assume, equals, body = children
    return tree.Definition(
        _from_to(let, body),
        None,
        head,
        tuple(shape_parameters),
        tuple(parameters),
        result,
        tuple(where),
        tuple(assume),
        equals.span,
        _bare(body),
    )


def parameter(children: list[Any]) -> tree.Parameter:
    opening, label, _, of_type, closing = children
    return tree.Parameter(_from_to(opening, closing), label, of_type)


def constraint(children: list[Any]) -> tree.Constraint:
    left, relation, right = children
    return tree.Constraint(_from_to(left, right), relation.text, _bare(left), _bare(right))


def name(children: list[Token]) -> tree.Identifier:
    token = children[0]
    return tree.Identifier(token.span, token.text)


head = name


# --- types --------------------------------------------------------------------------------


def tensor_type(children: list[Any]) -> tree.TensorType:
    word, _, dtype, _, dims, closing = children
    return tree.TensorType(_from_to(word, closing), dtype, dims.items)


def tuple_type(children: list[Any]) -> tree.TupleType:
    opening, first, _, others, closing = children
    return tree.TupleType(_from_to(opening, closing), (first, *others))


# --- dims ---------------------------------------------------------------------------------


def empty_list(children: list[Token]) -> Bracketed:
    return Bracketed(_from_to(*children), ())


def dim_list(children: list[Any]) -> Bracketed:
    opening, dims, closing = children
    return Bracketed(_from_to(opening, closing), tuple([_bare(dim) for dim in dims]))


def dim_integer(children: list[Token]) -> tree.DimInteger:
    return tree.DimInteger(children[0].span, int(children[0].text))


def dim_name(children: list[Token]) -> tree.DimName:
    return tree.DimName(children[0].span, children[0].text)


def dim_negate(children: list[Any]) -> tree.DimNegate:
    sign, operand = children
    return tree.DimNegate(_from_to(sign, operand), _bare(operand))


def dim_binary(children: list[Any]) -> tree.DimBinary:
    left, operator, right = children
    return tree.DimBinary(_from_to(left, right), operator.text, _bare(left), _bare(right))


def parenthesized(children: list[Any]) -> Parenthesized:
    opening, inner, closing = children
    return Parenthesized(_from_to(opening, closing), _bare(inner))


# --- expressions --------------------------------------------------------------------------


def block(children: list[Any]) -> tree.Block:
    bindings, result = children
    return tree.Block(_from_to(bindings[0], result), tuple(bindings), _bare(result))


def binding(children: list[Any]) -> tree.Binding:
    let, names, annotation, _, value, in_ = children
    return tree.Binding(_from_to(let, in_), tuple(names), annotation, _bare(value))


def several_names(children: list[Any]) -> list[Any]:
    _, first, _, others, _ = children
    return [first, *others]


def binary(children: list[Any]) -> tree.Binary:
    left, operator, right = children
    return tree.Binary(
        _from_to(left, right), operator.text, operator.span, _bare(left), _bare(right)
    )


def unary(children: list[Any]) -> tree.Unary:
    operator, operand = children
    return tree.Unary(_from_to(operator, operand), operator.text, _bare(operand))


def reference(children: list[Token]) -> tree.Name:
    return tree.Name(children[0].span, children[0].text)


def integer(children: list[Token]) -> tree.Literal:
    return tree.Literal(children[0].span, int(children[0].text))


def real(children: list[Token]) -> tree.Literal:
    return tree.Literal(children[0].span, float(children[0].text))


def truth(children: list[Token]) -> tree.Literal:
    return tree.Literal(children[0].span, children[0].text == "true")


def tuple_(children: list[Any]) -> tree.Tuple:
    opening, first, _, others, closing = children
    items = (_bare(first), *[_bare(item) for item in others])
    return tree.Tuple(_from_to(opening, closing), items)


def shape_argument(children: list[Bracketed]) -> tree.ShapeArgument:
    return tree.ShapeArgument(children[0].span, children[0].items)


def apply_attributes(children: list[Any]) -> tree.Apply:
    callee, bracket = children
    span = _from_to(callee, bracket)
    return tree.Apply(span, callee, bracket.items, bracket.span, ())


def apply_arguments(children: list[Any]) -> tree.Apply:
    callee, arguments = children
    bare = tuple([_bare(argument) for argument in arguments])
    return tree.Apply(_from_to(callee, arguments[-1]), callee, None, None, bare)


def apply_both(children: list[Any]) -> tree.Apply:
    callee, bracket, arguments = children
    bare = tuple([_bare(argument) for argument in arguments])
    span = _from_to(callee, arguments[-1])
    return tree.Apply(span, callee, bracket.items, bracket.span, bare)


def empty_attributes(children: list[Token]) -> Bracketed:
    return Bracketed(_from_to(*children), ())


def attributes(children: list[Any]) -> Bracketed:
    opening, items, closing = children
    return Bracketed(_from_to(opening, closing), tuple(items))


def positional(children: list[Any]) -> tree.Attribute:
    return tree.Attribute(children[0].span, None, _attribute_value(children[0]))


def keyword(children: list[Any]) -> tree.Attribute:
    label, _, value = children
    return tree.Attribute(_from_to(label, value), label, _attribute_value(value))


def _attribute_value(value: Any) -> Any:
    return tree.DimList(*value) if type(value) is Bracketed else _bare(value)


# --- modules ------------------------------------------------------------------------------


def bare_module(children: list[Any]) -> tree.Module:
    start, label, _, of = children
    return tree.Module(_from_to(start, of), None, label, of, ())


def module(children: list[Any]) -> tree.Module:
    start, label, _, of, _, items = children
    return tree.Module(_from_to(start, items[-1]), None, label, of, tuple(items))


def state(children: list[Any]) -> tree.State:
    kind, label, _, initial = children
    return tree.State(_from_to(kind, initial), kind.text, label, initial)


def initializer(children: list[Any]) -> tree.Initializer:
    if len(children) == 1:
        return tree.Initializer(children[0].span, children[0], ())
    label, _, numbers, closing = children
    values = tuple([number.value for number in numbers])
    return tree.Initializer(_from_to(label, closing), label, values)


def constant(children: list[tree.Literal]) -> tree.Initializer:
    return tree.Initializer(children[0].span, None, (children[0].value,))


def negative(children: list[Any]) -> tree.Literal:
    sign, number = children
    return tree.Literal(_from_to(sign, number), -number.value)


def bare_sub(children: list[Any]) -> tree.Sub:
    return sub([*children[:-1], [], children[-1]])


def sub(children: list[Any]) -> tree.Sub:
    start, label, _, module_name, _, pairs, closing = children
    return tree.Sub(_from_to(start, closing), label, module_name, tuple(pairs))


def pair(children: list[Any]) -> tuple[tree.Identifier, tree.Identifier]:
    return children[0], children[2]
