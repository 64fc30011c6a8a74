"""The formats of a ledger: each holds the same rows, and no text breaks out of its cell."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from p0trans.diagnostics.measure import columns
from p0trans.driver import check_sources
from p0trans.shapes.dim import constant, product, variable
from p0trans.source import Source
from p0trans.tools import (
    ledger_csv,
    ledger_html,
    ledger_json,
    ledger_markdown,
    ledger_text,
)
from p0trans.tools.ledger import Cost, Ledger, definition_costs, ledger
from p0trans.tools.ledger_cells import inputs_cell, ratio, ratio_text

B, D, S = map(variable, "BDS")
PROGRAM = """
/// Looks <b>up</b> & masks.
///
/// A | B
let inner [B, V, D] (t : Tensor[F16, [V, D]]) (i : Tensor[I64, [B]]) (m : Tensor[Bool, [B]])
    : (Tensor[F16, [B, D]], Tensor[Bool, [B]]) =
  (take[axis=0] t i, m || not m)

let outer [B, V, D] (t : Tensor[F16, [V, D]]) (i : Tensor[I64, [B]]) (m : Tensor[Bool, [B]])
    : Tensor[F16, [B, D]] =
  let (rows, kept) = inner[B, V, D] t i (m || m) in
  rows
"""
SIZES = {"B": 2, "V": 5, "D": 3}
NAMES = ("main.p0", "形形形/`x|y`\n<i>.p0")


def ledgers(name: str = "main.p0", sizes: dict[str, int] | None = None) -> list[Ledger]:
    program = check_sources([Source(name, PROGRAM)]).program
    return [
        ledger(program, definition, definition_costs(program), inline=True, sizes=sizes)
        for definition in program.units[-1].definitions
    ]


# --- cells ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flops", "moved", "text"),
    [
        (B * S, constant(12) * B * S, "1 / 12"),
        (constant(2) * B * D * S, B * D + B * S, "2*D*S / (D + S)"),
        (B * S + S, B * S, "(B + 1) / B"),
        (B * S, S, "B"),
        (constant(6), constant(4), "3 / 2"),
        (B, constant(4) * S, "B / (4*S)"),
        (B * (S // 2), S // 2, "B*(S / 2) / (S / 2)"),
        (constant(0), B, "0"),
        (constant(0), constant(0), "-"),
        (product([S, S, B]), product([S, D]), "B*S / D"),
    ],
)
def test_ratio(flops: Any, moved: Any, text: str) -> None:
    assert ratio_text(Cost(flops, moved)) == text


def test_ratio_as_a_number() -> None:
    assert ratio(Cost(B, constant(2) * B), {"B": 3}) == 0.5
    assert ratio(Cost(constant(0), constant(0)), {}) is None
    assert ratio(Cost(constant(2**4000), constant(1)), {}) is None


def test_inputs_show_the_dtypes_that_the_output_does_not_have() -> None:
    inner, _ = ledgers()
    shown = {row.name: inputs_cell(row) for row in inner.rows}
    assert shown["t_taken"] == "[V, D], I64[B]"
    assert shown["m_mask_2"] == "[B], [B]"
    assert shown["result"] == "F16[B, D], Bool[B]"


# --- text -------------------------------------------------------------------------------


def test_text_aligns_also_wide_and_combining_characters() -> None:
    _, outer = ledgers(sizes=SIZES)
    names = ("形形形", "e\u0301", "plain", "ｗｉｄｅ")
    rows = tuple(outer.rows[3]._replace(name=name) for name in names)
    lines = ledger_text.render([outer._replace(rows=rows)], True).splitlines()
    starts = {columns(line.partition("main.p0:")[0]) for line in lines if "main.p0:" in line}
    assert len(starts) == 1


def test_text_has_nothing_that_moves_the_cursor() -> None:
    text = ledger_text.render(ledgers("a\x1b[2J\n.p0"), True)
    assert "\x1b" not in text
    assert "a\\x1b[2J\\x0a.p0:7" in text
    assert not any(line.endswith(" ") for line in text.splitlines())


# --- Markdown ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_markdown_has_as_many_cells_in_every_line(name: str) -> None:
    text = ledger_markdown.render(ledgers(name, SIZES), True)
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} == {15}
    assert "| `m_mask_2` | `m \\|\\| m_mask` |" in text


# --- HTML -------------------------------------------------------------------------------


class Page(HTMLParser):
    """The tags that open and close in step, and the cells of each row."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.links: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag != "meta":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", NAMES)
def test_html_is_one_page_without_anything_from_the_program_as_markup(name: str) -> None:
    text = ledger_html.render(ledgers(name, SIZES), True)
    page = Page(text)
    assert page.open == []
    assert page.links == []
    assert not page.seen & {"b", "i", "script", "link", "img"}
    assert "Looks &lt;b&gt;up&lt;/b&gt; &amp; masks." in text
    assert {len(row) for row in page.rows} == {14}
    found = ledgers(name, SIZES)
    assert len(page.rows) == sum(len(each.rows) + 2 for each in found)


# --- CSV and JSON -----------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sizes", [None, SIZES])
def test_csv_and_json_hold_the_same(name: str, sizes: dict[str, int] | None) -> None:
    found = ledgers(name, sizes)
    records = list(csv.DictReader(io.StringIO(ledger_csv.render(found, False), newline="")))
    document = json.loads(ledger_json.render(found, False))
    assert [d["name"] for d in document["definitions"]] == ["inner", "outer"]
    rest = iter(records)
    for definition in document["definitions"]:
        assert definition["sizes"] == sizes
        total = {"role": "total", "cost": definition["total"]}
        for row in (*definition["rows"], total):
            record = next(rest)
            assert record["definition"] == definition["name"]
            for key in row.keys() - {"cost", "inputs", "output"}:
                assert record[key] == str(row[key])
            for key in ("flops", "bytes", "intensity"):
                assert record[key] == row["cost"][key]
                number = (row["cost"]["numbers"] or {}).get(key)
                assert record[f"{key}_number"] == ("" if number is None else str(number))
    assert next(rest, None) is None


def test_json_types_and_numbers() -> None:
    _, outer = json.loads(ledger_json.render(ledgers(sizes=SIZES), False))["definitions"]
    (call,) = (row for row in outer["rows"] if row["operation"] == "call")
    assert call["inputs"][0] == {"dtype": "F16", "shape": ["V", "D"], "sizes": [5, 3]}
    assert call["output"]["items"][1] == {"dtype": "Bool", "shape": ["B"], "sizes": [2]}
    assert call["cost"] == {
        "flops": "2*B",
        "bytes": "4*B*D + 13*B",
        "intensity": "2 / (4*D + 13)",
        "numbers": {"flops": 4, "bytes": 50, "intensity": 0.08},
    }


def test_the_page_lists_the_keys_of_the_document() -> None:
    text = (Path(__file__).parents[2] / "docs" / "ledger.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \| (\w+) \|", text, re.MULTILINE)
    listed = {(key, of) for keys, of in rows for key in re.findall(r"`(\w+)`", keys)}
    document = json.loads(ledger_json.render(ledgers(sizes=SIZES), False))
    assert listed == set(_keys(document, "document"))


_KINDS = {
    "definitions": "ledger",
    "rows": "row",
    "inputs": "type",
    "output": "type",
    "items": "type",
    "cost": "cost",
    "total": "cost",
}


def _keys(value: dict[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    for key, inner in value.items():
        yield key, kind
        for each in inner if isinstance(inner, list) else [inner]:
            if isinstance(each, dict) and key in _KINDS:
                yield from _keys(each, _KINDS[key])
