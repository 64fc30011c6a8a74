"""Text as lines of HTML."""

from __future__ import annotations

import sys

import pytest

from p0trans.source import Source, Span
from p0trans.tools.review_code import Mark, code_lines

TEXT = "let <b> = x & y in // <i>\r\n\tx\x1b\r(* a\nb *)\n"


def lines(text: str, *marks: Mark) -> list[str]:
    return [str(line) for line in code_lines(Source("", text), "phase0", marks)]


def test_every_line_is_escaped_and_closed() -> None:
    first, second, third, fourth, last = lines(TEXT)
    assert first == (
        '<span class="k">let</span> &lt;b&gt; = x &amp; y <span class="k">in</span> '
        '<span class="c">// &lt;i&gt;</span>'
    )
    assert second == "\tx\\x1b"
    assert (third, fourth) == ('<span class="c">(* a</span>', '<span class="c">b *)</span>')
    assert last == ""


def test_a_mark_cuts_tokens() -> None:
    source = Source("", "return abc + x")
    (line,) = code_lines(source, "python", [Mark(Span(1, 3), "found"), Mark(Span(8, 12), "found")])
    assert line == (
        '<span class="k">r</span><span class="k found">et</span><span class="k">urn</span>'
        ' a<span class="found">bc +</span> x'
    )


def test_python() -> None:
    text = 'def f() -> int:\n    """Doc\n\n    end"""\n    return "a" + 1  # c'
    assert [str(line) for line in code_lines(Source("", text), "python")] == [
        '<span class="k">def</span> <span class="f">f</span>() -&gt; <span class="f">int</span>:',
        '    <span class="c">&#34;&#34;&#34;Doc</span>',
        "",
        '<span class="c">    end&#34;&#34;&#34;</span>',
        '    <span class="k">return</span> <span class="s">&#34;a&#34;</span> + '
        '<span class="n">1</span>  <span class="c"># c</span>',
    ]


def test_without_pygments_it_has_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygments.lexers.python", None)
    first, second, *_ = lines(TEXT, Mark(Span(0, 3), "found"))
    assert first == '<span class="found">let</span> &lt;b&gt; = x &amp; y in // &lt;i&gt;'
    assert second == "\tx\\x1b"
