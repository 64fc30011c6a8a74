"""The review page as a document: its lines, what links them, and what is said of them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

import pytest

from p0trans import driver
from p0trans.driver import Built
from p0trans.emit.options import Options
from p0trans.files import read_source
from p0trans.source import Source
from p0trans.tools.review import render

ROOT = Path(__file__).parent.parent.parent
BLOCK = ROOT / "p0trans" / "std" / "block.p0"
LINEAR = BLOCK.with_name("linear.p0")
ATTENTION = ROOT / "examples" / "casebook" / "attention.p0"
GOOD = """/// Twice the input.
let twice [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =
  x + x
"""
HOSTILE = GOOD.replace(
    "/// Twice", "// </script><script>alert(1)</script>\n/// <b>\"&amp;' \x1b[31m \u202e"
)

_VOID = {"meta", "path", "rect"}


class Element(NamedTuple):
    tag: str
    attributes: dict[str, str]
    text: list[str]

    @property
    def marks(self) -> set[str]:
        return set(self.attributes.get("data-a", "").split())


class _Reader(HTMLParser):
    """All elements with their own text and that of what is in them; fails on wrong nesting."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[Element] = []
        self.elements: list[Element] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs}, [])
        self.elements.append(element)
        if tag not in _VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}, []))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text.append(data)


class Shown:
    """A page that was read."""

    def __init__(self, html: str) -> None:
        reader = _Reader()
        reader.feed(html)
        assert not reader.open
        self.html = html
        self.elements = reader.elements

    def with_class(self, name: str) -> list[Element]:
        return [e for e in self.elements if name in e.attributes.get("class", "").split()]

    def line(self, prefix: str, text: str) -> Element:
        """The line of the column whose ids begin so that has this text."""
        (line,) = (
            e
            for e in self.with_class("line")
            if e.attributes["id"].startswith(prefix) and text in "".join(e.text)
        )
        return line

    def reason(self, mark: str) -> str:
        (found,) = (e for e in self.elements if e.attributes.get("data-why") == mark)
        return " ".join(" ".join(found.text).split())


def built(text: str | Path, **options: object) -> Built:
    source = read_source(text) if isinstance(text, Path) else Source("main.p0", text)
    assert isinstance(source, Source)
    return driver.build_sources([source], driver.Options(emit=Options(**options)))  # type: ignore[arg-type]


def page(text: str | Path, before: str | None = None) -> Shown:
    if before is None:
        return Shown(render(built(text)))
    return Shown(render(built(text), built(before), "HEAD"))


@pytest.fixture(scope="module")
def block() -> Shown:
    return page(BLOCK)


def test_every_line_of_both_files_is_there_once(block: Shown) -> None:
    result = built(BLOCK)
    (file,) = result.files
    for prefix, text in (("p0-block-", BLOCK.read_text()), ("py-block.py-", file.text)):
        shown = {
            int(line.attributes["id"].removeprefix(prefix)): "".join(line.text)
            for line in block.with_class("line")
            if line.attributes["id"].startswith(prefix)
        }
        lines = dict(enumerate(text.split("\n"), start=1))
        for number, line in lines.items():
            if line.strip() or number in shown:
                assert shown[number] == f"{number}{line}"


def test_ids_are_unique_and_links_lead_somewhere(block: Shown) -> None:
    ids = Counter(e.attributes["id"] for e in block.elements if "id" in e.attributes)
    assert max(ids.values()) == 1
    links = [e.attributes["href"] for e in block.elements if e.tag == "a"]
    assert links
    assert all(link[0] == "#" and link[1:] in ids for link in links)


def test_it_needs_nothing_from_elsewhere(block: Shown) -> None:
    assert not {"src", "srcset", "xlink:href"} & {n for e in block.elements for n in e.attributes}
    assert not [e for e in block.elements if e.tag in {"link", "img", "iframe", "object"}]
    for word in ("http:", "https:", "url(", "@import", "fetch("):
        assert word not in block.html


def test_a_line_shares_its_marks_with_what_it_became() -> None:
    shown = page(ATTENTION)
    source = shown.line("p0-attention-", "let scores")
    python = shown.line("py-attention.py-", "F.scaled_dot_product_attention(")
    assert source.marks < python.marks
    rows = [e for e in shown.elements if e.tag == "tr" and e.marks & source.marks]
    assert ["".join(row.text).split()[0] for row in rows] == ["scale_broadcast", "scores"]
    (node,) = (e for e in shown.with_class("node") if e.marks & source.marks)
    assert node.marks == source.marks
    assert "[BH, S, S]" in ["".join(e.text) for e in shown.with_class("shape")]


def test_what_is_said_of_a_line(block: Shown) -> None:
    lines = [e for e in block.with_class("line") if "let h " in "".join(e.text)]
    (mark,) = lines[0].marks
    said = block.reason(mark)
    assert said.startswith("h = x + mixed rule")
    assert "given a = x : Tensor[F32, [B, S, D]], a parameter of line 9" in said
    assert said.endswith("sizes B = x.shape[0], S = x.shape[1], D = x.shape[2]")


def test_every_mark_of_a_line_is_explained(block: Shown) -> None:
    explained = {e.attributes["data-why"] for e in block.elements if "data-why" in e.attributes}
    for element in block.elements:
        assert element.marks <= explained


def test_the_items_of_a_module() -> None:
    shown = page(LINEAR)
    source = shown.line("p0-linear-", "param bias")
    python = [e for e in shown.with_class("line") if "self.bias = nn.Param" in "".join(e.text)]
    assert source.marks & python[0].marks


def test_text_that_would_be_markup() -> None:
    shown = page(HOSTILE)
    assert [e.tag for e in shown.elements].count("script") == 1
    assert "b" not in {e.tag for e in shown.elements}
    line = shown.line("p0-main-", "</script>")
    assert "".join(line.text) == "1// </script><script>alert(1)</script>"
    assert "\\x1b[31m \\u202e" in "".join(shown.line("p0-main-", "&amp;").text)
    assert "\x1b" not in shown.html
    assert "\u202e" not in shown.html


def test_a_program_with_errors_is_shown_with_them() -> None:
    shown = page(GOOD.replace("x + x", "x + scale"))
    (finding,) = shown.with_class("finding")
    assert "error[P0101]" in "".join(finding.text)
    (marked,) = shown.with_class("found")
    assert ("".join(marked.text), marked.attributes["class"]) == ("scale", "found error")
    assert not [e for e in shown.elements if e.attributes.get("id", "").startswith("py-")]
    assert not shown.with_class("ledger")


def test_a_program_that_does_not_parse() -> None:
    shown = page("let twice [B\n")
    assert "let twice [B" in "".join(shown.line("p0-main-", "twice").text)
    assert shown.with_class("finding")


def test_a_warning_is_at_its_line() -> None:
    shown = page(GOOD.replace("  x + x", "  let y = x in\n  x + x"))
    following = shown.elements.index(shown.line("p0-main-", "let y"))
    (finding,) = shown.with_class("finding")
    assert shown.elements.index(finding) > following
    assert "warning[P1111]" in "".join(finding.text)
    assert shown.with_class("ledger")


def test_a_finding_in_another_file_is_on_top(tmp_path: Path) -> None:
    (tmp_path / "a.p0").write_text("let one [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = y\n")
    (tmp_path / "b.p0").write_text(f"from a import one\n{GOOD}")
    shown = page(tmp_path / "b.p0")
    assert "error[P0101]" in "".join("".join(e.text) for e in shown.with_class("finding"))


def test_a_file_with_a_name_that_is_no_id(tmp_path: Path) -> None:
    (tmp_path / "my <b> file.p0").write_text(GOOD)
    shown = page(tmp_path / "my <b> file.p0")
    assert not [e for e in shown.elements if " " in e.attributes.get("id", "")]
    assert [e.tag for e in shown.elements].count("b") == 0


def test_an_empty_file_and_a_file_without_a_definition() -> None:
    for text in ("", "// nothing\n"):
        assert "P1206" in page(text).html


def states(shown: Shown) -> list[tuple[str, str]]:
    """The changed lines, each with `+` or `-`."""
    return [
        (
            "+" if "new" in e.attributes["class"].split() else "-",
            "".join(e.text).lstrip("0123456789"),
        )
        for e in shown.with_class("line")
        if {"new", "old"} & set(e.attributes["class"].split())
    ]


def test_what_changed_in_both_languages() -> None:
    shown = page(GOOD.replace("x + x", "x * x"), GOOD)
    assert states(shown) == [
        ("-", "  x + x"),
        ("+", "  x * x"),
        ("-", "        return x + x  # [B, D]"),
        ("+", "        return x.square()  # [B, D]"),
    ]
    assert "1 part changed" in " ".join("".join(e.text) for e in shown.elements if e.tag == "li")
    (part,) = (e for e in shown.with_class("part") if e.attributes["id"] == "main.twice")
    assert "open" in part.attributes


def test_nothing_changed() -> None:
    shown = page(GOOD, GOOD)
    assert not states(shown)
    assert not [part for part in shown.with_class("part") if "open" in part.attributes]


def test_a_definition_that_is_gone_and_one_that_is_new() -> None:
    more = GOOD.replace("twice", "more")
    gone = states(page(GOOD, f"{more}\n{GOOD}"))
    assert ("-", "let more [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =") in gone
    assert ("-", "class More(nn.Module):") in gone
    new = states(page(f"{GOOD}\n{more}", GOOD))
    assert ("+", "class More(nn.Module):") in new
    last = states(page(GOOD, f"{GOOD}\n{more}"))
    assert ("-", "let more [B, D] (x : Tensor[F32, [B, D]]) : Tensor[F32, [B, D]] =") in last
    assert ("-", "class More(nn.Module):") in last


def test_what_was_wrong_before_has_only_its_source() -> None:
    shown = page(GOOD, GOOD.replace("x + x", "x + y"))
    assert ("-", "  x + y") in states(shown)
    assert ("+", "        return x + x  # [B, D]") in states(shown)


@pytest.mark.parametrize("path", sorted((ROOT / "p0trans/std").glob("*.p0")), ids=lambda p: p.stem)
def test_the_library(path: Path) -> None:
    shown = page(path)
    assert not shown.with_class("trouble")
    assert shown.with_class("picture")


def test_the_same_bytes_everywhere(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from p0trans.cli import main\n"
        "try:\n"
        f"    main(['review', {str(BLOCK)!r}])\n"
        "finally:\n"
        "    print(sorted({'torch', 'numpy'} & set(sys.modules)), file=sys.stderr)\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            check=True,
            cwd=folder,
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": str(ROOT)},
        )
        for seed, locale, folder in (("1", "C", ROOT), ("2", "C.UTF-8", tmp_path))
    ]
    assert runs[0].stdout == runs[1].stdout
    assert {run.stderr for run in runs} == {b"[]\n"}
