from __future__ import annotations

from collections.abc import Mapping

from p0trans.shapes.bounds import Interval
from p0trans.shapes.relation import relation_of
from p0trans.shapes.search import find_values
from tests.shapes.support import constraints


def test_values_come_by_ascending_sum_and_the_last_name_grows_first() -> None:
    tried: list[tuple[int, ...]] = []

    def note(values: Mapping[str, int]) -> bool:
        tried.append(tuple(values.values()))
        return False

    assert find_values(("A", "B"), {}, (), note, budget=23) is None
    assert tried == [(1, 1), (1, 2), (2, 1), (1, 3), (2, 2), (3, 1)]


def test_the_search_begins_at_the_lower_bounds() -> None:
    bounds = {"A": Interval(50, None)}
    assert find_values(("A", "B"), bounds, (), lambda _: True, 10) == {"A": 50, "B": 1}


def test_found_values_satisfy_the_relations() -> None:
    relations = [relation_of(fact) for fact in constraints("A*B == 12, A > B")]
    assert find_values(("A", "B"), {}, relations, lambda _: True, 10_000) == {"A": 4, "B": 3}


def test_no_names() -> None:
    assert find_values((), {}, (), lambda _: True, 100) == {}
    assert find_values((), {}, (), lambda _: False, 100) is None
