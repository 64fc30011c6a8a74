"""What people write from habit: signs and words of other languages."""

from __future__ import annotations

from collections.abc import Callable

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Edit, Fix, Label
from p0trans.source import Place, Span
from p0trans.syntax.finding import Finding, Problem, adjacent, mended
from p0trans.syntax.surroundings import ENDS_VALUE, NAMES
from p0trans.syntax.tokens import STRANGE
from p0trans.syntax.wording import HABITS, LOOKALIKES, expectation, found

_COMPARISONS = {"<>": "!=", "=<": "<=", "=>": ">="}


def _strange_character(problem: Problem) -> Finding | None:
    token = problem.token
    if token.type != STRANGE:
        return None
    notes = (HABITS[token.text],) if token.text in HABITS else ()
    if token.text.isalpha():
        notes = ("names are made of the letters A to Z and a to z, digits and `_`",)
    meant = LOOKALIKES.get(token.text)
    if meant is not None:
        plain = "write a plain space" if meant else "remove it"
        title = f"write `{meant.strip()}`" if meant.strip() else plain
        return mended(problem, "P0004", title, (0, 1), meant, notes=notes, found=found(token))
    if token.text == "#":
        return _hash_comment(problem)
    if token.text == ";" and problem.around.let is not None and problem.around.let.in_value:
        return mended(
            problem, "P0004", "write `in`", (0, 1), " in", notes=notes, found=found(token)
        )
    return Finding(diagnose("P0004", problem.place(token), notes=notes, found=found(token)))


def _hash_comment(problem: Problem) -> Finding:
    """A file that has one such comment has more: they are one mistake and have one fix."""
    source = problem.source
    kept = list(problem.tokens[: problem.stop.index])
    edits: list[Edit] = []
    hidden_to = 0
    for token in problem.tokens[problem.stop.index :]:
        if token.span.start < hidden_to:
            continue
        if token.text != "#":
            kept.append(token)
            continue
        edits.append(Edit(problem.place(token), "//"))
        line, column = source.position(token.span.start)
        hidden_to = token.span.start + len(source.line(line)) - column + 1
    diagnostic = diagnose(
        "P0004",
        problem.place(problem.token),
        notes=(HABITS["#"],),
        fixes=(Fix("write `//`", tuple(edits)),),
        found=found(problem.token),
    )
    return Finding(diagnostic, tuple(kept), problem.stop.index - 1)


def _leading_dot(problem: Problem) -> Finding | None:
    """`.5`: a number without a digit in front."""
    token, digits = problem.token, problem.at(1)
    if token.type != "DOT" or digits.type != "INT" or not adjacent(token, digits):
        return None
    if adjacent(problem.before, token) and problem.before.type in ENDS_VALUE:
        return None
    text = f"0.{digits.text}"
    finding = mended(problem, "P0011", f"write `{text}`", (0, 2), text, number=f".{digits.text}")
    place = Place(problem.source, token.span.to(digits.span))
    return finding._replace(
        diagnostic=finding.diagnostic._replace(primary=Label(place, "a digit comes first"))
    )


def _foreign_comparison(problem: Problem) -> Finding | None:
    """`a <> b`, `a =< b`: a comparison in another language's spelling."""
    for start in (-1, 0):
        first, second = problem.at(start), problem.at(start + 1)
        written = first.text + second.text
        if written in _COMPARISONS and adjacent(first, second):
            meant = _COMPARISONS[written]
            return mended(
                problem,
                "P0013",
                f"write `{meant}`",
                (start, start + 2),
                meant,
                at=start,
                found=written,
                wanted=meant,
                part=problem.around.part,
            )
    return None


def arrow(problem: Problem) -> Finding | None:
    token = problem.token
    is_arrow = (
        token.type == "MINUS" and problem.at(1).type == "GT" and adjacent(token, problem.at(1))
    )
    if not is_arrow or "COLON" not in problem.stop.expected:
        return None
    return mended(
        problem,
        "P0001",
        "write `:`",
        (0, 2),
        ":",
        notes=(HABITS["->"],),
        found="`->`",
        part=problem.around.part,
    )


def _other_case(problem: Problem) -> Finding | None:
    """`tensor`, `Let`: a reserved word in another case."""
    token, words = problem.token, problem.grammar.words
    meant = next(
        (
            words[kind]
            for kind in sorted(problem.stop.expected & words.keys())
            if words[kind].isidentifier()
            and words[kind] != token.text
            and words[kind].casefold() == token.text.casefold()
        ),
        None,
    )
    if token.type not in NAMES or meant is None or problem.stop.declaration is None:
        return None
    return mended(
        problem,
        "P0001",
        f"write `{meant}`",
        (0, 1),
        meant,
        found=found(token),
        part=problem.around.part,
    )


def _joined_constraints(problem: Problem) -> Finding | None:
    """`where A >= 2 && A <= 5`."""
    token, around = problem.token, problem.around
    in_clause = around.part.startswith(("in the `where`", "in the `assume`"))
    if token.type != "AND" or not in_clause or around.opening is not None:
        return None
    return mended(
        problem,
        "P0001",
        "write `,`",
        (0, 1),
        ",",
        notes=("constraints are separated by commas",),
        found=found(token),
        part=around.part,
    )


def _range(problem: Problem) -> Finding | None:
    """`x[0:4]`."""
    around = problem.around
    in_bracket = around.opening is not None and around.opening.type == "LSQB"
    if problem.token.type != "COLON" or around.body is None or not in_bracket:
        return None
    return _noted(problem, "a part of an axis is `slice[axis=n, start=i, stop=j] x`")


def assignment(problem: Problem) -> Finding | None:
    """`y = exp x` as a step, and `axis=1` behind an operand."""
    token, before, body = problem.token, problem.before, problem.around.body
    if token.type != "EQUAL" or before.type not in NAMES or body is None:
        return None
    if adjacent(before, token) and adjacent(token, problem.at(1)):
        return _noted(problem, "an attribute stands in the bracket of its operation: `f[axis=1] x`")
    first = problem.stop.index - 1
    if problem.around.opening is not None or not (first == body or problem.at(-2).type == "IN"):
        return None
    at = Place(problem.source, Span(before.span.start, before.span.start))
    finding = _noted(problem, "a step of a body is written `let name = value in`")
    fixes = (Fix("insert `let`", (Edit(at, "let "),), machine=False),)
    return Finding(finding.diagnostic._replace(fixes=fixes))


def _noted(problem: Problem, note: str) -> Finding:
    """Unexpected text with a note that says what is written instead."""
    return Finding(
        diagnose(
            "P0001",
            problem.place(problem.token),
            label=expectation(problem.stop.expected, problem.grammar.words),
            notes=(note,),
            found=found(problem.token),
            part=problem.around.part,
        )
    )


FIRST: tuple[Callable[[Problem], Finding | None], ...] = (
    _strange_character,
    _leading_dot,
    _foreign_comparison,
    _other_case,
    _joined_constraints,
    _range,
)
