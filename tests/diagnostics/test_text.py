from __future__ import annotations

import re
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p0trans.diagnostics.measure import columns
from p0trans.diagnostics.model import Label, Severity
from p0trans.diagnostics.text import render, render_diagnostic, summary
from p0trans.source import Place, Source, Span
from tests.diagnostics.support import at, finding, fix

ADD = Source("add.p0", "let add (x : X) (y : Y) : X =\n  x + y\n")


def expect(rendered: str, expected: str) -> None:
    assert rendered == dedent(expected).lstrip("\n")


def excerpt(text: str, *spans: tuple[int, int], width: int = 100) -> list[str]:
    """The rows below the file's name, for a primary place and secondary ones."""
    source = Source("a.p0", text)
    primary, *others = (Place(source, Span(*span)) for span in spans)
    labels = (Label(place, f"label {number}") for number, place in enumerate(others))
    return render_diagnostic(finding(primary, *labels, label="here"), width=width).split("\n")[3:-1]


def test_message_place_underline_and_label() -> None:
    expect(
        render_diagnostic(finding(at(ADD, "x + y"), label="the shapes differ")),
        """
        error[P0401]: shapes differ
         --> add.p0:2:3
          |
        2 |   x + y
          |   ^^^^^ the shapes differ
        """,
    )


def test_notes_fixes_and_other_files() -> None:
    other = Source("lib/norm.p0", "\n\nlet f = y\n")
    expect(
        render_diagnostic(
            finding(
                at(ADD, "y", 1),
                Label(at(other, "f"), "used here"),
                label="[B, 1]",
                notes=("nothing is broadcast for you",),
                fixes=(
                    fix((at(ADD, "y", 1), "broadcast y [B]"), title="broadcast it"),
                    fix((at(ADD, "+"), "-"), (at(other, "f"), "g"), title="change both"),
                ),
            )
        ),
        """
        error[P0401]: shapes differ
         --> add.p0:2:7
          |
        2 |   x + y
          |       ^ [B, 1]
         ::: lib/norm.p0:3:5
          |
        3 | let f = y
          |     - used here
          |
          = note: nothing is broadcast for you
          = help: broadcast it
          |
        2 +   x + broadcast y [B]
          |
          = help: change both
          |
        2 -   x + y
        2 +   x - y
         ::: lib/norm.p0
          |
        3 - let f = y
        3 + let g = y
        """,
    )


def test_labels_side_by_side_hang_below_the_last() -> None:
    text = "let add (x : X) (y : Y) (z : Z)"
    source = Source("a.p0", text)
    secondary = (Label(at(source, "y : Y"), "second"), Label(at(source, "x : X"), "first"))
    expect(
        render_diagnostic(finding(at(source, "z : Z"), *secondary, label="third")),
        """
        error[P0401]: shapes differ
         --> a.p0:1:26
          |
        1 | let add (x : X) (y : Y) (z : Z)
          |          -----   -----   ^^^^^ third
          |          |       |
          |          |       second
          |          first
        """,
    )


def test_overlapping_places_get_rows_of_their_own() -> None:
    operands = (Label(at(ADD, "x", 1), "[B, S]"), Label(at(ADD, "y", 1), "[S]"))
    expect(
        render_diagnostic(finding(at(ADD, "x + y"), *operands, label="the shapes differ")),
        """
        error[P0401]: shapes differ
         --> add.p0:2:3
          |
        2 |   x + y
          |   ^^^^^ the shapes differ
          |   -   - [S]
          |   |
          |   [B, S]
        """,
    )


def test_places_of_several_lines() -> None:
    source = Source("a.p0", "let f =\n  let a = g (x\n    + y) in\n  (a\n    * z)\n")
    inner = Label(at(source, "(x\n    + y)"), "this part")
    expect(
        render_diagnostic(
            finding(at(source, "let a = g (x\n    + y) in\n  (a\n    * z)"), inner, label="all")
        ),
        """
        error[P0401]: shapes differ
         --> a.p0:2:3
          |
        2 | /    let a = g (x
          | | _____________-
        3 | ||     + y) in
          | ||________- this part
        4 | |    (a
        5 | |      * z)
          | |_________^ all
        """,
    )


def test_long_places_are_cut_in_the_middle() -> None:
    source = Source("a.p0", "".join(f"line {number}\n" for number in range(1, 13)))
    whole = Place(source, Span(0, len(source.text)))
    expect(
        render_diagnostic(finding(whole, Label(at(source, "line 4"), "four"), label="all")),
        """
        error[P0401]: shapes differ
          --> a.p0:1:1
           |
         1 | / line 1
        ...  |
         4 | | line 4
           | | ------ four
        ...  |
        12 | | line 12
           | |_______^ all
        """,
    )


def test_a_gap_of_one_line_is_shown_and_a_longer_one_is_not() -> None:
    text = "aaa\nbbb\nccc\nddd\neee\nfff\n"
    assert excerpt(text, (0, 3), (8, 11), (20, 23)) == [
        "1 | aaa",
        "  | ^^^ here",
        "2 | bbb",
        "3 | ccc",
        "  | --- label 0",
        "...",
        "6 | fff",
        "  | --- label 1",
    ]


def test_an_empty_place_is_one_column_wide() -> None:
    assert excerpt("ab", (1, 1)) == ["1 | ab", "  |  ^ here"]
    assert excerpt("ab", (2, 2)) == ["1 | ab", "  |   ^ here"]
    assert excerpt("ab\n", (3, 3)) == ["2 |", "  | ^ here"]


def test_tabs_are_expanded_and_underlines_follow() -> None:
    assert excerpt("\ta\tbc", (3, 5)) == ["1 |     a   bc", "  |         ^^ here"]
    assert excerpt("ab\tc", (2, 3)) == ["1 | ab  c", "  |   ^^ here"]


def test_wide_and_combining_characters_are_measured() -> None:
    assert excerpt("形状 = x", (5, 6)) == ["1 | 形状 = x", "  |        ^ here"]
    assert excerpt("形状 = x", (0, 2)) == ["1 | 形状 = x", "  | ^^^^ here"]
    assert excerpt("e\u0301 = x", (5, 6)) == ["1 | e\u0301 = x", "  |     ^ here"]


def test_lines_that_end_in_carriage_returns() -> None:
    assert excerpt("ab\r\ncd\r\n", (4, 6)) == ["2 | cd", "  | ^^ here"]
    assert excerpt("ab\rcd", (3, 5)) == ["2 | cd", "  | ^^ here"]


@pytest.mark.parametrize(
    ("character", "shown"),
    [("\x1b", "\\x1b"), ("\0", "\\x00"), ("\x9b", "\\x9b"), ("\u202e", "\\u202e")],
)
def test_a_source_cannot_send_control_characters(character: str, shown: str) -> None:
    source = Source(f"{character}[2J.p0", f"x {character}[31m y")
    rendered = render(
        [
            finding(
                at(source, "y"),
                Label(at(source, "x"), f"label {character}"),
                label=f"at {character}",
                message=f"message {character}",
                notes=(f"note {character}",),
                fixes=(fix((at(source, "y"), f"z {character}"), title=f"fix {character}"),),
            )
        ]
    )
    assert character not in rendered
    assert rendered.count(shown) == 10
    assert f"1 | x {shown}[31m y\n  | -{' ' * (len(shown) + 6)}^ at {shown}" in rendered


@pytest.mark.parametrize("width", [40, 60, 100])
def test_long_lines_are_cut_around_the_place(width: int) -> None:
    text = f"{'a' * 200} target {'b' * 200}"
    line, underline = excerpt(text, (201, 207), width=width)
    assert columns(line) <= width
    assert line[4] == line[-1] == "…"
    column = underline.index("^")
    assert line[column : column + 6] == "target"
    assert underline[column:] == "^^^^^^ here"


def test_a_line_of_a_million_characters_is_cut() -> None:
    text = f"{'a' * 500_000} target {'b' * 500_000}"
    line, underline = excerpt(text, (500_001, 500_007))
    assert columns(line) <= 100
    assert line[underline.index("^") :].startswith("target")


def test_a_place_wider_than_the_terminal_fills_it() -> None:
    line, underline = excerpt("x" * 300, (50, 250), width=60)[:2]
    assert columns(line) <= 60
    assert set(underline[4:].split(" ")[0]) == {"^"}
    assert columns(underline.removesuffix(" here")) <= 60


def test_wide_characters_are_not_split_by_a_cut() -> None:
    line, underline = excerpt("形" * 100 + "x" + "状" * 100, (100, 101), width=41)
    assert columns(line) <= 41
    before = line[: line.index("x")]
    assert underline.index("^") == columns(before)


def test_text_is_wrapped_to_the_width() -> None:
    words = " ".join(["word"] * 40)
    rendered = render_diagnostic(
        finding(at(ADD, "x", 1), label=words, message=words, notes=(words,)), width=60
    )
    lines = rendered.split("\n")
    assert max(map(columns, lines)) <= 60
    assert rendered.count("word") == 120
    assert "  = note: word word" in rendered
    assert "\n          word word" in rendered


def test_a_note_keeps_its_lines_and_their_indentation() -> None:
    rendered = render_diagnostic(finding(at(ADD, "x", 1), notes=("write\n  a + b\nhere",)))
    assert "  = note: write\n            a + b\n          here\n" in rendered


def test_inserted_and_deleted_lines() -> None:
    source = Source("a.p0", "one\ntwo\nthree\n")
    insert = fix((Place(source, Span(4, 4)), "new\n"), title="insert")
    delete = fix((Place(source, Span(4, 8)), ""), title="delete")
    both = fix((at(source, "one"), "1"), (at(source, "three"), "3"), title="far apart")
    rendered = render_diagnostic(finding(at(source, "two"), fixes=(insert, delete, both)))
    assert rendered.split("\n")[5:-1] == [
        "  |",
        "  = help: insert",
        "  |",
        "2 + new",
        "  |",
        "  = help: delete",
        "  |",
        "2 - two",
        "  |",
        "  = help: far apart",
        "  |",
        "1 - one",
        "1 + 1",
        "...",
        "3 - three",
        "3 + 3",
    ]


def test_a_long_insertion_is_cut_short() -> None:
    insertion = "".join(f"line {number}\n" for number in range(50))
    long = fix((Place(ADD, Span(0, 0)), insertion))
    rendered = render_diagnostic(finding(at(ADD, "x", 1), fixes=(long,)))
    assert " 8 + line 7\n...\n" in rendered
    assert "line 8" not in rendered


def test_a_file_without_text_is_named_alone() -> None:
    empty = Place(Source("missing.p0", ""), Span(0, 0))
    expect(
        render_diagnostic(finding(empty, message="`missing.p0` does not exist")),
        """
        error[P0401]: `missing.p0` does not exist
         --> missing.p0
        """,
    )


def test_a_report_ends_with_where_to_read_more_and_the_summary() -> None:
    error = finding(at(ADD, "x", 1))
    warning = finding(at(ADD, "y", 1), severity=Severity.WARNING, code="P1101")
    tail = "\n`p0trans explain P0401` says more (also P1101).\n2 errors, 1 warning in 1 file\n"
    assert render([error, error, warning]).endswith(tail)
    assert render([]) == ""


def test_summary_counts_severities_and_files() -> None:
    other = Source("b.p0", "x")
    note = finding(at(other, "x"), severity=Severity.NOTE)
    assert summary([finding(at(ADD, "x")), note]) == "1 error, 1 note in 2 files"


def test_colour_only_adds_escape_sequences() -> None:
    diagnostics = [
        finding(
            at(ADD, "x + y"),
            Label(at(ADD, "x : X"), "x"),
            label="here",
            notes=("note",),
            fixes=(fix((at(ADD, "+"), "-")),),
            severity=severity,
        )
        for severity in Severity
    ]
    colored = render(diagnostics, color=True)
    assert re.sub("\x1b\\[[0-9;]*m", "", colored) == render(diagnostics)
    for severity, number in ((Severity.ERROR, 31), (Severity.WARNING, 33), (Severity.NOTE, 36)):
        assert f"\x1b[1;{number}m{severity}[P0401]" in colored
        assert f"\x1b[1;{number}m^^^^^\x1b[0m" in colored


@given(
    text=st.text(st.sampled_from("ab \t\n\r形\u0301\x1b"), max_size=80),
    ends=st.lists(st.tuples(st.integers(0, 80), st.integers(0, 80)), min_size=1, max_size=5),
    width=st.sampled_from([10, 40, 100]),
)
def test_any_places_of_any_text_can_be_shown(
    text: str, ends: list[tuple[int, int]], width: int
) -> None:
    source = Source("a.p0", text)
    spans = [Span(*sorted(min(end, len(text)) for end in pair)) for pair in ends]
    primary, *others = (Place(source, span) for span in spans)
    secondary = (Label(place, f"label {number}") for number, place in enumerate(others))
    fixes = (fix((primary, "new\nlines")), fix((primary, "")))
    rendered = render_diagnostic(
        finding(primary, *secondary, label="here", fixes=fixes), width=width
    )
    assert rendered.isprintable() or not set(rendered) & set("\t\r\x1b")
    if text:
        assert rendered.count("here\n") == 1
        assert all(rendered.count(f"label {number}\n") == 1 for number in range(len(others)))
