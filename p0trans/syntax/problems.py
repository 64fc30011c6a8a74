"""What is wrong where a run stopped, and how it might be mended.

Each rule looks at one kind of mistake and passes on the rest; the first that knows the
mistake words it. A finding may carry the tokens of the mended text: the parser goes on with
them, so that one slip does not hide the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from p0trans.diagnostics.codes import diagnose
from p0trans.diagnostics.model import Diagnostic, Edit, Fix, Label
from p0trans.source import Place, Source, Span
from p0trans.syntax import foreign
from p0trans.syntax.finding import Finding, Problem, adjacent, mended
from p0trans.syntax.layout import MissingIn
from p0trans.syntax.surroundings import (
    CLOSER,
    ENDS_VALUE,
    LITERALS,
    NAMES,
    RELATIONS,
    STARTS_VALUE,
    label_after,
)
from p0trans.syntax.tokens import END, MALFORMED, UNREPRESENTABLE, Token
from p0trans.syntax.wording import HABITS, expectation, found

_OPENER = {closer: opener for opener, closer in CLOSER.items()}

_AFTER_NAME = frozenset({"EQUAL", "COLON", "COMMA", "RSQB", "RPAR", "LSQB", "LPAR", "DOT"})

_OUTSIDE_BRACKETS = frozenset({END, "IN", "WHERE", "ASSUME", "EQUAL", "LET", "MODULE", "FROM"})

_DECLARATION_WORDS = ("let", "module", "from")

_MULTIPLE = re.compile(r"([0-9]+)([A-Za-z_][A-Za-z0-9_]*)")


def explain(problem: Problem) -> Finding:
    """The finding for the place where a run stopped."""
    for rule in _RULES:
        finding = rule(problem)
        if finding is not None:
            return finding
    return _unexpected(problem)


def explain_missing_in(source: Source, tokens: tuple[Token, ...], missing: MissingIn) -> Diagnostic:
    """The finding for an `in` that the layout says is missing."""
    last, let = tokens[missing.index - 1], tokens[missing.let]
    after = Place(source, Span(last.span.end, last.span.end))
    return diagnose(
        "P0003",
        Place(source, last.span),
        label="`in` is missing after this",
        secondary=(Label(Place(source, let.span), "the `let` that it belongs to"),),
        fixes=(Fix("insert `in`", (Edit(after, " in"),)),),
        name=_quoted(label_after(tokens, missing.let)),
    )


def _quoted(name: str) -> str:
    return f"`{name}`" if name else "a tuple"


# --- the rules, in the order in which they are asked ----------------------------------------


def _malformed_number(problem: Problem) -> Finding | None:
    token, around = problem.token, problem.around
    if token.type != MALFORMED:
        return None
    multiple = _MULTIPLE.fullmatch(token.text)
    opening = around.opening.type if around.opening else ""
    if multiple and (opening == "LSQB" or "`where`" in around.part or "`assume`" in around.part):
        text = f"{multiple[1]} * {multiple[2]}"
        return mended(problem, "P0011", f"write `{text}`", (0, 1), text, number=token.text)
    note = "numbers are written like `1`, `1.0` or `1e-6`"
    return Finding(diagnose("P0011", problem.place(token), notes=(note,), number=token.text[:40]))


def _unrepresentable_number(problem: Problem) -> Finding | None:
    token = problem.token
    if token.type != UNREPRESENTABLE:
        return None
    too_long = token.text.isdigit()
    what = "has too many digits" if too_long else "is beyond the range of any float"
    notes = () if too_long else ("infinity is written `inf`",)
    return Finding(diagnose("P0006", problem.place(token), notes=notes, what=what))


def _no_with(problem: Problem) -> Finding | None:
    """A module whose items follow at once."""
    kinds = ("PARAM", "BUFFER", "CONST", "SUB")
    if problem.token.type not in kinds or "WITH" not in problem.stop.expected:
        return None
    return mended(
        problem,
        "P0001",
        "insert `with`",
        (0, 0),
        " with",
        label="expected `with` before this",
        found=found(problem.token),
        part=problem.around.part,
    )


def _no_equals(problem: Problem) -> Finding | None:
    """A header that runs into the body."""
    token, around = problem.token, problem.around
    in_header = around.kind == "LET" and around.body is None and around.opening is None
    starts = token.type in STARTS_VALUE | {"COLON"}
    if not in_header or not starts or "EQUAL" not in problem.stop.expected:
        return None
    if token.type == "COLON":
        return mended(
            problem,
            "P0013",
            "write `=`",
            (0, 1),
            "=",
            found=":",
            wanted="=",
            part=around.part,
        )
    return mended(
        problem,
        "P0001",
        "insert `=`",
        (0, 0),
        " =",
        label="expected `=` before this",
        found=found(token),
        part=around.part,
    )


def _wrong_state(problem: Problem) -> Finding | None:
    """`param w = 1.0`, `const eps = ones`: an item of a module with the other kind of value."""
    token, item = problem.token, problem.at(-3).type if problem.stop.index >= 3 else ""
    if problem.around.kind != "MODULE" or problem.before.type != "EQUAL":
        return None
    if item in ("PARAM", "BUFFER") and token.type in LITERALS:
        text = f"full({token.text})"
        note = "a param or a buffer has an initializer: `ones`, `zeros`, `full(v)`, …"
        return mended(
            problem,
            "P0001",
            f"write `{text}`",
            (0, 1),
            text,
            notes=(note,),
            found=found(token),
            part=problem.around.part,
        )
    if item == "CONST" and token.type in NAMES:
        label = expectation(problem.stop.expected, problem.grammar.words)
        note = "the default of a `const` is a literal"
        return Finding(
            diagnose(
                "P0001",
                problem.place(token),
                label=label,
                notes=(note,),
                found=found(token),
                part=problem.around.part,
            )
        )
    return None


def _chained_comparison(problem: Problem) -> Finding | None:
    token = problem.token
    if token.type not in RELATIONS or token.type in problem.stop.expected:
        return None
    first = _comparison_before(problem)
    if first is None:
        return None
    in_header = problem.around.body is None
    middle = problem.source.text[first.span.end : problem.before.span.end].strip()
    joint = "," if in_header else "&&"
    at = Place(problem.source, Span(problem.before.span.end, problem.before.span.end))
    written = f"{joint} {middle}" if in_header else f" {joint} {middle}"
    fix = Fix("write it as two comparisons", (Edit(at, written),), machine=False)
    return Finding(
        diagnose(
            "P0007",
            problem.place(token),
            secondary=(Label(problem.place(first), "the first comparison"),),
            fixes=(fix,) if "\n" not in middle else (),
            joint=joint,
        )
    )


def _comparison_before(problem: Problem) -> Token | None:
    """The comparison whose right-hand side the token at hand follows."""
    depth = 0
    for index in range(problem.stop.index - 1, -1, -1):
        token = problem.tokens[index]
        if token.type in _OPENER:
            depth += 1
        elif token.type in CLOSER:
            depth -= 1
            if depth < 0:
                return None
        elif depth == 0:
            if token.type in RELATIONS:
                return token
            if token.type in ("LET", "IN", "EQUAL", "COMMA", "AND", "OR", "WHERE", "ASSUME"):
                return None
    return None


def _no_result_type(problem: Problem) -> Finding | None:
    around = problem.around
    in_header = around.kind == "LET" and around.body is None and around.opening is None
    if problem.token.type != "EQUAL" or not in_header or "COLON" not in problem.stop.expected:
        return None
    return Finding(
        diagnose(
            "P0010",
            problem.place(problem.token),
            label="expected `:` and a type before this",
            name=_quoted(around.name),
        )
    )


def _wrong_equals(problem: Problem) -> Finding | None:
    token = problem.token
    wanted = {"EQ": "EQUAL", "EQUAL": "EQ"}.get(token.type)
    if wanted is None or wanted not in problem.stop.expected:
        return None
    text = problem.grammar.words[wanted]
    return mended(
        problem,
        "P0013",
        f"write `{text}`",
        (0, 1),
        text,
        found=token.text,
        wanted=text,
        part=problem.around.part,
    )


def _clause_without_comparison(problem: Problem) -> Finding | None:
    """`where S = body`: the equals sign is the definition's own."""
    if problem.token.type != "EQUAL" or "EQ" not in problem.stop.expected:
        return None
    if problem.around.body is not None:
        return None
    for token in problem.tokens[problem.stop.index + 1 :]:
        if token.type == "EQUAL":
            return None
        if token.type == "LET":
            break
    return _unexpected(problem)


def _parameter_without_type(problem: Problem) -> Finding | None:
    token, around = problem.token, problem.around
    if around.kind != "LET" or around.body is not None or "COLON" not in problem.stop.expected:
        return None
    if around.opening is not None and around.opening.type == "LPAR":
        bare = problem.before if token.type in ("RPAR", "COMMA") else None
    else:
        bare = token if token.type in NAMES and around.name != "rec" else None
    if bare is None:
        return None
    return Finding(
        diagnose("P0012", problem.place(bare), label="its type is missing", name=bare.text)
    )


def _reserved_word(problem: Problem) -> Finding | None:
    token, expected = problem.token, problem.stop.expected
    words = problem.grammar.words
    reserved = sorted(w for t, w in words.items() if w.isidentifier() and t not in NAMES)
    wants_name = "NAME" in expected and "INT" not in expected
    if token.text not in reserved or not wants_name or problem.at(1).type not in _AFTER_NAME:
        return None
    listed = ", ".join(f"`{word}`" for word in reserved)
    return Finding(diagnose("P0008", problem.place(token), word=token.text, reserved=listed))


def _brackets(problem: Problem) -> Finding | None:
    token, opening = problem.token, problem.around.opening
    if token.type in _OPENER and (opening is None or opening.type != _OPENER[token.type]):
        if opening is None:
            return Finding(
                diagnose("P0005", problem.place(token), found=found(token), what="closes nothing")
            )
        return _wrong_closer(problem, opening)
    if opening is None or token.type not in _OUTSIDE_BRACKETS:
        return None
    wanted = CLOSER[opening.type]
    if token.type != END and wanted not in problem.stop.expected:
        return None
    label = f"expected `{problem.grammar.words[wanted]}` before this"
    return Finding(
        diagnose(
            "P0005",
            problem.place(opening),
            label="opened here",
            secondary=(Label(problem.place(token), label),),
            notes=_comment_note(problem),
            found=found(opening),
            what="is not closed",
        )
    )


def _wrong_closer(problem: Problem, opening: Token) -> Finding:
    token, words = problem.token, problem.grammar.words
    secondary = (Label(problem.place(opening), "opened here"),)
    what = f"does not close `{opening.text}`"
    kinds = [bracket.type for bracket in reversed(problem.around.openings)]
    if CLOSER[opening.type] in problem.stop.expected and _OPENER[token.type] in kinds:
        inner = kinds[: kinds.index(_OPENER[token.type])]
        text = "".join(words[CLOSER[kind]] for kind in inner)
        return mended(
            problem,
            "P0005",
            f"insert `{text}`",
            (0, 0),
            text,
            label=f"expected `{text}` before this",
            secondary=secondary,
            found=found(token),
            what=what,
        )
    label = expectation(problem.stop.expected, words)
    place = problem.place(token)
    return Finding(
        diagnose("P0005", place, label=label, secondary=secondary, found=found(token), what=what)
    )


def _no_result(problem: Problem) -> Finding | None:
    if problem.before.type != "IN" or problem.token.type in STARTS_VALUE | {"MINUS"}:
        return None
    depth = 0
    name = ""
    for index in range(problem.stop.index - 1, -1, -1):
        kind = problem.tokens[index].type
        depth += (kind == "IN") - (kind == "LET")
        if depth == 0:
            name = label_after(problem.tokens, index)
            break
    return Finding(
        diagnose(
            "P0009",
            problem.place(problem.before),
            label="the result is missing after this",
            name=f"`let {name}`" if name else "this `let`",
        )
    )


def _no_in(problem: Problem) -> Finding | None:
    let = problem.around.let
    if problem.token.type != END or let is None or "IN" not in problem.stop.expected:
        return None
    return Finding(
        diagnose(
            "P0003",
            problem.place(problem.before),
            label="expected `in` and a result after this",
            secondary=(Label(problem.place(let.let), "the `let` that it belongs to"),),
            name=_quoted(let.label),
        )
    )


def _commas(problem: Problem) -> Finding | None:
    token, before, around = problem.token, problem.before, problem.around
    opening = around.opening
    if before.type == "COMMA" and token.type in (*_OPENER, "COMMA"):
        return mended(
            problem,
            "P0014",
            "remove the comma",
            (-1, 0),
            "",
            at=-1,
            what="a comma too many",
            part=around.part,
        )
    if opening is None or opening.type != "LSQB":
        if token.type != "COMMA":
            return None
        if around.part.startswith("in the parameters of"):
            return mended(
                problem,
                "P0014",
                "write `) (`",
                (0, 1),
                ") (",
                notes=("each parameter stands in parentheses of its own",),
                what="there is no place for a comma",
                part=around.part,
            )
        what = "there is no place for a comma"
        return Finding(diagnose("P0014", problem.place(token), what=what, part=around.part))
    starts_item = token.type in NAMES | {"INT", "LSQB"} and before.type in ENDS_VALUE
    if not starts_item or "COMMA" not in problem.stop.expected:
        return None
    return mended(
        problem, "P0014", "insert a comma", (0, 0), ",", what="a comma is missing", part=around.part
    )


def _outside(problem: Problem) -> Finding | None:
    if problem.stop.declaration is not None:
        return None
    from difflib import get_close_matches

    token = problem.token
    notes = (HABITS[token.text],) if token.text in HABITS else ()
    near = get_close_matches(token.text, _DECLARATION_WORDS, 1) if not notes else []
    if near:
        return mended(problem, "P0015", f"write `{near[0]}`", (0, 1), near[0], found=found(token))
    return Finding(diagnose("P0015", problem.place(token), notes=notes, found=found(token)))


def _unexpected(problem: Problem) -> Finding:
    token, around = problem.token, problem.around
    return Finding(
        diagnose(
            "P0001",
            problem.place(token),
            label=expectation(problem.stop.expected, problem.grammar.words),
            notes=(*_habit_notes(problem), *_comment_note(problem)),
            found=found(token),
            part=around.part,
        )
    )


def _habit_notes(problem: Problem) -> tuple[str, ...]:
    token, before = problem.token, problem.before
    if token.type == "STAR" and before.type == "STAR" and adjacent(before, token):
        return (HABITS["**"],)
    if token.type in NAMES and problem.around.name == "rec":
        return (HABITS["rec"],)
    if token.type == "WHERE" and problem.around.part.startswith("in the `assume`"):
        return ("`where` stands before `assume`",)
    words: Mapping[str, str] = problem.grammar.words
    if token.type not in NAMES and words.get(token.type, "").isidentifier():
        return (f"`{token.text}` is a reserved word",)
    return (HABITS[token.text],) if token.text in HABITS else ()


def _comment_note(problem: Problem) -> tuple[str, ...]:
    """Floor division in Python's spelling is a comment, and hides the rest of its line."""
    source, last = problem.source, problem.before.span.end
    line, column = source.position(last)
    hidden = source.line(line)[column - 1 :].lstrip().startswith("//")
    if not hidden or problem.around.opening is None:
        return ()
    return ("`//` starts a comment; a dim is divided, rounding down, with `/`",)


_RULES: tuple[Callable[[Problem], Finding | None], ...] = (
    _malformed_number,
    _unrepresentable_number,
    *foreign.FIRST,
    _chained_comparison,
    foreign.arrow,
    _no_result_type,
    foreign.assignment,
    _clause_without_comparison,
    _wrong_equals,
    _no_equals,
    _no_with,
    _wrong_state,
    _parameter_without_type,
    _outside,
    _reserved_word,
    _brackets,
    _no_result,
    _no_in,
    _commas,
)
