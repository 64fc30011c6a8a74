"""Operations that compute each element of the result from the elements in its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from p0trans.dtypes import DTYPES, DType
from p0trans.ops.reference import Meaning, computed, rounded, widened
from p0trans.ops.rules import (
    RECEIVER,
    Infer,
    Operands,
    Outcome,
    differing_dtype,
    differing_shape,
    dtype_attribute,
    unwanted_dtype,
)
from p0trans.ops.samples import B, D, S, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Evaluation,
    Facts,
    Notation,
    Operation,
    Precedence,
    Rejection,
    Sample,
    Site,
    Spelling,
    either_number,
    no_flops,
    no_numbers,
)
from p0trans.types import TensorType

P = Precedence
_SUM = (P.SUM, P.TERM)
_TERM = (P.TERM, P.UNARY)


def _arithmetic(wanted: str, integers: str = "P0302") -> Infer:
    """Equal dtypes of the class `wanted` and equal shapes; the type is kept.

    `integers` is the code for integers where they are not wanted.
    """

    def infer(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
        left, right = operands
        if differing := differing_dtype(operands):
            return differing
        if unwanted := unwanted_dtype(left.dtype, wanted, 0):
            if integers != unwanted.code and left.dtype.is_integer:
                return Rejection(integers, 0, facts={"found": left.dtype})
            return unwanted
        return differing_shape(left, right, facts, 1) or left

    return infer


def mapped(wanted: str) -> Infer:
    def infer(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
        (operand,) = operands
        return unwanted_dtype(operand.dtype, wanted, 0) or operand

    return infer


def binary_samples(dtype: str, result: str, unwanted: str | None, code: str) -> tuple[Sample, ...]:
    matrix, row, scalar = tensor(dtype, B, D), tensor(dtype, B, 1), tensor(dtype)
    other = tensor("Bool" if dtype == "I32" else "I32", B, D)
    rejected: tuple[Sample, ...] = (
        Sample((matrix, other), "P0302" if dtype == "Bool" else "P0301"),
        Sample((matrix, row), "P0401"),
        Sample((matrix, tensor(dtype, D)), "P0401"),
    )
    if unwanted is not None:
        rejected = (*rejected, Sample((tensor(unwanted, B), tensor(unwanted, B)), code))
    accepted = tuple(
        Sample((type_, type_), TensorType(DTYPES[result], type_.shape))
        for type_ in (matrix, row, scalar)
    )
    return (*accepted, *rejected)


def unary_samples(dtype: str, unwanted: str) -> tuple[Sample, ...]:
    accepted = (tensor(dtype, B, 1, D), tensor(dtype))
    return (
        *(Sample((type_,), type_) for type_ in accepted),
        Sample((tensor(unwanted, B, S),), "P0302"),
    )


def infix(
    name: str,
    symbol: str,
    noun: str,
    doc: str,
    infer: Infer,
    precedence: Precedence,
    operands: tuple[Precedence, Precedence],
    meaning: Meaning,
    samples: tuple[Sample, ...],
    python: str | None = None,
    commutative: bool = False,
) -> Operation:
    """`python` is the symbol's spelling where PyTorch's differs."""
    spelling = Spelling(f"{{0}} {python or symbol} {{1}}", precedence, operands)
    return Operation(
        name=name,
        family="elementwise",
        form=f"a {symbol} b",
        doc=doc,
        noun=noun,
        operands=("a", "b"),
        infer=infer,
        torch=lambda site: spelling,
        numpy=meaning,
        notation=Notation.INFIX,
        symbol=symbol,
        samples=samples,
        numbers=either_number,
        commutative=commutative,
    )


def prefix(
    name: str, symbol: str, noun: str, doc: str, wanted: str, python: str, meaning: Meaning
) -> Operation:
    spelling = Spelling(f"{python}{{0}}", P.UNARY, (P.UNARY,))
    dtype, unwanted = ("Bool", "F32") if wanted == "Bool" else ("F32", "Bool")
    return Operation(
        name=name,
        family="elementwise",
        form=f"{symbol} a" if symbol.isalpha() else f"{symbol}a",
        doc=doc,
        noun=noun,
        operands=("a",),
        infer=mapped(wanted),
        torch=lambda site: spelling,
        numpy=meaning,
        notation=Notation.PREFIX,
        symbol=symbol,
        samples=unary_samples(dtype, unwanted),
    )


def _binary_call(
    name: str,
    noun: str,
    doc: str,
    wanted: str,
    torch: str,
    meaning: Meaning,
    numbers: Callable[[Site], tuple[int, ...]] = no_numbers,
) -> Operation:
    spelling = Spelling(f"torch.{torch}({{0}}, {{1}})")
    dtype = "I32" if wanted == "integer" else "F32"
    unwanted = {"numeric": "Bool", "float": "I32", "integer": "F32"}[wanted]
    return Operation(
        name=name,
        family="elementwise",
        form=f"{name} a b",
        doc=doc,
        noun=noun,
        operands=("a", "b"),
        infer=_arithmetic(wanted),
        torch=lambda site: spelling,
        numpy=meaning,
        samples=binary_samples(dtype, dtype, unwanted, "P0302"),
        numbers=numbers,
    )


def _unary_call(
    name: str, doc: str, meaning: Meaning, wanted: str = "float", noun: str | None = None
) -> Operation:
    spelling = Spelling(f"torch.{name}({{0}})")
    return Operation(
        name=name,
        family="elementwise",
        form=f"{name} a",
        doc=doc,
        noun=noun or name,
        operands=("a",),
        infer=mapped(wanted),
        torch=lambda site: spelling,
        numpy=meaning,
        samples=unary_samples("F32", "Bool" if wanted == "numeric" else "I32"),
    )


def ufunc(name: str) -> Meaning:
    """The meaning that NumPy's function `name` gives."""
    return computed(lambda np, *operands: getattr(np, name)(*operands))


def _extremum(name: str, noun: str, doc: str, bound: str) -> Operation:
    """PyTorch's function for two tensors; with a number it is `clamp`, whose `bound` that is."""

    def idiom(site: Site) -> Spelling:
        if not site.numbers:
            return Spelling(f"torch.{name}({{0}}, {{1}})")
        tensor = 0 if 1 in site.numbers else 1
        return Spelling(f"{{{tensor}}}.clamp({bound}={{{1 - tensor}}})")

    operation = _binary_call(name, noun, doc, "numeric", name, ufunc(name), either_number)
    return operation._replace(idiom=idiom, commutative=True)


def _integer_call(name: str, noun: str, doc: str, symbol: str, function: str) -> Operation:
    """`function` has that name and floor semantics in both torch and NumPy."""

    def divide(np: Any, left: Any, right: Any) -> Any:
        if not right.all():
            raise ZeroDivisionError(f"{name}: an integer is divided by zero")
        return getattr(np, function)(left, right)

    def spell(site: Site) -> Spelling:
        if site.result.dtype.bits > 8:
            return Spelling(f"torch.{function}({{0}}, {{1}})")
        # TorchInductor fills the last vector of 8-bit integers with zeros and, on a CPU, dies of
        # dividing by them (torch 2.9).
        wide = f"torch.{function}({{0}}.to(torch.int32), {{1}}.to(torch.int32))"
        return Spelling(wide + ".to({dtype})", operands=RECEIVER)

    def idiom(site: Site) -> Spelling:
        if site.result.dtype.bits > 8:
            return Spelling(f"{{0}} {symbol} {{1}}", P.TERM, _TERM)
        return spell(site)

    def numbers(site: Site) -> tuple[int, ...]:
        return (0, 1) if site.result.dtype.bits > 8 else ()

    plain = _binary_call(name, noun, doc, "integer", function, computed(divide), numbers)
    return plain._replace(torch=spell, idiom=idiom)


def _sign(np: Any, operand: Any) -> Any:
    # torch gives 0 for NaN, where NumPy gives NaN.
    return np.where(np.isnan(operand), 0, np.sign(operand))


def _sigmoid(np: Any, operand: Any) -> Any:
    # 1 / (1 + exp(-x)) in a form that neither overflows nor loses the small values.
    return np.exp(-np.logaddexp(0.0, -operand))


def _erf(np: Any, operand: Any) -> Any:
    return np.vectorize(math.erf, otypes=[np.float64])(operand)


def _cast(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    return TensorType(dtype_attribute(attributes), operands[0].shape)


def _cast_meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    with np.errstate(all="ignore"):
        operand = widened(np, operands[0])
        if evaluation.dtype == np.bool_:
            return operand != 0
        return rounded(np, operand, evaluation.dtype)


def _cast_samples() -> tuple[Sample, ...]:
    def sample(source: str, target: DType) -> Sample:
        operand = tensor(source, B, 1)
        return Sample((operand,), TensorType(target, operand.shape), {"dtype": target})

    return tuple(sample(source, target) for source in ("F32", "I32") for target in DTYPES.values())


_NUMERIC = _arithmetic("numeric")
_SAMPLES = binary_samples("F32", "F32", "Bool", "P0302")
_DIV_SAMPLES = (
    *binary_samples("F32", "F32", "I32", "P0303"),
    Sample((tensor("Bool", B), tensor("Bool", B)), "P0302"),
)
_ADD = "Sum of two tensors of one numeric dtype and one shape."
_SUB = "Difference of two tensors of one numeric dtype and one shape."
_MUL = "Product, element by element, of two tensors of one numeric dtype and one shape."
_DIV = (
    "Quotient of two float tensors of one dtype and one shape; "
    "integers are divided by `floordiv` and `mod`."
)
_FLOORDIV = (
    "Quotient of integers, rounded down (also when it is negative). "
    "Division by zero is an error; the lowest integer divided by -1 is unspecified."
)
_MOD = "What `floordiv` leaves: `a - b * floordiv a b`, which has the sign of `b`."
_NEG = "The elements with the other sign."
_ROUND = "The nearest whole number, a half to the even one."
_MAX = "The larger of two elements; NaN when one of them is."
_MIN = "The smaller of two elements; NaN when one of them is."
_POW = "`a` to the power `b`; NaN for a negative `a` and a `b` that is not a whole number."
_SIGN = "-1, 0 or 1 as the element is negative, zero (or NaN) or positive."
_CAST = (
    "The elements in another dtype. Float to integer drops the fraction (NaN and what is out "
    "of range give an unspecified number), integer to integer wraps around, to Bool is `!= 0`."
)

INFIX_ARITHMETIC: tuple[Operation, ...] = (
    infix(
        "add",
        "+",
        "sum",
        _ADD,
        _NUMERIC,
        P.SUM,
        _SUM,
        ufunc("add"),
        _SAMPLES,
        commutative=True,
    ),
    infix("sub", "-", "difference", _SUB, _NUMERIC, P.SUM, _SUM, ufunc("subtract"), _SAMPLES),
    infix(
        "mul",
        "*",
        "product",
        _MUL,
        _NUMERIC,
        P.TERM,
        _TERM,
        ufunc("multiply"),
        _SAMPLES,
        commutative=True,
    ),
    infix(
        "div",
        "/",
        "quotient",
        _DIV,
        _arithmetic("float", integers="P0303"),
        P.TERM,
        _TERM,
        ufunc("divide"),
        _DIV_SAMPLES,
    ),
)

FUNCTIONS: tuple[Operation, ...] = (
    prefix("neg", "-", "negated", _NEG, "numeric", "-", ufunc("negative")),
    _unary_call("abs", "The absolute values.", ufunc("abs"), "numeric", "magnitude"),
    _unary_call("sign", _SIGN, computed(_sign), "numeric"),
    _unary_call("exp", "e to the power of each element.", ufunc("exp")),
    _unary_call("expm1", "`exp a - 1`, exact also near 0.", ufunc("expm1")),
    _unary_call("log", "The natural logarithm.", ufunc("log")),
    _unary_call("log1p", "`log (1 + a)`, exact also near 0.", ufunc("log1p")),
    _unary_call("sqrt", "The square root.", ufunc("sqrt"), noun="root"),
    _unary_call("rsqrt", "One over the square root.", computed(lambda np, a: 1 / np.sqrt(a))),
    _unary_call("reciprocal", "One over each element.", computed(lambda np, a: 1 / a)),
    _unary_call("sin", "The sine of an angle in radians.", ufunc("sin")),
    _unary_call("cos", "The cosine of an angle in radians.", ufunc("cos")),
    _unary_call("tanh", "The hyperbolic tangent.", ufunc("tanh")),
    _unary_call("sigmoid", "The logistic function, `1 / (1 + exp (-a))`.", computed(_sigmoid)),
    _unary_call("erf", "The Gauss error function.", computed(_erf)),
    _unary_call("floor", "The nearest whole number below.", ufunc("floor")),
    _unary_call("ceil", "The nearest whole number above.", ufunc("ceil")),
    _unary_call("round", _ROUND, ufunc("rint"), noun="rounded"),
    _extremum("maximum", "larger", _MAX, "min"),
    _extremum("minimum", "smaller", _MIN, "max"),
    _binary_call("pow", "power", _POW, "float", "pow", ufunc("power"), either_number),
    _integer_call("floordiv", "quotient", _FLOORDIV, "//", "floor_divide"),
    _integer_call("mod", "remainder", _MOD, "%", "remainder"),
    Operation(
        name="cast",
        family="elementwise",
        form="cast[T] a",
        doc=_CAST,
        noun="cast",
        operands=("a",),
        infer=_cast,
        torch=lambda site: Spelling("{0}.to({dtype})", operands=RECEIVER),
        numpy=_cast_meaning,
        flops=no_flops,
        attributes=(AttributeSpec("dtype", AttributeKind.DTYPE, positional=True),),
        samples=_cast_samples(),
    ),
)
