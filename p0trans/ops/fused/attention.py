"""Attention in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from p0trans.ops.contract import unequal_inner, unfit_factors
from p0trans.ops.fused.rules import FAMILY
from p0trans.ops.reference import rounded, widened
from p0trans.ops.rules import (
    BOOL,
    Operands,
    Outcome,
    broadcast_shape,
    differing_dtype,
    same_shape,
    unwanted_dtype,
    wrong_rank,
)
from p0trans.ops.samples import TWO_K, B, D, H, K, N, S, tensor
from p0trans.ops.table import (
    Attributes,
    Evaluation,
    Facts,
    Operation,
    Rejection,
    Sample,
    Site,
    Spelling,
)
from p0trans.shapes.dim import Dim, constant, product
from p0trans.types import TensorType


def _split(operands: Operands) -> tuple[TensorType | None, TensorType | None]:
    """The mask and the scale, which are told apart by their rank."""
    mask = next((operand for operand in operands[3:] if operand.rank), None)
    scale = next((operand for operand in operands[3:] if not operand.rank), None)
    return mask, scale


def _attention(operands: Operands, attributes: Attributes, facts: Facts) -> Outcome:
    q, k, v = operands[:3]
    mask, scale = _split(operands)
    if rejection := (
        unfit_factors((q, k, v))
        or wrong_rank(q, q.rank if q.rank in (2, 3) else 4, 0)
        or wrong_rank(k, q.rank, 1)
        or wrong_rank(v, q.rank, 2)
        or (unwanted_dtype(scale.dtype, "float", len(operands) - 1) if scale else None)
    ):
        return rejection
    if rejection := unequal_inner(q, k, facts, -1):
        return rejection
    # That the heads of the queries are a multiple of those of the keys is proved where the
    # groups are made; no dim here says how many there are in one.
    axes = q.rank - (3 if attributes["grouped"] else 2)
    if not same_shape(q.shape[:axes], k.shape[:axes], facts):
        return Rejection("P0405", 1, facts={"left": q, "right": k})
    if not same_shape(k.shape[:-1], v.shape[:-1], facts):
        return Rejection("P0405", 2, facts={"left": k, "right": v})
    scores = TensorType(q.dtype, (*q.shape[:-1], k.shape[-2]))
    if mask and (rejection := _unfit_mask(mask, scores, facts)):
        return rejection
    return TensorType(q.dtype, (*q.shape[:-1], v.shape[-1]))


def _unfit_mask(mask: TensorType, scores: TensorType, facts: Facts) -> Rejection | None:
    if mask.dtype is not BOOL and (rejection := differing_dtype((scores, mask))):
        return rejection
    shape = broadcast_shape((scores.shape, mask.shape), facts)
    # The fast kernels take no others.
    fits = mask.rank in (2, scores.rank) and shape is not None
    if fits and shape is not None and same_shape(shape, scores.shape, facts):
        return None
    return Rejection("P0401", 3, facts={"expected": scores, "found": mask})


# What is added to an operand of so many axes, and how that is taken away from the result.
_ADDED_AXES: Mapping[int, tuple[str, str]] = {
    2: ("[None, None]", "[0, 0]"),
    3: (".unsqueeze(0)", ".squeeze(0)"),
    4: ("", ""),
}


def _torch(site: Site) -> Spelling:
    """The fast kernels take four axes only: with one batch axis, its items are the heads of a batch
    of one."""
    mask, scale = _split(site.operands)
    one, all_of_it = _ADDED_AXES[site.result.rank]
    arguments = [f"{{{index}}}{one}" for index in range(3)]
    if mask:
        arguments.append("attn_mask={3}" + ("" if mask.rank == 2 else one))
    if site.attributes["causal"]:
        arguments.append("is_causal=True")
    if scale:
        arguments.append(f"scale={{{len(site.operands) - 1}}}")
    if site.attributes["grouped"]:
        arguments.append("enable_gqa=True")
    call = f"F.scaled_dot_product_attention({', '.join(arguments)})"
    return Spelling(call + all_of_it)


def _meaning(np: Any, operands: tuple[Any, ...], evaluation: Evaluation) -> Any:
    q, k, v, *rest = (widened(np, operand) for operand in operands)
    mask = next((one for one in rest if one.ndim), None)
    scale = next((one for one in rest if not one.ndim), q.shape[-1] ** -0.5)
    if evaluation.attributes["grouped"]:
        groups = q.shape[1] // k.shape[1]
        k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
    if evaluation.attributes["causal"]:
        mask = np.tri(q.shape[-2], k.shape[-2], dtype=np.bool_)
    with np.errstate(all="ignore"):
        scores = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
        if mask is not None:
            scores = np.where(mask, scores, -np.inf) if mask.dtype == np.bool_ else scores + mask
        top = scores.max(axis=-1, keepdims=True)
        weights = np.exp(scores - top)
        weights = weights / weights.sum(axis=-1, keepdims=True)
        # Where a query takes part nowhere, PyTorch gives 0.
        return rounded(np, np.matmul(np.where(top == -np.inf, 0.0, weights), v), evaluation.dtype)


def _flops(site: Site) -> Dim:
    """Two matrix products, and of each score the scaling, the shift, exp, the sum, the quotient."""
    q, k, v = site.operands[:3]
    scores = product(q.shape[:-1]) * k.shape[-2]
    return scores * (constant(2) * q.shape[-1] + constant(2) * v.shape[-1] + constant(5))


def _numbers(site: Site) -> tuple[int, ...]:
    return tuple(index for index, one in enumerate(site.operands) if index > 2 and not one.rank)


def _samples() -> tuple[Sample, ...]:
    def form(causal: bool = False, grouped: bool = False) -> Attributes:
        return {"causal": causal, "grouped": grouped}

    plain, causal, grouped = form(), form(causal=True), form(grouped=True)
    q, k, v = tensor("F32", B, H, S, K), tensor("F32", B, H, D, K), tensor("F32", B, H, D, K)
    scale, mask, bias = tensor("F32"), tensor("Bool", S, D), tensor("F32", B, 1, 1, D)
    flat, other = tensor("F32", N, S, K), tensor("F32", N, D, K)
    four, two = tensor("F32", B, 4, S, K), tensor("F32", B, 2, D, K)
    return (
        Sample((q, k, v), q, plain),
        Sample((q, k, v, scale), q, plain),
        Sample((q, k, v, mask), q, plain),
        Sample((q, k, v, bias, scale), q, plain),
        Sample((q, q, tensor("F32", B, H, S, D), scale), tensor("F32", B, H, S, D), causal),
        Sample((four, two, two, scale), four, grouped),
        Sample((flat, other, other, scale), flat, plain),
        Sample((flat, other, other, mask), flat, plain),
        Sample((flat, other, other, tensor("F32", N, 1, D), scale), flat, plain),
        Sample(
            (tensor("F32", S, K), tensor("F32", D, K), tensor("F32", D, N), scale),
            tensor("F32", S, N),
            plain,
        ),
        Sample((tensor("F32", S, K),) * 3, tensor("F32", S, K), causal),
        Sample((*(tensor("BF16", N, S, K),) * 3, scale), tensor("BF16", N, S, K), plain),
        Sample((q, k, tensor("BF16", B, H, D, K)), "P0301", plain),
        Sample((q, k, v, tensor("BF16", S, D)), "P0301", plain),
        Sample((tensor("I32", B, H, S, K),) * 3, "P0302", plain),
        Sample((q, tensor("F32", B, H, D, TWO_K), v), "P0403", plain),
        Sample((four, two, two), "P0405", plain),
        Sample((q, k, q), "P0405", plain),
        Sample((tensor("F32", H, S, K), k, v), "P0408", plain),
        Sample((q, k, v, tensor("Bool", D, S)), "P0401", plain),
        Sample((q, k, v, tensor("Bool", H, S, D)), "P0401", plain),
    )


ATTENTION = Operation(
    name="attention",
    family=FAMILY,
    form="attention[causal, grouped] q k v [mask] [scale]",
    doc=(
        "`softmax(q k^T * scale) v`, where a Bool mask says which keys a query takes part in and a "
        "float one is added; the scale is 1 / sqrt(the features of a query) when it is left out."
    ),
    noun="mixed",
    operands=("q", "k", "v", "mask", "scale"),
    infer=_attention,
    torch=_torch,
    numpy=_meaning,
    flops=_flops,
    samples=_samples(),
    numbers=_numbers,
)
