"""The Pygments lexer."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    _TokenType,
)

from p0trans.highlight import Phase0Lexer

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted(
    path
    for folder in ("benchmarks", "examples", "p0trans", "tests")
    for path in (ROOT / folder).rglob("*.p0")
)
TEXT = """/// Words.
from std.norm import rmsnorm
module M = f with
  param w = ones
let f [B] (param : Tensor[BF16, [B]]) : Tensor[BF16, [B]] = // a line
  let y = exp param * 1.5 in (* a (* nested *) block *)
  not true && y
"""


def lexed(text: str) -> list[tuple[_TokenType, str]]:
    return list(Phase0Lexer().get_tokens(text))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_program(path: Path) -> None:
    text = path.read_text()
    found = lexed(text)
    assert "".join(piece for _, piece in found).strip("\n") == text.strip("\n")
    assert [piece for kind, piece in found if kind is Error] == []


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("/// Words.", String.Doc),
        ("from", Keyword.Namespace),
        ("rmsnorm", Name),
        ("module", Keyword.Declaration),
        ("M", Name.Class),
        ("with", Keyword),
        ("w", Name),
        ("f", Name.Function),
        ("y", Name.Variable),
        ("Tensor", Keyword.Type),
        ("BF16", Keyword.Type),
        ("// a line", Comment.Single),
        ("exp", Name.Builtin),
        ("*", Operator),
        ("1.5", Number.Float),
        ("(* a (* nested *) block *)", Comment.Multiline),
        ("not", Operator.Word),
        ("true", Keyword.Constant),
        ("&&", Operator),
        ("[", Punctuation),
    ],
)
def test_kinds(piece: str, kind: _TokenType) -> None:
    assert (kind, piece) in lexed(TEXT)


@pytest.mark.parametrize("wrong", ["@", "2K", "é", "1e999"])
def test_what_is_no_token(wrong: str) -> None:
    assert any(kind is Error for kind, _ in lexed(f"let y = {wrong} in"))


@pytest.mark.parametrize("text", ["", "\n", "(* open", " \t "])
def test_nothing_is_lost(text: str) -> None:
    found = lexed(text)
    assert "".join(piece for _, piece in found).strip() == text.strip()


def test_the_package_registers_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (entry,) = project["entry-points"]["pygments.lexers"].values()
    assert EntryPoint("phase0", entry, "pygments.lexers").load() is Phase0Lexer
