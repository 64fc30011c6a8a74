"""Reductions to a single number, and losses."""

from __future__ import annotations

from p0trans.ir.program import Apply
from p0trans.ops.fused.loss import REDUCED_TO_A_NUMBER
from p0trans.rewrite.pattern import Attribute, Known, Num, Pattern, Var, either, op
from p0trans.rewrite.rule import Condition, Match, Rule, called, is_one
from p0trans.rewrite.rules.reductions import AXIS
from p0trans.types import Shape

_X, _TARGET, _LOGITS, _IDS = Var("x"), Var("target"), Var("logits"), Var("ids")
_IGNORED, _SMOOTHING = Num("ignored"), Num("smoothing")
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
    index = op("reshape", ids, name="index", shared=True)
    return op("gather", values, index, axis=AXIS)


def _shape_or_not(pattern: Pattern) -> Pattern:
    return either(pattern, op("reshape", pattern))


def _reduced(pattern: Pattern) -> Pattern:
    return op("reduce_all", pattern, kind=_KIND)


_LOG_SOFTMAX = op("log_softmax", _LOGITS, axis=AXIS)
_LOG_PROBS = _shape_or_not(_picked(_LOG_SOFTMAX, _IDS))
_LOG_SUM = op("logsumexp", _LOGITS, axis=AXIS, keep=True)
_LOG_SUM_FLAT = op("logsumexp", _LOGITS, axis=AXIS, keep=False)

_COUNTS = op("ne", _IDS, _IGNORED)
_RIGHT = -_shape_or_not(_picked(_LOG_SOFTMAX, op("select", _COUNTS, _IDS, 0)))
_EVEN = _SMOOTHING * -op("reduce", _LOG_SOFTMAX, kind="mean", axis=AXIS)
_SMOOTHED = (1.0 - _SMOOTHING) * _RIGHT + either(
    _EVEN, op("select", op("gt", _SMOOTHING, 0.0), _EVEN, 0.0)
)


def _mean_of_counted(losses: Pattern) -> Pattern:
    counted = op("select", _COUNTS, losses, 0.0, name="flat")
    total = op("reduce_all", counted, kind="sum")
    return total / op("reduce_all", op("cast", _COUNTS), kind="sum")


def _one_by_one(match: Match) -> str | None:
    """Each row of logits has one class, and the sums and the right logits lie side by side."""
    if not is_one(match.shape("index")[match.integer("axis")]):
        return "several classes are right"
    if match.has("flat") and not match.same_shape(match.shape("flat"), _rows(match)):
        return "each sum has to do with several logits"
    return None


def _rows(match: Match) -> Shape:
    """The shape of the logits without the axis of the classes."""
    shape, axis = match.shape("logits"), match.integer("axis")
    return (*shape[:axis], *shape[axis + 1 :])


def _cross_entropy(match: Match) -> Pattern:
    shape = match.shape("ids")
    if match.same_shape(shape, _rows(match)):
        return op("cross_entropy", _LOGITS, _IDS, kind=_KIND, axis=AXIS)
    node = match.graph.node(match.value("logits"))
    if isinstance(node, Apply) and node.operation == "reshape":
        # The logits were made flat as the ids were.
        (whole,) = node.operands
        classes = match.shape("logits")[-1:]
        if match.same_shape(match.graph.tensor(whole).shape, (*shape, *classes)):
            return op("cross_entropy", Known(whole), _IDS, kind=_KIND, axis=len(shape))
    if len(shape) == 1 and match.is_last("axis", "logits"):
        flat = op("reshape", _LOGITS, shape=(*shape, match.shape("logits")[-1]))
        return op("cross_entropy", flat, _IDS, kind=_KIND, axis=1)
    ids = op("reshape", _IDS, shape=_rows(match))
    return op("cross_entropy", _LOGITS, ids, kind=_KIND, axis=AXIS)


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
        "reduce_all_shapes",
        "reduce_all[k] (reshape x) = reduce_all[k] x",
        _reduced(op("reshape", _X)),
        op("reduce_all", _X, kind=_KIND),
    ),
)

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
        _mean_of_counted(_RIGHT),
        op("cross_entropy", _LOGITS, _IDS, _IGNORED, kind="mean", axis=AXIS),
        (_one_by_one,),
        note=called("cross-entropy"),
    ),
    Rule(
        "cross_entropy_smoothed",
        "the same with a share of each row spread over all classes",
        _mean_of_counted(_SMOOTHED),
        op("cross_entropy", _LOGITS, _IDS, _IGNORED, _SMOOTHING, kind="mean", axis=AXIS),
        (_one_by_one,),
        note=called("cross-entropy with smoothed labels"),
    ),
    Rule(
        "mse_loss",
        "mean (square (x - target)) = mse_loss x target",
        op("reduce_all", op("square", _X - _TARGET), kind="mean"),
        op("mse_loss", _X, _TARGET),
        note=called("mean squared error"),
    ),
)
