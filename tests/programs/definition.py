"""A definition as it grows, type by type."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from p0trans.checker.shapes import broadcasts, permutation, same_shape, same_type
from p0trans.dtypes import DTYPES, DType
from p0trans.interpret import numpy_dtype
from p0trans.ir.program import Definition, Program
from p0trans.ops import OPERATIONS
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    AttributeValue,
    Notation,
    Operation,
    Rejection,
)
from p0trans.shapes.dim import Constraint, Dim, constant, variable
from p0trans.types import Shape, TensorType, TupleType, Type, shape_text
from tests.ops.support import variants
from tests.programs.running_error import (
    Approximate,
    Known,
    UnsuitableError,
    apply,
    exactly,
    run,
)
from tests.programs.shapes import Draw, Shapes
from tests.programs.text import bare, depth, dims_in, replaced, written_use

_VALUE_WORDS = """
    x y z w h q k v a_b t0 x1 lambda class None torch self F is T nn dtype device B S size shape
    result _tmp int tuple range math Tensor_ forward return_ match X
"""
_VALUE_NAMES = _VALUE_WORDS.split()
_OPERATIONS = tuple(op for op in OPERATIONS.values() if op.notation is not Notation.LITERAL)
_MOST_PARAMETERS = 6
_MOST_CANDIDATES = 24
_MOST_TRIES = 4
_LONGEST_INLINE = 40
_LARGEST_RANK = 4


@dataclass(frozen=True, eq=False)
class _Term:
    """A value of the pool: the text of an atom that is it, and the names in that text.

    `parameter` is its index when it is a parameter that nothing uses yet.
    """

    text: str
    type: Type
    value: Known
    names: frozenset[str]
    parameter: int | None = None


def drawn_numbers(dtype: DType, shape: Sequence[int], recipe: int, seed: int) -> Any:
    """Elements of a new parameter; later recipes suit operations that are hard to please."""
    generator = np.random.default_rng(seed)
    if dtype.is_float:
        plain = recipe == 0
        drawn: Any = generator.normal(size=shape) if plain else generator.uniform(0.5, 2.0, shape)
    elif dtype.is_integer:
        low = (0 if dtype.name == "U8" else -5, 1, 0, 0)[recipe]
        drawn = generator.integers(low, (6, 6, 2, 1)[recipe], shape)
    else:
        drawn = generator.random(shape) < 0.5
    return np.asarray(drawn).astype(numpy_dtype(dtype))


_RECIPES = range(4)


class Builder(Shapes):
    """One definition as it grows."""

    def __init__(
        self, draw: Draw, name: str, earlier: Sequence[Definition], program: Program | None
    ) -> None:
        super().__init__(draw)
        self.name = name
        self.earlier = earlier
        self.program = program
        self.parameters: list[tuple[str, Type]] = []
        self.inputs: list[Known] = []
        self.pool: list[_Term] = []
        self.lines: list[str] = []
        self.used = {name, *(definition.name for definition in earlier)}

    # --- names and values ---------------------------------------------------------------

    def fresh(self) -> str:
        free = [name for name in _VALUE_NAMES if name not in self.used]
        name = self.pick(free[:12]) if free else f"n{len(self.used)}"
        self.used.add(name)
        return name

    def parameter(self, type_: Type, recipe: int = 0) -> _Term | None:
        """A new parameter; None when there are enough, or a dim of it may be 0."""
        if len(self.parameters) >= _MOST_PARAMETERS or not all(map(self._positive, dims_in(type_))):
            return None
        name = self.fresh()
        value = self._drawn(type_, recipe)
        self.parameters.append((name, type_))
        self.inputs.append(value)
        return _Term(name, type_, value, frozenset({name}), len(self.parameters) - 1)

    def _drawn(self, type_: Type, recipe: int) -> Known:
        if isinstance(type_, TupleType):
            return tuple(self._drawn(item, recipe) for item in type_.items)
        shape = [dim.evaluate(self.sizes) for dim in type_.shape]
        return exactly(drawn_numbers(type_.dtype, shape, recipe, self.draw(st.integers(0, 99))))

    def literal(self, dtype: DType) -> _Term:
        if dtype.is_float:
            value: float | bool = self.pick((1.0, 0.5, -2.0, 0.1, 1e-6, 3.0, 0.0))
        elif dtype.is_integer:
            value = self.pick((1, 2, 0, 3, 100))
        else:
            value = self.pick((True, False))
        text = str(value).lower()
        plain = {"F32", "I32", "Bool"}
        if dtype.name not in plain or self.chance(10):
            text = f"const[{dtype}] ({text})" if text.startswith("-") else f"const[{dtype}] {text}"
        found = np.asarray(value).astype(numpy_dtype(dtype))
        return _Term(f"({text})", TensorType(dtype, ()), exactly(found), frozenset())

    def made(self, type_: Type) -> _Term | None:
        """A value of this type: of the pool, converted, written out or a new parameter."""
        found = [term for term in self.pool if same_type(self.facts, term.type, type_)]
        if found and self.chance(80):
            return self.pick(found)
        if isinstance(type_, TupleType):
            if self.chance(40):
                return self.parameter(type_)
            items = [self.made(item) for item in type_.items]
            complete = [item for item in items if item is not None]
            return self._packed(complete) if len(complete) == len(items) else None
        ways = [way for way in self._conversions(type_) if way is not None]
        ways.append(lambda: self.parameter(type_))
        if type_.rank == 0 and self.chance(50):
            ways.append(lambda: self.literal(type_.dtype))
        return self.pick(ways)()

    def _conversions(self, target: TensorType) -> list[Callable[[], _Term | None]]:
        """Steps that make `target` of a value in the pool."""
        ways: list[Callable[[], _Term | None]] = []

        def offer(name: str, term: _Term, attributes: Attributes) -> None:
            ways.append(lambda: self.applied(OPERATIONS[name], (term,), attributes))

        for term in self.pool[-8:]:
            type_ = term.type
            if not isinstance(type_, TensorType):
                continue
            if type_.dtype is not target.dtype:
                if same_shape(self.facts, type_.shape, target.shape):
                    offer("cast", term, {"dtype": target.dtype})
                continue
            perm = permutation(self.facts, type_.shape, target.shape)
            if perm is not None:
                offer("transpose", term, {"perm": perm})
            elif broadcasts(self.facts, type_.shape, target.shape):
                offer("broadcast", term, {"shape": target.shape})
            elif self.facts.equal_volume(type_.shape, target.shape):
                offer("reshape", term, {"shape": target.shape})
        return ways

    def _packed(self, items: Sequence[_Term]) -> _Term:
        names = frozenset[str]().union(*(item.names for item in items))
        return _Term(
            f"({', '.join(item.text for item in items)})",
            TupleType(tuple(item.type for item in items)),
            tuple(item.value for item in items),
            names,
        )

    # --- steps --------------------------------------------------------------------------

    def applied(
        self, operation: Operation, operands: Sequence[_Term], attributes: Attributes
    ) -> _Term | None:
        """The operation on operands, as an atom; None when its value does not suit."""
        types = tuple(term.type for term in operands if isinstance(term.type, TensorType))
        if len(types) < len(operands):
            return None
        result = operation.infer(types, attributes, self.facts)
        if isinstance(result, Rejection) or result.rank > _LARGEST_RANK:
            return None
        if not all(self._positive(dim) for dim in result.shape):
            return None

        def evaluate(values: Sequence[Known]) -> Known:
            tensors = [value for value in values if isinstance(value, Approximate)]
            return apply(operation, attributes, types, result, tensors, self.sizes)

        return self._taken(
            lambda texts: written_use(operation, attributes, texts), operands, result, evaluate
        )

    def _positive(self, dim: Dim) -> bool:
        return self.facts.holds(Constraint(dim, ">=", constant(1)))

    def _taken(
        self,
        write: Callable[[Sequence[str]], str],
        operands: Sequence[_Term],
        result: Type,
        evaluate: Callable[[Sequence[Known]], Known],
    ) -> _Term | None:
        """The term of a step, with numbers for its new parameters on which it is defined."""
        for recipe in _RECIPES:
            for operand in operands:
                if operand.parameter is not None and recipe:
                    self.inputs[operand.parameter] = self._drawn(operand.type, recipe)
            values = [
                operand.value if operand.parameter is None else self.inputs[operand.parameter]
                for operand in operands
            ]
            try:
                value = evaluate(values)
            except UnsuitableError:
                if not any(operand.parameter is not None for operand in operands):
                    return None
                continue
            for operand, known in zip(operands, values, strict=True):
                if operand.parameter is not None:
                    self.pool.append(replace(operand, value=known, parameter=None))
            texts = [operand.text for operand in operands]
            names = frozenset[str]().union(*(operand.names for operand in operands))
            if texts and self.chance(10):
                return self._in_block(write, texts, names, result, value)
            return _Term(f"({write(texts)})", result, value, names)
        return None

    def _in_block(
        self,
        write: Callable[[Sequence[str]], str],
        texts: Sequence[str],
        names: frozenset[str],
        result: Type,
        value: Known,
    ) -> _Term:
        """The step behind a `let` of its own, which may shadow a name of no other operand."""
        words = set(re.findall(r"\w+", " ".join(texts[1:])))
        shadowed = [name for name in (*names, *_VALUE_NAMES) if name not in words]
        taken = {self.name, *(definition.name for definition in self.earlier)}
        inner = next((name for name in shadowed if name not in taken), None)
        if inner is None:
            return _Term(f"({write(texts)})", result, value, names)
        self.used.add(inner)
        text = f"(let {inner} = {bare(texts[0])} in {write([inner, *texts[1:]])})"
        return _Term(text, result, value, names)

    def step(self) -> None:
        """One more value, if one is found that suits."""
        before = len(self.parameters)
        ways = [self._searched, self._sampled] * 3 + [self._paired]
        if self.earlier:
            ways += [self._called] * 3
        for _ in range(_MOST_TRIES):
            term = self.pick(ways)()
            if term is not None:
                self._bind(term)
                return
            del self.parameters[before:], self.inputs[before:]

    def _searched(self) -> _Term | None:
        """An operation whose typing rule accepts values of the pool."""
        operation = self.pick(_OPERATIONS)
        tensors = [term for term in self.pool if isinstance(term.type, TensorType)]
        count = len(operation.operands) + (operation.variadic and self.chance(30))
        if count and not tensors:
            return None
        operands = [self.pick(tensors)] if count else []
        others = tensors[-6:]
        accepted = [
            (chosen, attributes)
            for rest in itertools.product(others, repeat=max(0, count - 1))
            for chosen in [(*operands, *rest)]
            for attributes in self._attributes(operation, chosen)
            if self._accepts(operation, chosen, attributes)
        ][:_MOST_CANDIDATES]
        if not accepted:
            return None
        return self.applied(operation, *self.pick(accepted))

    def _accepts(
        self, operation: Operation, operands: Sequence[_Term], attributes: Attributes
    ) -> bool:
        types = tuple(term.type for term in operands if isinstance(term.type, TensorType))
        return isinstance(operation.infer(types, attributes, self.facts), TensorType)

    def _attributes(self, operation: Operation, operands: Sequence[_Term]) -> list[Attributes]:
        """Some choices of attributes, not all of which the operation need accept."""
        shapes = [term.type.shape for term in operands if isinstance(term.type, TensorType)]
        targets: list[Shape | None] = [None]
        if operation.takes_shape:
            targets = [self._target(shapes) for _ in range(3)]
        found: list[Attributes] = []
        for target in targets:
            rank = len(shapes[0]) if shapes else len(target or ())
            choices = [self._choices(spec, rank) for spec in operation.attributes]
            every = list(itertools.islice(itertools.product(*choices), _MOST_CANDIDATES))
            for values in every:
                names = (spec.name for spec in operation.attributes)
                attributes: dict[str, AttributeValue] = dict(zip(names, values, strict=True))
                if target is not None:
                    attributes["shape"] = target
                found.append(attributes)
        return found

    def _choices(self, spec: AttributeSpec, rank: int) -> Sequence[AttributeValue]:
        match spec.kind:
            case AttributeKind.AXIS:
                return range(rank)
            case AttributeKind.PERMUTATION:
                return [tuple(self.draw(st.permutations(range(rank))))]
            case AttributeKind.DTYPE:
                return [self.pick(tuple(DTYPES.values()))]
            case AttributeKind.WORD:
                return [self.pick(spec.choices)]
            case AttributeKind.DIM:
                return [constant(0), self.pick(self.universe), self.pick(self.universe)]
            case AttributeKind.INTEGER:
                return [self.pick((1, 1, 2, 3))]

    def _target(self, shapes: Sequence[Shape]) -> Shape:
        """A target shape near the first operand's."""
        shape = list(shapes[0] if shapes else self.shape())
        for _ in range(self.draw(st.integers(0, 2))):
            place = self.draw(st.integers(0, len(shape)))
            ones = [axis for axis, dim in enumerate(shape) if dim.as_integer() == 1]
            if ones and self.chance(50):
                shape[self.pick(ones)] = self.pick(self.universe)
            elif self.chance(50):
                shape.insert(place, constant(1))
            else:
                shape.insert(0, self.pick(self.universe))
        return tuple(shape)

    # --- patterns -----------------------------------------------------------------------

    def _sampled(self) -> _Term | None:
        """An accepted sample of an operation, its dims replaced by the definition's."""
        operation = self.pick(_OPERATIONS)
        sample = self.pick(variants(operation.name))
        bound: dict[str, Dim] = {}
        operands = self._matched(sample.operands, bound)
        if operands is None:
            return None
        dims = [dim for value in sample.attributes.values() for dim in dims_in(value)]
        self._complete(bound, [*dims, *(side for c in sample.where for side in c[::2])])
        if not all(self.facts.holds(c.substitute(bound)) for c in sample.where):
            return None
        attributes = {name: replaced(value, bound) for name, value in sample.attributes.items()}
        return self.applied(operation, operands, attributes)

    def _called(self) -> _Term | None:
        """An earlier definition applied to shape arguments and operands."""
        called = self.pick(self.earlier)
        program = self.program
        assert program is not None
        bound: dict[str, Dim] = {}
        operands = self._matched([parameter.type for parameter in called.parameters], bound)
        if operands is None:
            return None
        self._complete(bound, [variable(name) for name in called.shape_parameters])
        self._solve(called, bound)
        if not all(self.facts.holds(c.substitute(bound)) for c in called.where):
            return None
        dims = [bound[name] for name in called.shape_parameters]
        if not all(dim.is_linear and self._positive(dim) for dim in dims):
            return None
        for operand, parameter in zip(operands, called.parameters, strict=True):
            if not same_type(self.facts, operand.type, parameter.type.substitute(bound)):
                return None
        result = called.result_type.substitute(bound)
        if not all(map(self._positive, dims_in(result))):
            return None
        numbers = {name: dim.evaluate(self.sizes) for name, dim in bound.items()}
        head = called.name + (shape_text(tuple(dims)) if dims else "")
        return self._taken(
            lambda texts: " ".join((head, *texts)),
            operands,
            result,
            lambda values: run(program, called, numbers, values),
        )

    def _solve(self, called: Definition, bound: dict[str, Dim]) -> None:
        """Let the shape variables that an equation defines be what it says."""
        for constraint in (*called.where, *called.assume):
            name = constraint.left.as_variable()
            if constraint.relation == "==" and name is not None:
                right = constraint.right.substitute(bound)
                same = [dim for dim in self.universe if self.facts.equal(dim, right)]
                bound[name] = same[0] if same else right

    def _matched(self, types: Sequence[Type], bound: dict[str, Dim]) -> list[_Term] | None:
        """A value for each type of a pattern; `bound` gains what its variables stand for."""
        operands: list[_Term] = []
        for type_ in types:
            found = [
                term
                for term in self.pool
                if self._unified(type_, term.type, dict(bound)) is not None
            ]
            if found and self.chance(75):
                term: _Term | None = self.pick(found)
                assert term is not None
                bound.update(self._unified(type_, term.type, dict(bound)) or {})
            else:
                self._complete(bound, dims_in(type_))
                term = self.made(type_.substitute(bound))
            if term is None:
                return None
            operands.append(term)
        return operands

    def _unified(self, pattern: Type, type_: Type, bound: dict[str, Dim]) -> dict[str, Dim] | None:
        """`bound` with what makes the pattern the type; None when nothing does."""
        if isinstance(pattern, TupleType) and isinstance(type_, TupleType):
            if len(pattern.items) != len(type_.items):
                return None
            for one, other in zip(pattern.items, type_.items, strict=True):
                if self._unified(one, other, bound) is None:
                    return None
            return bound
        if not isinstance(pattern, TensorType) or not isinstance(type_, TensorType):
            return None
        if pattern.dtype is not type_.dtype or pattern.rank != type_.rank:
            return None
        for one_dim, dim in zip(pattern.shape, type_.shape, strict=True):
            open_names = one_dim.variables() - bound.keys()
            if one_dim.as_variable() in open_names:
                bound[str(one_dim)] = dim
            elif open_names or not self.facts.equal(one_dim.substitute(bound), dim):
                return None
        return bound

    def _complete(self, bound: dict[str, Dim], dims: Sequence[Dim]) -> None:
        for name in sorted(frozenset[str]().union(*(dim.variables() for dim in dims))):
            if name not in bound:
                bound[name] = self.pick(self.universe)

    def _paired(self) -> _Term | None:
        return self._packed([self.pick(self.pool) for _ in range(2)])

    # --- the whole ----------------------------------------------------------------------

    def _bind(self, term: _Term) -> None:
        """Give a value a name, or its parts names, or leave it to be written where it is used."""
        type_ = term.type
        if isinstance(type_, TupleType):
            if depth(type_) > 2:
                return
            if self.chance(30):
                term = self._let(term)
            names = [self.fresh() for _ in type_.items]
            self.lines.append(f"let ({', '.join(names)}) = {bare(term.text)} in")
            assert isinstance(term.value, tuple)
            for name, item, value in zip(names, type_.items, term.value, strict=True):
                self.pool.append(_Term(name, item, value, frozenset({name})))
        else:
            inline = len(term.text) <= _LONGEST_INLINE and self.chance(25)
            kept = term if inline else self._let(term)
            self.pool.append(kept)

    def _let(self, term: _Term) -> _Term:
        bound = sorted({name for one in self.pool for name in one.names})
        name = self.pick(bound) if bound and self.chance(15) else self.fresh()
        annotation = f" : {self.spelled(term.type)}" if self.chance(20) else ""
        self.lines.append(f"let {name}{annotation} = {bare(term.text)} in")
        self.pool = [one for one in self.pool if name not in one.names]
        return _Term(name, term.type, term.value, frozenset({name}))

    def finished(self) -> str:
        """The text of the definition."""
        last = self.pool[-1]
        if len(self.pool) > 1 and self.chance(20):
            last = self._packed([self.pick(self.pool[-3:]), last])
        lines = [f"let {self.name}"]
        if self.sizes:
            lines[0] += f" [{', '.join(self.sizes)}]"
        lines += [f"    ({name} : {self.spelled(type_)})" for name, type_ in self.parameters]
        lines.append(f"    : {self.spelled(last.type)}")
        for word, facts in (("where", self.where), ("assume", self.assume)):
            if facts:
                lines.append(f"    {word} {', '.join(map(str, facts))}")
        lines[-1] += " ="
        lines += [f"  {line}" for line in (*self.lines, bare(last.text))]
        return "\n".join(lines) + "\n"
