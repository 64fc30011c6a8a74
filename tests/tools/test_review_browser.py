"""The review page in a real browser, where playwright and a Chromium are installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from p0trans import driver
from p0trans.files import read_source
from p0trans.source import Source
from p0trans.tools.review import render

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent.parent
ATTENTION = ROOT / "examples" / "casebook" / "attention.p0"
BLOCK = ROOT / "p0trans" / "std" / "block.p0"
NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip(f"no browser is installed: none of {', '.join(NAMES)}")
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def _html(path: Path, before: str | None = None) -> str:
    source = read_source(path)
    assert isinstance(source, Source)
    now = driver.build_sources([source], driver.Options())
    if before is None:
        return render(now)
    return render(now, driver.build_sources([Source("", before, path)], driver.Options()), "HEAD")


@pytest.fixture(scope="module")
def attention(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("review") / "attention.html"
    path.write_text(_html(ATTENTION))
    return path


@pytest.fixture
def page(browser: Browser, attention: Path) -> Iterator[Page]:
    yield from _opened(browser, attention)


def _opened(browser: Browser, path: Path, scheme: str = "light") -> Iterator[Page]:
    """The page without a network; what goes wrong in its script fails the test."""
    context = browser.new_context(offline=True, viewport={"width": 1600, "height": 1000})
    opened = context.new_page()
    opened.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    complaints: list[str] = []
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("console", lambda message: complaints.append(message.text))
    opened.goto(path.as_uri())
    yield opened
    context.close()
    assert complaints == []


def lit(page: Page, column: str) -> list[str]:
    """The text of what is lit in a column, without numbers of lines."""
    texts = page.locator(f"{column} .lit").all_inner_texts()
    return [" ".join(text.split()).lstrip("0123456789").strip() for text in texts]


def test_pointing_at_a_line_lights_up_every_column(page: Page) -> None:
    page.locator("#p0-attention-17").hover()
    source, python = page.locator(".panes.pane, .code").all()[2:4]
    assert "let scores" in " ".join(source.locator(".lit").all_inner_texts())
    assert "F.scaled_dot_product_attention" in " ".join(python.locator(".lit").all_inner_texts())
    assert [text.split()[0] for text in lit(page, ".ledger")] == ["scale_broadcast", "scores"]
    assert page.locator(".node.lit .name").all_text_contents() == ["scores"]
    assert page.locator(".edge.lit").count() > 0
    said = page.locator("#why").inner_text()
    assert "scores = products * broadcast scale [BH, S, S]" in said
    assert "S = q.shape[2], BH = B*H" in said
    page.mouse.move(2, 2)
    assert page.locator(".lit").count() == 0
    assert not page.locator("#why").is_visible()


def test_pointing_at_python_lights_up_all_that_it_came_from(page: Page) -> None:
    page.get_by_text("F.scaled_dot_product_attention(").hover()
    numbers = page.locator("[id^='p0-attention-'].lit .no").all_inner_texts()
    assert numbers == [str(number) for number in range(12, 25)]
    assert page.locator(".now").count() == 1


def test_the_keyboard_goes_everywhere(page: Page) -> None:
    def focused() -> str:
        return str(page.evaluate("document.activeElement.id"))

    page.locator("#p0-attention-5").focus()
    page.keyboard.press("ArrowDown")
    assert focused() == "p0-attention-6"
    page.keyboard.press("ArrowRight")
    assert focused().startswith("py-attention.py-")
    assert "q: Tensor" in page.locator(":focus").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("tr:focus th .step").inner_text() == "q"
    page.keyboard.press("ArrowRight")
    assert page.locator(".node:focus .name").text_content() == "q"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert page.locator("tr:focus th .step").inner_text() == "q", "the first has none above it"
    # What has the focus stays lit while the mouse goes over other lines.
    page.locator("#p0-attention-20").hover()
    assert page.locator("tr.now th .step").inner_text() == "q"
    page.keyboard.press("Escape")
    assert page.locator(".lit").count() == 0


def test_tab_goes_from_column_to_column(page: Page) -> None:
    page.locator("#p0-attention-1").focus()
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id").startswith("py-attention.py-")


def test_selecting_brings_what_is_lit_into_sight(page: Page) -> None:
    page.locator("#p0-attention-24").click()
    row = page.locator("tr.lit").last
    pane = page.locator(".ledger").bounding_box()
    box = row.bounding_box()
    assert pane is not None
    assert box is not None
    assert pane["y"] <= box["y"]
    assert box["y"] + box["height"] <= pane["y"] + pane["height"]


def test_light_and_dark(browser: Browser, attention: Path) -> None:
    colours = []
    for scheme in ("light", "dark"):
        for opened in _opened(browser, attention, scheme):
            script = "getComputedStyle(document.body).backgroundColor"
            colours.append(opened.evaluate(script))
    assert len(set(colours)) == 2


@pytest.mark.parametrize("width", [1600, 700])
def test_nothing_is_wider_than_the_window(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_it_prints_all_lines_and_none_of_what_is_for_the_screen(page: Page) -> None:
    page.set_viewport_size({"width": 1100, "height": 200})
    page.emulate_media(media="print")
    for pane in page.locator(".part[open] .pane.code").all():
        assert pane.evaluate("pane => pane.scrollHeight <= pane.clientHeight")
    assert not page.locator("nav").is_visible()
    assert not page.locator(".keys").is_visible()
    assert page.pdf(prefer_css_page_size=True).startswith(b"%PDF")


def test_the_next_change(browser: Browser, tmp_path: Path) -> None:
    before = ATTENTION.read_text().replace("products * b", "products / b").replace("(q :", "( q :")
    (tmp_path / "changed.html").write_text(_html(ATTENTION, before))
    for opened in _opened(browser, tmp_path / "changed.html"):
        seen = []
        for key in "nnnp":
            opened.keyboard.press(key)
            seen.append(opened.evaluate("document.activeElement.closest('.line').id"))
        assert seen[0].startswith("p0-attention-")
        assert len(set(seen[:3])) == 3
        assert seen[3] == seen[1]


def test_what_it_became_is_found_in_another_part(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "block.html").write_text(_html(BLOCK))
    for opened in _opened(browser, tmp_path / "block.html"):
        opened.locator("[id^='p0-std.attention-']", has_text="param in_proj_bias").first.click()
        lines = opened.locator(".code .lit").all_inner_texts()
        assert any("self.in_proj_bias = nn.Parameter(" in line for line in lines)
        assert "an nn.Parameter of the module" in opened.locator("#why").inner_text()
