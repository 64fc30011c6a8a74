"""Attention: softmax(q k^T * scale) v, with a mask of any kind, in one call.

The call is found first, with a mask and with all heads of keys and values; then the mask and the
heads are looked at, so that both are seen across definitions, too.
"""

from __future__ import annotations

import math

from p0trans.dtypes import DTYPES
from p0trans.ir.program import Number
from p0trans.ops.rules import BOOL, broadcast_shape
from p0trans.rewrite.causal import Causal
from p0trans.rewrite.pattern import Attribute, Literal, Num, Op, Pattern, Size, Var, either, op
from p0trans.rewrite.rule import NOT_XLA, Match, Rule, called
from p0trans.rewrite.rules.contraction import product, swapping
from p0trans.rewrite.rules.heads import alone, in_a_row, repeated
from p0trans.rewrite.rules.masks import NONE, softmax
from p0trans.shapes.dim import Dim, constant
from p0trans.types import Shape

_Q, _K, _V = (Var(name) for name in "qkv")
_MASK, _BIAS, _SCALE, _DIVISOR = Var("mask"), Var("bias"), Num("scale"), Num("divisor")
_PERM = Attribute("perm")
_IS_CAUSAL, _IS_GROUPED = Attribute("causal"), Attribute("grouped")
_FEATURES = op("size", size=Attribute("size"))
_ONE = constant(1)


def _turned(operand: Pattern) -> Op:
    """`k^T` of a batch, from an operand whose axes are in any order."""
    return op("transpose", operand, perm=_PERM, shared=True)


# The keys turned; those that are repeated may be turned before. What is no transpose of keys is
# one all the same.
_KEYS = either(
    _turned(_K).named("turned"),
    repeated(alone(_turned(_K), "k"), "k"),
    repeated(op("transpose", alone(_K, "k"), perm=(0, 1, 2, 4, 3), shared=True), "k"),
    Var("turned"),
)
_SCALED_KEYS = either(
    _turned(_K * Num("k_scale")).named("turned"),
    _KEYS * Num("k_scale"),
    _KEYS,
)
_PRODUCTS = product(either(_Q * Num("q_scale"), _Q), _SCALED_KEYS)


def _scaled(scores: Pattern) -> Pattern:
    return either(
        scores * _SCALE,
        scores / _DIVISOR,
        scores * op("rsqrt", _FEATURES),
        scores / op("sqrt", _FEATURES),
        scores * Var("factor"),
        scores / Var("quotient"),
        scores,
    )


_SCORES = _scaled(_PRODUCTS)
_BIASED = (_PRODUCTS + _BIAS).named("unscaled")


def _masked(scores: Pattern) -> Pattern:
    return either(
        op("select", _MASK, scores, NONE),
        op("select", _MASK, NONE, scores, name="left_out"),
        scores + _BIAS,
        op("select", _MASK, scores + _BIAS, NONE),
        scores,
    )


# A softmax in float32 is what PyTorch computes in any case.
_WEIGHTS = either(
    softmax(_masked(_SCORES)),
    softmax(either(_BIASED * _SCALE, _BIASED / _DIVISOR)),
    op("cast", softmax(_masked(_scaled(op("cast", _PRODUCTS, name="wider"))))),
    op("cast", softmax(_masked(op("cast", _SCORES, name="wider")))),
    op("cast", softmax(op("cast", _masked(_SCORES), name="wider"))),
)


def _over_the_keys(match: Match) -> str | None:
    axis, rank = match.integer("axis"), match.result.rank
    return None if axis == rank - 1 else f"axis {axis} is not that of the keys"


def _ranks(match: Match) -> str | None:
    ranks = {match.type("q").rank, len(_keys_shape(match)), match.type("v").rank}
    if len(ranks) > 1 or not ranks <= {2, 3, 4, 5}:
        return "q, k and v have other ranks"
    if ranks == {2} and not match.has("k"):
        return "the keys are a matrix that is not turned"
    return None


def _rounded_as_wide(match: Match) -> str | None:
    if not match.has("wider") or match.type("wider").dtype.bits > match.type("q").dtype.bits:
        return None
    return "the softmax is taken in a dtype with fewer bits"


def _heads(match: Match) -> str | None:
    """The batch axes of q are those of k and v, or one head of k and v serves all of q."""
    q, k, v = match.shape("q"), _keys_shape(match), match.shape("v")
    if match.has("each_k") and not (len(q) == 4 and in_a_row(match, "k")):
        return "the keys are not repeated head by head"
    if not match.same_shape(k[:-1], v[:-1]):
        return "k and v have other axes"
    if match.same_shape(q[:-2], k[:-2]) or _is_one_for_all(match, q, k):
        return None
    return "k and v have other heads than q"


def _keys_shape(match: Match) -> Shape:
    *batch, features, keys = match.shape("each_k" if match.has("each_k") else "turned")
    return (*batch, keys, features)


def _is_one_for_all(match: Match, q: Shape, k: Shape) -> bool:
    """One head of keys for all of the queries: of four axes, or for those of a group."""
    return len(q) in (4, 5) and match.same_shape(k[:-2], (*q[:-3], _ONE))


def _mask_fits(match: Match) -> str | None:
    if match.type("q").rank == 5 and any(match.has(one) for one in ("mask", "bias")):
        return "the axes of a mask cannot be merged as those of q are"
    for name, dtype in (("mask", BOOL), ("bias", match.type("q").dtype)):
        if match.has(name) and not match.type(name).rank:
            return "the mask is a scalar"
        if match.has(name) and match.type(name).dtype is not dtype:
            return f"the mask is {match.type(name).dtype}"
    return None


def _scale_fits(match: Match) -> str | None:
    if "size" in match.bound.attributes and not _is_of_features(match):
        return "the scores are scaled by another size"
    for name in ("factor", "quotient"):
        if match.has(name) and match.type(name).rank:
            return "the scores are scaled by more than one number"
    return None


def _scale(match: Match) -> tuple[Pattern, ...] | None:
    """What the scores are scaled by as operands of the call: none for its own default. None when
    that takes a computation on a constant of the module."""
    names = [name for name in ("q_scale", "k_scale", "scale", "divisor") if match.has(name)]
    numbers = [match.number(name) for name in names]
    if "size" in match.bound.attributes:
        return None if names else ()
    if len(names) == 1 and _is_default(match, numbers[0], -0.5 if names[0] != "divisor" else 0.5):
        return ()
    if names in (["q_scale"], ["k_scale"], ["scale"]):
        return (Num(names[0]),)
    if names == ["divisor"] and numbers[0].dim is not None:
        return (Size(numbers[0].dim, -numbers[0].power),)
    if not all(number.is_literal for number in numbers):
        return None
    values = [match.rounded(name) for name in names]
    if match.has("divisor"):
        values[-1] = 1 / values[-1] if values[-1] else math.inf
    # The product is not rounded to 16 bits again.
    dtype = match.result.dtype
    return (Literal(math.prod(values), dtype if dtype.bits >= 32 else DTYPES["F32"]),)


def _is_default(match: Match, number: Number, power: float) -> bool:
    """Whether scores are scaled as PyTorch does unless told otherwise."""
    if number.dim is None or number.power != power:
        return False
    return match.facts.equal(number.dim, match.shape("q")[-1])


def _is_of_features(match: Match) -> bool:
    size = match.attribute("size")
    assert isinstance(size, Dim)
    return match.facts.equal(size, match.shape("q")[-1])


def _call(match: Match) -> Pattern | None:
    scale = _scale(match)
    if scale is None:
        return None
    q: Pattern = _Q
    if match.has("factor"):
        q = q * Var("factor")
    elif match.has("quotient"):
        q = q / Var("quotient")
    grouped = not match.same_shape(match.shape("q")[:-2], _keys_shape(match)[:-2])
    if match.type("q").rank == 5:
        return _merged_axes(match, q, scale, grouped)
    operands = (q, _keys(match), _V, *_mask(match), *scale)
    return op("attention", *operands, causal=False, grouped=grouped)


def _merged_axes(match: Match, q: Pattern, scale: tuple[Pattern, ...], grouped: bool) -> Pattern:
    """Five axes as the four that the fast kernels take: the heads of a group are heads of a batch
    of groups, or are grouped heads where they share their keys."""
    queries, keys, values = match.shape("q"), _keys_shape(match), match.shape("v")

    def merged(shape: Shape) -> Shape:
        if not grouped:
            return (shape[0] * shape[1], *shape[2:])
        return (shape[0], shape[1] * shape[2], *shape[3:])

    operands = (
        op("reshape", one, shape=merged(shape))
        for one, shape in ((q, queries), (_keys(match), keys), (_V, values))
    )
    call = op("attention", *operands, *scale, causal=False, grouped=grouped)
    return op("reshape", call, shape=match.result.shape)


def _turned_back(match: Match) -> tuple[Pattern, Shape]:
    """The keys before they were turned, their features last, and their shape."""
    if not match.has("k"):
        rank = match.type("turned").rank
        return op("transpose", Var("turned"), perm=swapping(rank)), _keys_shape(match)
    perm = match.bound.attributes.get("perm")
    if perm is None:
        return _K, match.shape("k")
    assert isinstance(perm, tuple)
    axes = tuple(axis for axis in (*perm[:-2], perm[-1], perm[-2]) if isinstance(axis, int))
    shape = tuple(match.shape("k")[axis] for axis in axes)
    unchanged = axes == tuple(range(len(axes)))
    return (_K if unchanged else op("transpose", _K, perm=axes)), shape


def _keys(match: Match) -> Pattern:
    found, keys = _turned_back(match)
    if not match.has("each_k"):
        return found
    wide = match.shape("wide_k")
    alone = op("reshape", found, shape=(*keys[:2], _ONE, *keys[2:]))
    repeated = op("broadcast", alone, shape=(*wide[:3], *keys[2:]))
    return op("reshape", repeated, shape=_keys_shape(match))


def _mask(match: Match) -> tuple[Pattern, ...]:
    if match.has("mask") and match.has("bias"):
        shape = broadcast_shape((match.shape("mask"), match.shape("bias")), match.facts)
        assert shape is not None, "both are broadcast to the scores"
        return (_fitting(match, op("select", _MASK, _BIAS, NONE), shape),)
    if match.has("mask"):
        mask = op("not", _MASK) if match.has("left_out") else _MASK
        return (_fitting(match, mask, match.shape("mask")),)
    if not match.has("bias"):
        return ()
    bias: Pattern = _BIAS
    if match.has("unscaled"):
        bias = bias * _SCALE if match.has("scale") else bias / _DIVISOR
    return (_fitting(match, bias, match.shape("bias")),)


def _fitting(match: Match, mask: Pattern, shape: Shape) -> Pattern:
    """A mask with as many axes as the call takes."""
    if len(shape) in (2, match.result.rank):
        return mask
    rank = 2 if len(shape) < 2 else match.result.rank
    return op("reshape", mask, shape=(_ONE,) * (rank - len(shape)) + shape)


def _attention(q: Pattern, k: Pattern, v: Pattern) -> Pattern:
    """The call with whatever else it takes."""
    rests: tuple[tuple[Pattern, ...], ...] = ((), (_SCALE,), (_MASK,), (_MASK, _SCALE))
    return either(
        *(op("attention", q, k, v, *rest, causal=_IS_CAUSAL, grouped=False) for rest in rests)
    )


def _with_mask(mask: Pattern) -> Pattern:
    return either(
        *(
            op("attention", _Q, _K, _V, mask, *scale, causal=False, grouped=_IS_GROUPED)
            for scale in ((), (_SCALE,))
        )
    )


def _shared_heads(match: Match) -> str | None:
    for name in "kv":
        if match.has(f"each_{name}"):
            if not in_a_row(match, name):
                return "the heads are not repeated in a row"
        elif not _is_one_for_all(match, match.shape("q"), match.shape(name)):
            return "the batch is broadcast, not one head"
    return None


def _is_square(match: Match) -> str | None:
    queries, keys = match.shape("q")[-2], match.shape("k")[-2]
    if not match.facts.equal(queries, keys):
        return f"there are {queries} queries and {keys} keys"
    square = match.same_shape(match.shape("causal")[-2:], (queries, keys))
    return None if square else "the mask is broadcast along the queries or the keys"


def _causal(match: Match) -> Pattern:
    return op("attention", _Q, _K, _V, *_its_scale(match), causal=True, grouped=_IS_GROUPED)


def _its_scale(match: Match) -> tuple[Pattern, ...]:
    return (_SCALE,) if match.has("scale") else ()


def _grouped(match: Match) -> Pattern:
    mask = (_MASK,) if match.has("mask") else ()
    rest = (*mask, *_its_scale(match))
    return op("attention", _Q, _K, _V, *rest, causal=_IS_CAUSAL, grouped=True)


def _with_narrow_mask(match: Match) -> Pattern | None:
    shape = match.shape("mask")
    if not shape:
        return None
    rest = (_fitting(match, _MASK, shape), *_its_scale(match))
    return op("attention", _Q, _K, _V, *rest, causal=False, grouped=_IS_GROUPED)


ATTENTION = (
    Rule(
        "attention",
        "softmax (q @ k^T * scale + mask) @ v = attention q k v mask scale",
        product(_WEIGHTS, _V),
        _call,
        (_over_the_keys, _ranks, _rounded_as_wide, _heads, _mask_fits, _scale_fits),
        note=called("attention"),
        targets=NOT_XLA,
        because=(
            "On a CPU, one call takes a fifth of the time of the steps in eager mode; under XLA "
            "the steps take 6 to 15 % less than one call."
        ),
    ),
    Rule(
        "causal_attention",
        "attention q k v (key <= query) = causal attention q k v",
        _with_mask(Causal("causal")),
        _causal,
        (_is_square,),
        note=called("causal attention"),
    ),
    Rule(
        "attention_mask",
        "attention q k v (broadcast mask) = attention q k v mask",
        _with_mask(op("broadcast", _MASK, shared=True)),
        _with_narrow_mask,
    ),
    Rule(
        "grouped_attention",
        "attention q (repeat k) (repeat v) = grouped attention q k v",
        either(
            _attention(_Q, repeated(alone(_K, "k"), "k"), repeated(alone(_V, "v"), "v")),
            _attention(_Q, op("broadcast", _K, shared=True), op("broadcast", _V, shared=True)),
        ),
        _grouped,
        (_shared_heads,),
    ),
)
