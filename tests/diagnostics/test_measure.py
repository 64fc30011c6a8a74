from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from p0trans.diagnostics.measure import columns, escaped, shown, wrapped


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("a\tb", "a\\x09b"),
        ("\x1b[0m", "\\x1b[0m"),
        ("é 形 ∀", "é 形 ∀"),
        ("\u200b\u2028", "\\u200b\\u2028"),
        ("\U000e0001", "\\U000e0001"),
        ("\udc80", "\\udc80"),
    ],
)
def test_escaped(text: str, expected: str) -> None:
    assert escaped(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("", 0), ("abc", 3), ("形状", 4), ("e\u0301", 1), ("é", 1)]
)
def test_columns(text: str, expected: int) -> None:
    assert columns(text) == expected


def test_wrapped_keeps_lines_indentation_and_long_words() -> None:
    assert wrapped("aa bb cc\n  dd ee ff gg\nabcdefghijk x", 6) == (
        "aa bb",
        "cc",
        "  dd ee ff gg",
        "abcdefghijk",
        "x",
    )


@given(
    line=st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=200),
    bounds=st.tuples(st.integers(0, 200), st.integers(0, 200)),
    room=st.integers(10, 60),
)
def test_shown_fits_and_columns_grow_with_indices(
    line: str, bounds: tuple[int, int], room: int
) -> None:
    start, end = sorted(min(bound, len(line)) for bound in bounds)
    view = shown(line, (start, end), room)
    assert columns(view.text) <= room
    assert view.text == escaped(view.text)
    starts = [view.column(index) for index in range(len(line) + 2)]
    assert starts == sorted(starts)
    assert starts[0] >= 0
    assert starts[-1] <= room
