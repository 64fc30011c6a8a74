"""Emitted code beside the reference interpreter: what `p0trans verify` computes.

For each module and function of an emitted file, sizes and inputs are drawn, the reference
evaluates them, and each engine runs the emitted code on the same inputs and, for a module, the
same state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from p0trans.diagnostics.model import Diagnostic
from p0trans.driver import Options, build_sources
from p0trans.emit.options import Options as EmitOptions
from p0trans.importing import forget, import_text
from p0trans.ir.program import Program
from p0trans.shapes.dim import Constraint, constant, variable
from p0trans.shapes.sample import sample_sizes
from p0trans.source import Source
from p0trans.tools.verify_compare import Difference, difference
from p0trans.tools.verify_engines import ENGINES, Engine, Namespace, Run, run
from p0trans.tools.verify_gradients import (
    Loss,
    Slope,
    compared_dtype,
    gradient_difference,
    result_weights,
    slopes,
    widened,
    without_gradients,
)
from p0trans.tools.verify_inputs import Evaluated, evaluate_at, flat
from p0trans.tools.verify_stability import explains_gradients, explains_values
from p0trans.tools.verify_subjects import Input, Subject, leaves_of, subjects
from p0trans.types import tensors

_UNSTABLE = "rounding each step differently changes the numbers as much"


class Verdict(Enum):
    """What came of one comparison. Only OK is a pass."""

    OK = "ok"
    FAILED = "FAIL"
    ERROR = "error"
    UNSTABLE = "unstable"
    SKIPPED = "skipped"
    MISSING = "not installed"


FAILURES = frozenset({Verdict.FAILED, Verdict.ERROR, Verdict.MISSING})


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: `what` is `value` or `gradient`, `note` says more about the verdict."""

    name: str
    engine: str
    what: str
    dtype: str
    sizes: Mapping[str, int]
    difference: Difference | None
    verdict: Verdict
    note: str = ""


@dataclass(frozen=True, slots=True)
class Request:
    """What to verify, and how often.

    `only` is the name of a definition or module, `dims` are sizes that are given, `runs` is the
    number of runs of each on each engine; each has other sizes, as far as there are any.
    """

    only: str | None = None
    dims: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    engines: tuple[str, ...] = ("eager",)
    gradients: bool = False
    runs: int = 4
    emit: EmitOptions = field(default_factory=EmitOptions)


@dataclass(frozen=True, slots=True)
class Plan:
    """The work on one file that checks: `length` parts, each of which gives some rows. `texts` are
    the emitted files by engine."""

    program: Program
    texts: Mapping[str, str]
    name: str
    subjects: tuple[Subject, ...]
    request: Request

    @property
    def length(self) -> int:
        return len(self.subjects) * self.request.runs * len(self.request.engines)


class NothingToVerifyError(ValueError):
    """A name or a size that is asked for and that the file does not have."""


def plan(source: Source, request: Request) -> Plan | tuple[Diagnostic, ...]:
    """The work on one source, or what is wrong with it. Raises NothingToVerifyError."""
    texts = {}
    emitted = []
    for name in request.engines:
        # Each engine runs what is emitted for it, unless another target is asked for.
        asked = request.emit.target
        target = ENGINES[name].target if asked == "torch" else asked
        built = build_sources([source], Options(replace(request.emit, target=target)))
        if not built.files:
            return built.diagnostics
        texts[name] = built.files[0].text
        emitted.append(built.emitted)
        program = built.program
    root = program.roots[0]
    # A rewrite for one target may leave nothing of a function that another still calls.
    first, *others = (subjects(program, root, one) for one in emitted)
    every = [s for s in first if all(any(s.name == o.name for o in other) for other in others)]
    chosen = tuple(s for s in every if request.only is None or s.is_called(request.only))
    if not chosen:
        names = ", ".join(subject.name for subject in every) or "nothing to run"
        wanted = "" if request.only is None else f" and no '{request.only}'"
        raise NothingToVerifyError(f"{source.name} has {names}{wanted}")
    known = {name for subject in chosen for name in subject.definition.shape_parameters}
    for name in request.dims:
        if name not in known:
            raise NothingToVerifyError(f"'{name}' is no shape variable of {source.name}")
    return Plan(program, texts, source.name, chosen, request)


def verify(work: Plan) -> Iterator[tuple[Row, ...]]:
    """Do the work, part by part."""
    request = work.request
    lacks = {name: ENGINES[name].lacks() for name in request.engines}
    engines = [ENGINES[name] for name, lacking in lacks.items() if lacking is None]
    wide = widened(work.program) if request.gradients else None
    with ExitStack() as stack:
        namespaces = {
            engine.name: stack.enter_context(imported(work.texts[engine.name]))
            for engine in engines
        }
        for subject in work.subjects:
            for name, lacking in lacks.items():
                if lacking is not None:
                    note = f"{lacking} is not installed"
                    yield (Row(subject.name, name, "value", "", {}, None, Verdict.MISSING, note),)
                    yield from ((),) * (request.runs - 1)
            if engines:
                yield from _verify_subject(_Context(work, subject, namespaces, wide), engines)


@contextmanager
def imported(text: str) -> Iterator[Namespace]:
    """What an emitted file defines, as long as it is needed."""
    module = import_text(text, "verified")
    try:
        yield vars(module)
    finally:
        forget(module)


def draw_sizes(subject: Subject, request: Request) -> tuple[Mapping[str, int], ...]:
    """Sizes for the runs of one subject; there may be fewer than runs."""
    names = subject.definition.shape_parameters
    given = tuple(
        Constraint(variable(name), "==", constant(size))
        for name, size in request.dims.items()
        if name in names
    )
    return sample_sizes(names, (*subject.constraints, *given), request.runs, request.seed)


def draw_inputs(
    program: Program, subject: Subject, sizes: Mapping[str, int], seed: str
) -> Evaluated:
    """Inputs and state for one run of a subject, and the reference's result."""
    numbers = () if subject.plan is None else subject.plan.numbers
    fixed = {number.parameter: number.default for number in numbers}
    return evaluate_at(program, subject.definition, sizes, fixed, seed)


@dataclass(frozen=True, slots=True)
class _Context:
    """One subject and what its runs share; `wide` is the program in F64, for gradients."""

    work: Plan
    subject: Subject
    namespaces: Mapping[str, Namespace]
    wide: Program | None

    def row(
        self,
        engine: Engine,
        what: str,
        sizes: Mapping[str, int],
        verdict: Verdict,
        found: Difference | None = None,
        note: str = "",
    ) -> Row:
        dtypes = dict.fromkeys(
            type_.dtype.name for type_ in tensors(self.subject.definition.result_type)
        )
        name, dtype = self.subject.name, " ".join(dtypes)
        return Row(name, engine.name, what, dtype, sizes, found, verdict, note)


@dataclass(frozen=True, slots=True)
class _Reference:
    """One run in the reference: where gradients can be had, also the loss and its derivatives
    along some directions of the leaves."""

    evaluated: Evaluated
    loss: Loss | None = None
    leaves: tuple[Input, ...] = ()
    slopes: tuple[Slope, ...] = ()


def _verify_subject(context: _Context, engines: Sequence[Engine]) -> Iterator[tuple[Row, ...]]:
    """The rows of each run on each engine."""
    request, subject = context.work.request, context.subject
    sizes = draw_sizes(subject, request)
    with ExitStack() as stack:
        devices = [stack.enter_context(engine.session()) for engine in engines]
        for number in range(request.runs):
            at = sizes[number % len(sizes)] if sizes else {}
            try:
                if not sizes:
                    raise ValueError("no sizes were found that satisfy all constraints")
                reference = _refer(context, at, f"{request.seed} {subject.name} {number}")
            except (ArithmeticError, IndexError, ValueError) as error:
                note = f"the reference has no value: {error}"
                for engine in engines:
                    yield (context.row(engine, "value", at, Verdict.ERROR, note=note),)
                continue
            for engine, device in zip(engines, devices, strict=True):
                yield tuple(_compare(context, engine, device, reference))


def _refer(context: _Context, sizes: Mapping[str, int], seed: str) -> _Reference:
    program, subject = context.work.program, context.subject
    evaluated = draw_inputs(program, subject, sizes, seed)
    if context.wide is None or without_gradients(program, subject) is not None:
        return _Reference(evaluated)
    leaves = leaves_of(program, subject)
    weights = result_weights(evaluated, seed)
    loss = Loss(context.wide, subject.definition, evaluated, weights)
    return _Reference(evaluated, loss, leaves, slopes(loss, leaves, seed))


def _compare(
    context: _Context, engine: Engine, device: Any, reference: _Reference
) -> Iterator[Row]:
    """One run on one engine: a row for its value and, where asked for, one for its gradients."""
    evaluated = reference.evaluated
    loss = reference.loss
    weights = () if loss is None else loss.weights
    namespace = context.namespaces[engine.name]
    try:
        found = run(
            engine, device, namespace, context.subject, evaluated, weights, reference.leaves
        )
    # Whatever emitted code or an engine raises is the finding.
    except Exception as error:
        note = f"{type(error).__name__}: {_first_line(error)}"
        yield context.row(engine, "value", evaluated.sizes, Verdict.ERROR, note=note)
        return
    yield _compare_values(context, engine, evaluated, found)
    if context.wide is None:
        return
    reason = without_gradients(context.work.program, context.subject)
    if reason is None and not reference.slopes:
        reason = "there is a kink in every direction"
    if reason is not None:
        yield context.row(engine, "gradient", evaluated.sizes, Verdict.SKIPPED, note=reason)
        return
    assert loss is not None, "only what has no gradients has no loss"
    dtype = compared_dtype(context.work.program, context.subject.definition)
    differs = gradient_difference(found.gradients, reference.slopes, dtype)
    verdict, note = Verdict.OK, ""
    if not differs.within:
        verdict = Verdict.FAILED
        if explains_gradients(loss, found.gradients, reference.slopes, dtype):
            verdict, note = Verdict.UNSTABLE, _UNSTABLE
    yield context.row(engine, "gradient", evaluated.sizes, verdict, differs, note)


def _compare_values(context: _Context, engine: Engine, evaluated: Evaluated, found: Run) -> Row:
    definition, sizes = context.subject.definition, evaluated.sizes
    wanted = list(flat(evaluated.result))
    if _form(found.results) != _form(wanted):
        note = f"{_form(found.results)} in place of {_form(wanted)}"
        return context.row(engine, "value", sizes, Verdict.FAILED, note=note)
    dtypes = [type_.dtype for type_ in tensors(definition.result_type)]
    differs = difference(found.results, wanted, dtypes)
    if differs.within:
        return context.row(engine, "value", sizes, Verdict.OK, differs)
    if explains_values(context.work.program, definition, evaluated, found.results):
        return context.row(engine, "value", sizes, Verdict.UNSTABLE, differs, _UNSTABLE)
    return context.row(engine, "value", sizes, Verdict.FAILED, differs)


def _form(results: Sequence[Any]) -> str:
    return ", ".join(f"{array.dtype}{list(array.shape)}" for array in results)


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "")
