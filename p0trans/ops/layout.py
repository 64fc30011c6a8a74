"""Operations that show the same elements in another shape.

They count as views and cost nothing, although PyTorch copies where a reshape does not fit the
order in memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from p0trans.ops.reference import Meaning
from p0trans.ops.rules import (
    RECEIVER,
    Infer,
    Operands,
    Outcome,
    from_end,
)
from p0trans.ops.samples import TWO_K, B, D, H, K, S, shape, tensor
from p0trans.ops.table import (
    AttributeKind,
    Attributes,
    AttributeSpec,
    Facts,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
    no_bytes,
    no_flops,
    shape_attribute,
)
from p0trans.shapes.dim import Constraint, Dim, constant, product
from p0trans.types import TensorType

_ZERO = constant(0)
_ONE = constant(1)
_AXIS = AttributeSpec("axis", AttributeKind.AXIS)


def _broadcast(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    target = shape_attribute(attributes)
    new_axes = len(target) - operand.rank
    if new_axes < 0:
        return Rejection("P0502", 0, facts={"found": operand, "target": target})
    for source_axis, dim in enumerate(operand.shape):
        target_axis = source_axis + new_axes
        if dim.as_integer() != 1 and not facts.equal(dim, target[target_axis]):
            words = {
                "found": operand,
                "target": target,
                "source_axis": source_axis,
                "target_axis": target_axis,
            }
            return Rejection("P0501", 0, facts=words)
    return TensorType(operand.dtype, target)


def _certainly_different(left: Dim, right: Dim) -> bool:
    """Whether the two differ whatever the shape variables are, as `B*S` and `2*B*S` do.

    Shape variables are at least 1, so a polynomial in them whose coefficients have all one sign
    is not zero.
    """
    difference = left - right
    signs = {coefficient > 0 for _, coefficient in difference.terms}
    return len(signs) == 1 and not difference.has_division


def _reshape(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    target = shape_attribute(attributes)
    if facts.equal_volume(operand.shape, target):
        return TensorType(operand.dtype, target)
    differ = _certainly_different(product(operand.shape), product(target))
    return Rejection("P0703" if differ else "P0702", 0, facts={"found": operand, "target": target})


def _permutation(attributes: Attributes) -> tuple[int, ...]:
    perm = attributes["perm"]
    assert isinstance(perm, tuple)
    return tuple(axis for axis in perm if isinstance(axis, int))


def _transpose(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    (operand,) = operands
    perm = _permutation(attributes)
    if sorted(perm) != list(range(operand.rank)):
        words = {"rank": operand.rank, "perm": perm}
        return Rejection("P0406", attribute="perm", facts=words)
    return TensorType(operand.dtype, tuple(operand.shape[axis] for axis in perm))


def _with_shape(template: str, site: Site) -> Spelling:
    fields = {"shape": shape_attribute(site.attributes)}
    return Spelling(template, operands=RECEIVER, fields=fields)


def _reshape_idiom(site: Site) -> Spelling:
    """One axis of size 1 that comes or goes: `.unsqueeze(i)`, `.squeeze(i)`."""
    source, target = site.operands[0].shape, site.result.shape
    if len(source) == len(target):
        return _reshape_torch(site)
    name, short, long = (
        ("unsqueeze", source, target) if len(source) < len(target) else ("squeeze", target, source)
    )
    for axis, dim in enumerate(long):
        if dim is _ONE and short == (*long[:axis], *long[axis + 1 :]):
            fields = {"axis": from_end(axis, len(long))}
            return Spelling(f"{{0}}.{name}({{axis}})", operands=RECEIVER, fields=fields)
    return _reshape_torch(site)


def _reshape_torch(site: Site) -> Spelling:
    return _with_shape("{0}.reshape({shape})", site)


def _transpose_idiom(site: Site) -> Spelling:
    """Two axes that swap: `.mT` for the last two, `.transpose(i, j)` for others."""
    perm = _permutation(site.attributes)
    moved = [axis for axis, source in enumerate(perm) if axis != source]
    if len(moved) != 2:
        return _transpose_torch(site)
    if moved == [len(perm) - 2, len(perm) - 1]:
        return Spelling("{0}.mT", operands=RECEIVER)
    fields = {"first": moved[0], "second": moved[1]}
    return Spelling("{0}.transpose({first}, {second})", operands=RECEIVER, fields=fields)


def _transpose_torch(site: Site) -> Spelling:
    axes = ", ".join(map(str, _permutation(site.attributes))) or "()"
    return Spelling("{0}.permute({axes})", operands=RECEIVER, fields={"axes": axes})


def _broadcast_samples() -> tuple[Sample, ...]:
    def sample(source: tuple[Dim | int, ...], target: tuple[Dim | int, ...]) -> Sample:
        outcome = tensor("F32", *target)
        return Sample((tensor("F32", *source),), outcome, {"shape": outcome.shape})

    def rejected(code: str, source: tuple[Dim | int, ...], target: tuple[Dim | int, ...]) -> Sample:
        return Sample((tensor("F32", *source),), code, {"shape": shape(*target)})

    return (
        sample((), (B, S, 1)),
        sample((), ()),
        sample((D,), (B, S, D)),
        sample((B, 1), (B, S)),
        sample((B, 1, TWO_K), (B, S, TWO_K)),
        rejected("P0501", (B, D), (B, S)),
        rejected("P0501", (B,), (B, S)),
        rejected("P0502", (B, 1, D), (B, D)),
    )


def _reshape_samples() -> tuple[Sample, ...]:
    def sample(source: TensorType, target: TensorType, *where: Constraint) -> Sample:
        return Sample((source,), target, {"shape": target.shape}, where)

    source = tensor("F32", B, H, S)
    flat = Constraint(K, "==", B * H)
    return (
        sample(source, tensor("F32", K, S), flat),
        sample(tensor("F32", K, S), source, flat),
        sample(source, tensor("F32", B, 1, H, S)),
        sample(tensor("F32", 1, 1), tensor("F32")),
        sample(tensor("F32"), tensor("F32", 1)),
        sample(tensor("F32"), tensor("F32")),
        sample(tensor("F32", 4, S), tensor("F32", 2, constant(2) * S)),
        Sample((source,), "P0702", {"shape": shape(K, S)}),
        Sample((source,), "P0702", {"shape": shape(B, S)}),
        Sample((source,), "P0703", {"shape": shape(B, H, S, 2)}),
        Sample((tensor("F32", 6),), "P0703", {"shape": shape(2, 4)}),
    )


def _transpose_samples() -> tuple[Sample, ...]:
    source = tensor("F32", B, 1, D)

    def perm(*axes: int) -> Attributes:
        return {"perm": axes}

    return (
        Sample((source,), tensor("F32", D, B, 1), perm(2, 0, 1)),
        Sample((tensor("F32", B, S),), tensor("F32", S, B), perm(1, 0)),
        Sample((tensor("F32", B),), tensor("F32", B), perm(0)),
        Sample((tensor("F32"),), tensor("F32"), perm()),
        Sample((source,), "P0406", perm(0, 1)),
        Sample((source,), "P0406", perm(0, 1, 1)),
        Sample((source,), "P0406", perm(1, 2, 3)),
        Sample((source,), "P0406", perm(0, 1, -1)),
    )


def _view(
    name: str,
    form: str,
    noun: str,
    doc: str,
    infer: Infer,
    torch: Callable[[Site], Spelling],
    meaning: Meaning,
    samples: tuple[Sample, ...],
    attributes: tuple[AttributeSpec, ...] = (),
    idiom: Callable[[Site], Spelling] | None = None,
) -> Operation:
    return Operation(
        name=name,
        family="layout",
        form=form,
        doc=doc,
        noun=noun,
        operands=("a",),
        infer=infer,
        torch=torch,
        numpy=meaning,
        flops=no_flops,
        bytes=no_bytes,
        attributes=attributes,
        takes_shape=not attributes,
        samples=samples,
        idiom=idiom,
    )


_BROADCAST = (
    "`a` repeated to the written shape. Shapes are aligned at their ends: each dim of `a` is the "
    "literal 1 or equal to its target, and new dims come in front."
)
_RESHAPE = (
    "The elements of `a`, in memory order, in the written shape. That the number of elements is "
    "the same must be proved."
)
_TRANSPOSE = "The axes in another order: axis `i` of the result is axis `perm[i]` of `a`."

VIEWS: tuple[Operation, ...] = (
    _view(
        "broadcast",
        "broadcast a [d…]",
        "broadcast",
        _BROADCAST,
        _broadcast,
        partial(_with_shape, "{0}.expand({shape})"),
        lambda np, operands, evaluation: np.broadcast_to(operands[0], evaluation.shape),
        _broadcast_samples(),
    ),
    _view(
        "reshape",
        "reshape a [d…]",
        "reshaped",
        _RESHAPE,
        _reshape,
        _reshape_torch,
        lambda np, operands, evaluation: np.reshape(operands[0], evaluation.shape),
        _reshape_samples(),
        idiom=_reshape_idiom,
    ),
    _view(
        "transpose",
        "transpose[perm=[…]] a",
        "transposed",
        _TRANSPOSE,
        _transpose,
        _transpose_torch,
        lambda np, operands, evaluation: np.transpose(operands[0], evaluation.attributes["perm"]),
        _transpose_samples(),
        (AttributeSpec("perm", AttributeKind.PERMUTATION),),
        _transpose_idiom,
    ),
)
