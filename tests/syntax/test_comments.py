"""Comments: what they hide, what is kept of them, and which become documentation."""

from __future__ import annotations

import pytest

from p0trans.source import Source
from p0trans.syntax import tree
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.parse import parse

DEFINITION = "let f : Tensor[F32, []] = 1.0"


def docs(text: str) -> list[str | None]:
    parsed = parse(Source("test.p0", text))
    assert parsed.diagnostics == ()
    return [None if isinstance(d, tree.Import) else d.doc for d in parsed.file.declarations]


def test_comments_are_blanked_in_place() -> None:
    text = "a // b\r\nc (* d\n(* e *) *) f /// g"
    stripped = strip_comments(Source("test.p0", text))
    assert stripped.text == "a     \r\nc     \n           f      "
    assert [(c.kind, c.text) for c in stripped.comments] == [
        ("line", "// b"),
        ("block", "(* d\n(* e *) *)"),
        ("doc", "/// g"),
    ]
    for comment in stripped.comments:
        assert text[comment.span.start : comment.span.end] == comment.text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a (* // *) b", "a          b"),
        ("a // (* b", "a        "),
        ("a (*) *) b", "a        b"),
        ("a (***) b", "a       b"),
        ("a *) b", "a *) b"),
        ("//", "  "),
    ],
)
def test_delimiters_within_comments(text: str, kept: str) -> None:
    stripped = strip_comments(Source("test.p0", text))
    assert stripped.text == kept
    assert stripped.unclosed == ()


def test_unclosed_comments_are_named_from_the_outside_in() -> None:
    stripped = strip_comments(Source("test.p0", "a (* b (* c *) (* d"))
    assert [span.start for span in stripped.unclosed] == [2, 15]


def test_comments_come_with_the_file() -> None:
    parsed = parse(Source("test.p0", f"// one\n{DEFINITION} (* two *)\n"))
    assert [(c.kind, c.text) for c in parsed.file.comments] == [
        ("line", "// one"),
        ("block", "(* two *)"),
    ]


@pytest.mark.parametrize(
    ("before", "doc"),
    [
        ("/// Adds.\n", "Adds."),
        ("/// One.\n///\n///   Two.\r\n", "One.\n\n  Two."),
        ("///No space.\n", "No space."),
        ("/// One.\n///\n///\n", "One."),
        ("  /// Indented.\n", "Indented."),
        ("/// One.\n// plain\n\n(* plain *)\n", "One."),
        ("/// About the file.\n\n/// About f.\n", "About f."),
        ("// plain\n", None),
        ("//// a rule ////\n", None),
        ("", None),
    ],
)
def test_doc_comment(before: str, doc: str | None) -> None:
    assert docs(before + DEFINITION) == [doc]


def test_each_declaration_has_its_own_doc() -> None:
    assert docs(
        f"/// One.\n{DEFINITION}\n/// Lost on an import.\nfrom a import b\n"
        f"/// Two.\nmodule M = f\n{DEFINITION}\n/// Belongs to nothing.\n"
    ) == ["One.", None, "Two.", None]


def test_doc_comments_elsewhere_are_comments() -> None:
    inside = "let f : Tensor[F32, []] =\n  /// Not a doc.\n  let y = 1.0 in /// Nor this.\n  y"
    assert docs(f"{inside}\n{DEFINITION}") == [None, None]
