"""What an operation declares. Everything that handles operations reads these declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

from p0trans.dtypes import DType
from p0trans.shapes.dim import Constraint, Dim, constant, product
from p0trans.types import Shape, TensorType

AttributeValue: TypeAlias = (
    "bool | int | float | str | DType | Dim | tuple[int, ...] | tuple[Dim, ...]"
)
Attributes: TypeAlias = Mapping[str, AttributeValue]
NO_FACTS: Mapping[str, object] = MappingProxyType({})


class Facts(Protocol):
    """What a typing rule may ask about the shape variables around it."""

    def equal(self, left: Dim, right: Dim) -> bool:
        """Whether the two dims are provably the same number."""

    def holds(self, constraint: Constraint) -> bool:
        """Whether `constraint` provably holds."""

    def equal_volume(self, left: Sequence[Dim], right: Sequence[Dim]) -> bool:
        """Whether the two products of dims are provably the same number."""


class AttributeKind(Enum):
    AXIS = "axis"  # a literal 0 <= n < rank, as int
    PERMUTATION = "permutation"  # literals, as tuple[int, ...]
    DTYPE = "dtype"  # as DType
    WORD = "word"  # one of `choices`, as str
    DIM = "dim"  # as Dim
    INTEGER = "integer"  # a literal, as int


class AttributeSpec(NamedTuple):
    """One attribute of an operation, in the order in which it is written.

    A positional one stands in its place without a name; a `default` makes it optional.
    """

    name: str
    kind: AttributeKind
    positional: bool = False
    choices: tuple[str, ...] = ()
    default: int | None = None


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a typing rule does not apply: a code of the table and the facts that fill its words.

    `operand` or `attribute` says which part is to blame; the checker knows where it stands.
    """

    code: str
    operand: int | None = None
    attribute: str | None = None
    facts: Mapping[str, object] = field(default_factory=lambda: NO_FACTS)


class Site(NamedTuple):
    """A use of an operation: the types that go in, its attributes, the type that comes out.

    `shape` of `attributes` is the written target shape of an operation that takes one; `numbers`
    are the operands that are Python numbers here.
    """

    operands: tuple[TensorType, ...]
    attributes: Attributes
    result: TensorType
    numbers: frozenset[int] = frozenset()

    def axis(self) -> int:
        value = self.attributes["axis"]
        assert isinstance(value, int)
        return value


class Precedence(IntEnum):
    """How tightly a Python expression binds, loosest first."""

    ANY = 0
    COMPARISON = 1
    BITOR = 2
    BITAND = 3
    SUM = 4
    TERM = 5
    UNARY = 6
    POWER = 7
    PRIMARY = 8


@dataclass(frozen=True, slots=True)
class Spelling:
    """A PyTorch expression as a `str.format` template.

    Fields: `{0}`, `{1}` … the operands; `{all}` all of them, separated by commas; `{device}` a
    device expression; `{dtype}` the result's torch dtype; and the names in `fields`: a Dim is
    rendered as a Python expression, a tuple of dims as `B, S, 1` (`()` when there is none),
    anything else by `str`.
    An operand that binds looser than its entry in `operands` is put in parentheses (the last
    entry serves the rest); one with `.` or `[` directly behind it always has to be a primary.
    """

    template: str
    precedence: Precedence = Precedence.PRIMARY
    operands: tuple[Precedence, ...] = (Precedence.ANY,)
    fields: Mapping[str, object] = field(default_factory=lambda: NO_FACTS)

    def required(self, index: int) -> Precedence:
        """How tightly operand `index` must bind where the template puts it."""
        if f"{{{index}}}." in self.template or f"{{{index}}}[" in self.template:
            return Precedence.PRIMARY
        return self.operands[min(index, len(self.operands) - 1)]


class Evaluation(NamedTuple):
    """A use of an operation on numbers: attributes and result type with every dim evaluated.

    `dtype` is the NumPy dtype of the result and `shape` its shape.
    """

    attributes: Mapping[str, Any]
    dtype: Any
    shape: tuple[int, ...]


class Notation(Enum):
    CALL = "call"  # name[attributes] operand …
    INFIX = "infix"  # a + b
    PREFIX = "prefix"  # -a
    LITERAL = "literal"  # 1.0, const[BF16] 0.5


@dataclass(frozen=True, slots=True)
class Sample:
    """A use to test: types and attributes, and the type or the code that must come of it."""

    operands: tuple[TensorType, ...]
    outcome: TensorType | str
    attributes: Attributes = field(default_factory=dict)
    where: tuple[Constraint, ...] = ()


def no_flops(site: Site) -> Dim:
    return constant(0)


def flops_per_element(site: Site) -> Dim:
    """One floating-point (or integer) operation for each element of the result."""
    return product(site.result.shape)


def moved_bytes(site: Site) -> Dim:
    """Bytes read from every operand and written to the result."""
    total = constant(0)
    for type_ in (*site.operands, site.result):
        total = total + product(type_.shape) * constant(type_.dtype.bytes)
    return total


def no_bytes(site: Site) -> Dim:
    """An operation that only changes how memory is looked at."""
    return constant(0)


def no_numbers(site: Site) -> tuple[int, ...]:
    """PyTorch takes tensors only."""
    return ()


def either_number(site: Site) -> tuple[int, ...]:
    """PyTorch takes a tensor and a Python number, in either order."""
    return (0, 1)


class Layer(NamedTuple):
    """The class of `torch.nn` whose `forward` is an operation on the class's own parameters.

    `states` are the names of these parameters, which are the operands behind the first; the last
    of them may be left out with `NAME=False`. `initial` says what each begins as, as a `param`
    would; None where no `param` can. `numbers` are keyword arguments: the operands behind the
    states. `sizes` are its first arguments, from the types of all operands.
    """

    name: str
    sizes: Callable[[tuple[TensorType, ...]], tuple[Dim, ...]]
    states: tuple[str, ...]
    initial: tuple[tuple[str, tuple[float, ...]] | None, ...]
    numbers: tuple[str, ...] = ()


class Operation(NamedTuple):
    """One operation, declared once.

    `infer` gives the result's type or a rejection; it sees operands whose number is right and
    attributes whose kinds are right (an axis is an int within the rank of the first operand, or
    of the target shape where there is no operand).
    `numpy` is the meaning: it takes the `numpy` module, the operand arrays and the evaluated
    site, and returns an array of the site's dtype and shape.
    `noun` names a temporary that holds a result (`sum`, `exp`).
    `kept_by` is the operation that does the same and keeps the axis that this one drops.
    `ids` is the operand whose elements are places along `axis` of the first operand.
    `idiom` is the PyTorch spelling where operands broadcast and may be Python numbers (`torch` by
    default), and `numbers` are the operands that may be such there.
    `layer` is the class of torch.nn that has it, if one does.
    `parts` are the types of the items where the result is a tuple, into which what `infer` gives
    is taken apart.
    """

    name: str
    family: str
    form: str
    doc: str
    noun: str
    operands: tuple[str, ...]
    infer: Callable[[tuple[TensorType, ...], Attributes, Facts], TensorType | Rejection]
    torch: Callable[[Site], Spelling]
    numpy: Callable[[Any, tuple[Any, ...], Evaluation], Any]
    flops: Callable[[Site], Dim] = flops_per_element
    bytes: Callable[[Site], Dim] = moved_bytes
    notation: Notation = Notation.CALL
    symbol: str | None = None
    attributes: tuple[AttributeSpec, ...] = ()
    variadic: bool = False
    takes_shape: bool = False
    kept_by: str | None = None
    ids: int | None = None
    samples: tuple[Sample, ...] = ()
    idiom: Callable[[Site], Spelling] | None = None
    numbers: Callable[[Site], tuple[int, ...]] = no_numbers
    commutative: bool = False
    parts: Callable[[TensorType, Attributes], tuple[TensorType, ...]] | None = None
    layer: Layer | None = None


def shape_attribute(attributes: Attributes) -> Shape:
    """The written target shape of an operation that takes one."""
    shape = attributes["shape"]
    assert isinstance(shape, tuple)
    return tuple(dim for dim in shape if isinstance(dim, Dim))
