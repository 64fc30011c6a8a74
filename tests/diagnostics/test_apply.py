from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from p0trans.diagnostics.apply import MAX_ROUNDS, apply_fixes, fix_until_stable
from p0trans.diagnostics.model import Diagnostic
from p0trans.source import Place, Source, Span
from tests.diagnostics.support import at, finding, fix

SOURCE = Source("a.p0", "one two three four")


def span(start: int, end: int, source: Source = SOURCE) -> Place:
    return Place(source, Span(start, end))


def applied(*edits: tuple[tuple[Place, str], ...]) -> tuple[str, int]:
    """What comes of one diagnostic for each group of edits."""
    found = [finding(group[0][0], fixes=(fix(*group),)) for group in edits]
    return apply_fixes(SOURCE, found)


def test_every_fix_is_applied_whatever_the_order() -> None:
    three, one = (at(SOURCE, "three"), "3"), (at(SOURCE, "one"), "1")
    assert applied((three,), (one,)) == ("1 two 3 four", 2)


def test_the_first_machine_applicable_fix_counts() -> None:
    place = at(SOURCE, "two")
    fixes = (
        fix((place, "maybe"), machine=False),
        fix((place, "2")),
        fix((place, "II")),
    )
    assert apply_fixes(SOURCE, [finding(place, fixes=fixes)]) == ("one 2 three four", 1)
    assert apply_fixes(SOURCE, [finding(place, fixes=fixes[:1])]) == (SOURCE.text, 0)
    assert apply_fixes(SOURCE, [finding(place)]) == (SOURCE.text, 0)


def test_overlapping_fixes_are_left_for_the_next_round() -> None:
    first, second = (span(0, 7), "A"), (span(4, 13), "B")
    assert applied((first,), (second,)) == ("A three four", 1)
    assert applied((second,), (first,)) == ("A three four", 1)
    assert applied((first,), ((span(2, 2), "!"),)) == ("A three four", 1)


def test_neighbouring_fixes_do_not_overlap() -> None:
    assert applied(((span(0, 3), "A"),), ((span(3, 7), "B"),)) == ("AB three four", 2)
    assert applied(((span(0, 3), "A"),), ((span(3, 3), "!"),)) == ("A! two three four", 2)
    assert applied(((span(0, 3), "A"),), ((span(0, 0), "!"),)) == ("!A two three four", 2)


def test_two_insertions_at_one_place_wait_for_each_other() -> None:
    assert applied(((span(4, 4), "a "),), ((span(4, 4), "b "),)) == ("one a two three four", 1)


def test_the_edits_of_a_fix_are_made_together_or_not_at_all() -> None:
    first = ((span(0, 3), "1"),)
    both = ((span(2, 5), "x"), (at(SOURCE, "four"), "4"))
    assert applied(first, both) == ("1 two three four", 1)
    wrap = ((span(8, 8), "("), (span(13, 13), ")"))
    assert applied(wrap, first) == ("1 two (three) four", 2)


def test_a_fix_whose_own_edits_overlap_is_not_applied() -> None:
    assert applied(((span(0, 3), "1"), (span(2, 5), "2"))) == (SOURCE.text, 0)


def test_an_edit_that_two_fixes_share_is_made_once() -> None:
    shared = (span(0, 0), "zero ")
    assert applied((shared, (at(SOURCE, "two"), "2")), (shared, (at(SOURCE, "four"), "4"))) == (
        "zero one 2 three 4",
        2,
    )
    assert applied((shared,), (shared,)) == ("zero one two three four", 2)


def test_a_fix_that_edits_another_source_is_left_alone() -> None:
    other = Source("b.p0", SOURCE.text)
    elsewhere = (at(other, "one"), "1")
    assert applied((elsewhere,)) == (SOURCE.text, 0)
    assert applied(((at(SOURCE, "two"), "2"), elsewhere)) == (SOURCE.text, 0)


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(SOURCE.text)), st.integers(0, 5), st.sampled_from(["", "X", "YZ"])
        ),
        max_size=8,
    )
)
def test_applied_edits_never_disturb_each_other(edits: list[tuple[int, int, str]]) -> None:
    clipped = [(start, min(start + length, len(SOURCE.text)), new) for start, length, new in edits]
    text, count = applied(*(((span(start, end), new),) for start, end, new in clipped))
    # Taking whole fixes in source order as long as they fit is what a reader would do by hand.
    made: list[tuple[int, int, str]] = []
    for start, end, new in sorted(set(clipped)):
        if all(last <= start and (first, last) != (start, end) for first, last, _ in made):
            made.append((start, end, new))
    expected = SOURCE.text
    for start, end, new in reversed(made):
        expected = expected[:start] + new + expected[end:]
    assert text == expected
    assert count == sum(edit in made for edit in clipped)


def _shorten(source: Source) -> Sequence[Diagnostic]:
    """A finding for every `aa`, overlapping ones included, with the fix `a`."""
    places = (index for index in range(len(source.text)) if source.text.startswith("aa", index))
    found = [Place(source, Span(index, index + 2)) for index in places]
    return [finding(place, fixes=(fix((place, "a")),)) for place in found]


def test_rounds_go_on_until_nothing_is_left() -> None:
    source = Source("a.p0", "aaaaaaaa b aaa", bom=True)
    fixed, count = fix_until_stable(source, _shorten)
    assert fixed.text == "a b a"
    assert count == 9
    assert (fixed.name, fixed.bom) == ("a.p0", True)


def test_fixes_that_undo_each_other_come_to_an_end() -> None:
    def check(source: Source) -> Sequence[Diagnostic]:
        place = Place(source, Span(0, 1))
        return [finding(place, fixes=(fix((place, "y" if source.text == "x" else "x")),))]

    assert fix_until_stable(Source("a.p0", "x"), check)[0].text in ("x", "y")


def test_fixes_without_end_are_stopped() -> None:
    def check(source: Source) -> Sequence[Diagnostic]:
        place = Place(source, Span(0, 0))
        return [finding(place, fixes=(fix((place, "x")),))]

    assert fix_until_stable(Source("a.p0", ""), check)[0].text == "x" * MAX_ROUNDS
