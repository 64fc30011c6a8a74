"""Reductions to a single number, and losses."""

from __future__ import annotations

from p0trans.ir.program import Apply
from p0trans.ops.fused.loss import REDUCED_TO_A_NUMBER
from p0trans.rewrite.pattern import Attribute, Known, Num, Pattern, Var, either, is_close, op
from p0trans.rewrite.rule import Condition, Match, Rule, called, is_one
from p0trans.rewrite.rules.reductions import AXIS
from p0trans.rewrite.rules.softmax import SHIFTED
from p0trans.types import Shape

_X, _TARGET, _LOGITS, _IDS = Var("x"), Var("target"), Var("logits"), Var("ids")
_IGNORED, _SMOOTHING, _REST = Num("ignored"), Num("smoothing"), Num("rest")
_CUT_OFF = op("relu", _SMOOTHING, name="cut_off")
_KIND = Attribute("kind")


def _of_kind(*kinds: str) -> Condition:
    def condition(match: Match) -> str | None:
        kind = match.attribute("kind")
        return None if kind in kinds else f"the {kind} has no such function"

    return condition


def _is_vector(match: Match) -> str | None:
    rank = match.type("x").rank
    return None if rank == 1 else f"there are {rank} axes"


def _picked(values: Pattern, ids: Pattern) -> Pattern:
    """The value of the right class, at each place."""
    index = either(op("reshape", ids, name="index", shared=True), ids)
    return op("gather", values, index, axis=AXIS)


def _shape_or_not(pattern: Pattern) -> Pattern:
    return either(pattern, op("reshape", pattern))


def _reduced(pattern: Pattern) -> Pattern:
    return op("reduce_all", pattern, kind=_KIND)


_LOG_SOFTMAX = op("log_softmax", _LOGITS, axis=AXIS)
_LOG_PROBS = _shape_or_not(_picked(_LOG_SOFTMAX, _IDS))
_LOG_SUM = op("logsumexp", _LOGITS, axis=AXIS, keep=True)
_LOG_SUM_FLAT = op("logsumexp", _LOGITS, axis=AXIS, keep=False)

_COUNTS, _SKIPPED = op("ne", _IDS, _IGNORED), op("eq", _IDS, _IGNORED)
_SAFE_IDS = either(op("select", _COUNTS, _IDS, 0), op("select", _SKIPPED, 0, _IDS))
_RIGHT = -_LOG_PROBS
_RIGHT_OF_COUNTED = -_shape_or_not(_picked(_LOG_SOFTMAX, _SAFE_IDS))


def _smoothed(right: Pattern) -> Pattern:
    """A share of each loss is that of all classes evenly; the mean over these may come last."""
    return _shared_out(right, op("reduce", _LOG_SOFTMAX, kind="mean", axis=AXIS))


def _shared_out(right: Pattern, mean: Pattern) -> Pattern:
    """The loss and that of all classes evenly, from the mean of the logarithms."""

    def even(share: Pattern) -> Pattern:
        part = share * -mean
        return either(part, op("select", op("gt", share, 0.0), part, 0.0))

    return either(
        *((1.0 - share) * right + even(share) for share in (_SMOOTHING, _CUT_OFF)),
        _REST * right + even(_SMOOTHING),
    )


def _mean_of_counted(losses: Pattern) -> Pattern:
    weights = either(op("cast", _COUNTS), op("cast", op("not", _SKIPPED)))
    counted = either(
        op("select", _COUNTS, losses, 0.0, name="flat"),
        op("select", _SKIPPED, 0.0, losses, name="flat"),
        (losses * weights).named("flat"),
    )
    return op("reduce_all", counted, kind="sum") / op("reduce_all", weights, kind="sum")


def _add_up(match: Match) -> str | None:
    """The shares of both losses are 1 together."""
    if not match.has("rest"):
        return None
    rest, smoothing = match.literal("rest"), match.literal("smoothing")
    if rest is None or smoothing is None or not is_close(rest, 1 - smoothing, match.result.dtype):
        return "the two shares are not 1 together"
    return None


def _is_a_share(match: Match) -> str | None:
    """F.cross_entropy takes no smoothing below 0, and stops at one above 1."""
    smoothing = match.literal("smoothing")
    if smoothing is None:
        return None if match.has("cut_off") else "the share may be negative"
    return None if 0 <= smoothing <= 1 else f"{smoothing} is no share"


def _one_by_one(match: Match) -> str | None:
    """Each row of logits has one class, and the sums and the right logits lie side by side."""
    if not is_one(match.shape(_index(match))[match.integer("axis")]):
        return "several classes are right"
    if match.has("flat") and not match.same_shape(match.shape("flat"), _rows(match)):
        return "each sum has to do with several logits"
    return None


def _index(match: Match) -> str:
    return "index" if match.has("index") else "ids"


def _rows(match: Match) -> Shape:
    """The shape of the logits without the axis of the classes."""
    shape, axis = match.shape("logits"), match.integer("axis")
    return (*shape[:axis], *shape[axis + 1 :])


def _cross_entropy(match: Match) -> Pattern:
    shape = match.shape("ids")
    smoothing = (_SMOOTHING,) if match.has("smoothing") else ()
    if match.same_shape(shape, _rows(match)):
        return op("cross_entropy", _LOGITS, _IDS, *smoothing, kind=_KIND, axis=AXIS)
    node = match.graph.node(match.value("logits"))
    last = match.is_last("axis", "logits")
    if last and isinstance(node, Apply) and node.operation == "reshape":
        # The logits were made flat as the ids were.
        (whole,) = node.operands
        classes = match.shape("logits")[-1:]
        if match.same_shape(match.graph.tensor(whole).shape, (*shape, *classes)):
            return op("cross_entropy", Known(whole), _IDS, *smoothing, kind=_KIND, axis=len(shape))
    if last and len(shape) == 1:
        flat = op("reshape", _LOGITS, shape=(*shape, match.shape("logits")[-1]))
        return op("cross_entropy", flat, _IDS, *smoothing, kind=_KIND, axis=1)
    ids = op("reshape", _IDS, shape=_rows(match))
    return op("cross_entropy", _LOGITS, ids, *smoothing, kind=_KIND, axis=AXIS)


def _each(match: Match) -> Pattern | None:
    """The loss of each row, in the shape that the ids have without the axis of the classes."""
    rows = _rows(match)
    if not match.same_shape(match.result.shape, rows):
        return None
    same = match.same_shape(match.shape("ids"), rows)
    ids = _IDS if same else op("reshape", _IDS, shape=rows)
    return op("cross_entropy", _LOGITS, ids, kind="none", axis=AXIS)


def _of_one_row(match: Match) -> str | None:
    axis, shape = match.integer("axis"), match.shape("x")
    if match.result.rank == 0 and all(map(is_one, (*shape[:axis], *shape[axis + 1 :]))):
        return None
    return "there are other axes"


REDUCE_ALL = (
    Rule(
        "reduce_all",
        "reduce[k, axis=0] x = reduce_all[k] x where x has one axis",
        op("reduce", _X, kind=_KIND),
        op("reduce_all", _X, kind=_KIND),
        (_of_kind(*REDUCED_TO_A_NUMBER), _is_vector),
    ),
    Rule(
        "reduce_all_axes",
        "reduce_all[k] (reduce[k] x) = reduce_all[k] x",
        _reduced(either(op("reduce", _X, kind=_KIND), op("reduce_keep", _X, kind=_KIND))),
        op("reduce_all", _X, kind=_KIND),
    ),
    Rule(
        "reduce_all_of_row",
        "reshape (reduce[k] x) = reduce_all[k] x where x has one element besides the axis",
        op(
            "reshape",
            either(*(op(name, _X, kind=_KIND, axis=AXIS) for name in ("reduce", "reduce_keep"))),
        ),
        op("reduce_all", _X, kind=_KIND),
        (_of_kind(*REDUCED_TO_A_NUMBER), _of_one_row),
    ),
    Rule(
        "reduce_all_shapes",
        "reduce_all[k] (reshape x) = reduce_all[k] x",
        _reduced(op("reshape", _X)),
        op("reduce_all", _X, kind=_KIND),
    ),
)

_OF_TARGET = _X * _TARGET
_OTHERWISE = either(op("logsigmoid", -_X), op("log", 1.0 - op("sigmoid", _X)))
_LIKELIHOOD = _TARGET * op("logsigmoid", _X) + (1.0 - _TARGET) * _OTHERWISE
_BINARY = either(
    (op("relu", _X) - _OF_TARGET) + op("softplus", -op("abs", _X)),
    op("softplus", _X) - _OF_TARGET,
    -_LIKELIHOOD,
)
_SOFT = op("reduce", _TARGET * op("log_softmax", _X, axis=1), kind="sum", axis=1)

LOSS = (
    Rule(
        "cross_entropy",
        "-mean (gather (log_softmax x) ids) = cross_entropy x ids",
        either(
            -_reduced(_LOG_PROBS),
            _reduced(-_LOG_PROBS),
            _reduced(_shape_or_not(_LOG_SUM - _picked(_LOGITS, _IDS))),
            _reduced(_LOG_SUM_FLAT - op("reshape", _picked(_LOGITS, _IDS), name="flat")),
        ),
        _cross_entropy,
        (_of_kind("mean", "sum"), _one_by_one),
        note=called("cross-entropy"),
    ),
    Rule(
        "cross_entropy_ignored",
        "the same without the rows of one class",
        _mean_of_counted(_RIGHT_OF_COUNTED),
        op("cross_entropy", _LOGITS, _IDS, _IGNORED, kind="mean", axis=AXIS),
        (_one_by_one,),
        note=called("cross-entropy"),
    ),
    Rule(
        "cross_entropy_smoothed",
        "the same with a share of each row spread over all classes",
        _mean_of_counted(_smoothed(_RIGHT_OF_COUNTED)),
        op("cross_entropy", _LOGITS, _IDS, _IGNORED, _SMOOTHING, kind="mean", axis=AXIS),
        (_one_by_one, _add_up, _is_a_share),
        note=called("cross-entropy with smoothed labels"),
    ),
    Rule(
        "cross_entropy_smoothed",
        "the same with a share of each row spread over all classes",
        either(
            _reduced(_smoothed(_RIGHT)),
            _shared_out(-_reduced(_LOG_PROBS), op("reduce_all", _LOG_SOFTMAX, kind=_KIND)),
        ),
        _cross_entropy,
        (_of_kind("mean"), _one_by_one, _add_up, _is_a_share),
        note=called("cross-entropy with smoothed labels"),
    ),
    Rule(
        "cross_entropy_shift",
        "cross_entropy (x - max x) ids = cross_entropy x ids",
        op("cross_entropy", SHIFTED, _IDS, kind=_KIND, axis=AXIS),
        op("cross_entropy", _X, _IDS, kind=_KIND, axis=AXIS),
        note=called("cross-entropy"),
    ),
    Rule(
        "soft_cross_entropy",
        "-mean (sum (target * log_softmax x)) = soft_cross_entropy x target",
        either(
            -op("reduce_all", _SOFT, kind="mean"),
            op("reduce_all", -_SOFT, kind="mean"),
        ),
        op("soft_cross_entropy", _X, _TARGET),
        note=called("cross-entropy of two distributions"),
    ),
    Rule(
        "l1_loss",
        "mean (abs (x - target)) = l1_loss x target",
        op("reduce_all", op("abs", _X - _TARGET), kind="mean"),
        op("l1_loss", _X, _TARGET),
        note=called("mean absolute error"),
    ),
    Rule(
        "bce_with_logits",
        "mean (softplus x - x * target) = bce_with_logits x target",
        either(op("reduce_all", _BINARY, kind="mean"), -op("reduce_all", _LIKELIHOOD, kind="mean")),
        op("bce_with_logits", _X, _TARGET),
        note=called("binary cross-entropy"),
    ),
    Rule(
        "mse_loss",
        "mean (square (x - target)) = mse_loss x target",
        op("reduce_all", op("square", _X - _TARGET), kind="mean"),
        op("mse_loss", _X, _TARGET),
        note=called("mean squared error"),
    ),
)

LOSS_OF_EACH = (
    Rule(
        "cross_entropy_each",
        "-gather (log_softmax x) ids = cross_entropy x ids for each row",
        either(
            -_LOG_PROBS,
            op("reshape", -_picked(_LOG_SOFTMAX, _IDS)),
            _shape_or_not(_LOG_SUM - _picked(_LOGITS, _IDS)),
            _LOG_SUM_FLAT - op("reshape", _picked(_LOGITS, _IDS), name="flat"),
        ),
        _each,
        (_one_by_one,),
        note=called("cross-entropy"),
    ),
)
