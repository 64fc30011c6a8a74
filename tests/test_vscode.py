"""The VS Code extension: its TextMate grammar beside the parser's own scanner, and its files."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onigurumacffi
import pytest

from p0trans.dtypes import DTYPES
from p0trans.ops import CALLABLE, OPERATIONS
from p0trans.ops.table import Notation
from p0trans.source import Source
from p0trans.syntax.comments import strip_comments
from p0trans.syntax.grammar import grammar

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "editors" / "vscode"
GRAMMAR = json.loads((FOLDER / "syntaxes" / "phase0.tmLanguage.json").read_text())
RULES = GRAMMAR["repository"]
PROGRAMS = sorted(
    path
    for folder in ("benchmarks", "examples", "p0trans", "tests")
    for path in (ROOT / folder).rglob("*.p0")
)
ITEMS = {"PARAM", "BUFFER", "CONST", "SUB"}
SCOPES = {"TRUE": "constant.language", "FALSE": "constant.language", "INF": "constant.language"}
SCOPES |= {"TENSOR": "storage.type", "NOT": "keyword.operator.word"}
SCOPES |= {"INT": "constant.numeric", "FLOAT": "constant.numeric"}
SILENT = {"LPAR", "RPAR", "LSQB", "RSQB", "COMMA", "COLON", "DOT"}


def words(rule: str) -> set[str]:
    match = re.search(r"\(([A-Za-z0-9_|]+)\)", RULES[rule]["match"])
    assert match is not None
    return set(match[1].split("|"))


def test_words_are_those_of_the_grammar_and_the_table() -> None:
    fixed = {word for word in grammar().scanner.fixed if word.isidentifier()}
    said = {"keyword", "word-operator", "constant", "type", "item"}
    assert set().union(*(words(rule) for rule in said)) == fixed
    applied = (Notation.CALL, Notation.LITERAL)
    assert words("operation") == {o.name for o in OPERATIONS.values() if o.notation in applied}
    assert words("dtype") == set(DTYPES)


def scopes(text: str) -> dict[int, str]:
    """The innermost scope of each character, as a TextMate engine gives them: line by line, the
    first match of any rule, of two at one place the earlier rule."""
    names = [pattern["include"].removeprefix("#") for pattern in GRAMMAR["patterns"]]
    outside = [(RULES[name].get("match") or RULES[name]["begin"], RULES[name]) for name in names]
    block = RULES["block-comment"]
    inside = [(block["end"], None), (block["begin"], block)]
    found: dict[int, str] = {}
    depth = 0
    start = 0
    for line in text.splitlines(keepends=True):
        at = 0
        while True:
            rules = inside if depth else outside
            regset = onigurumacffi.compile_regset(*(pattern for pattern, _ in rules))
            index, match = regset.search(line, at)
            end = len(line) if match is None else match.end() if depth else match.start()
            if depth:
                found |= dict.fromkeys(range(start + at, start + end), block["name"])
            if match is None:
                break
            rule = rules[index][1]
            depth += -1 if rule is None else rule is block
            if rule is not None:
                found |= _matched(start, match, rule)
            at = match.end()
        start += len(line)
    return found


def _matched(start: int, match: Any, rule: Any) -> dict[int, str]:
    found = dict.fromkeys(range(start + match.start(), start + match.end()), rule.get("name", ""))
    for group, capture in rule.get("captures", {}).items():
        places = range(start + match.start(int(group)), start + match.end(int(group)))
        found |= dict.fromkeys(places, capture["name"])
    return found


def expected(text: str) -> Iterator[tuple[int, int, str]]:
    """Where each word begins and ends, and what its scope begins with."""
    stripped = strip_comments(Source("", text))
    for comment in stripped.comments:
        kind = {"doc": "comment.line.documentation", "block": "comment.block"}
        yield *comment.span, kind.get(comment.kind, "comment.line.double-slash")
    before = ""
    for token in grammar().scanner.scan(stripped.text):
        if token.type in SCOPES:
            yield *token.span, SCOPES[token.type]
        elif token.type == "NAME" and before not in {"LET", "MODULE", "FROM", "DOT", *ITEMS}:
            dtype = "support.type.dtype" if token.text in DTYPES else "variable.other"
            yield *token.span, "support.function" if token.text in CALLABLE else dtype
        elif token.text.isidentifier() and token.type != "NAME" and token.type not in ITEMS:
            yield *token.span, "keyword."
        elif token.text in grammar().scanner.fixed and token.type not in SILENT | ITEMS:
            yield *token.span, "keyword.operator"
        before = token.type


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_scopes(path: Path) -> None:
    text = path.read_text()
    found = scopes(text)
    for start, end, scope in expected(text):
        for offset in range(start, end):
            if text[offset] not in "\r\n":
                assert found.get(offset, "").startswith(scope), text[start:end]


@pytest.mark.parametrize(
    ("text", "word", "scope"),
    [
        ("let f [B]", "f", "entity.name.function"),
        ("  let y = x in", "y", "variable.other.definition"),
        ("module M = f with", "M", "entity.name.type.class"),
        ("  param w = ones", "param", "storage.type"),
        ("  param w = ones", "w", "variable.other.property"),
        ("let g (param : T) = param * x", "param * ", "variable.other"),
        ("from std.norm import n", "std.norm", "entity.name.namespace"),
        ("(* a (* b *) c *) exp", " c ", "comment.block"),
        ("(* a\n(* b *) c *) exp", "exp", "support.function"),
        ("//// a rule", "rule", "comment.line.double-slash"),
        ("x_exp", "x_exp", "variable.other"),
    ],
)
def test_one_scope(text: str, word: str, scope: str) -> None:
    assert scopes(text).get(text.rindex(word), "").startswith(scope)


def test_the_manifest_names_what_is_there() -> None:
    manifest = json.loads((FOLDER / "package.json").read_text())
    contributes = manifest["contributes"]
    (language,) = contributes["languages"]
    (colours,) = contributes["grammars"]
    for path in (manifest["main"], language["configuration"], colours["path"]):
        assert (FOLDER / path).is_file()
    assert language["id"] == colours["language"]
    assert language["extensions"] == [".p0"]
    assert colours["scopeName"] == GRAMMAR["scopeName"]
    assert contributes["configuration"]["properties"]["phase0.server"]["default"] == [
        "p0trans",
        "lsp",
    ]
    json.loads((FOLDER / "language-configuration.json").read_text())


def test_it_can_be_packaged_from_any_copy() -> None:
    """vsce rejects links that it cannot complete, and npm a lock that is of other versions."""
    assert not re.findall(r"\]\((?!https://)", (FOLDER / "README.md").read_text())
    manifest = json.loads((FOLDER / "package.json").read_text())
    lock = json.loads((FOLDER / "package-lock.json").read_text())
    assert lock["packages"][""]["dependencies"] == manifest["dependencies"]
    assert lock["version"] == manifest["version"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_client_starts_the_server(tmp_path: Path) -> None:
    """The extension with stand-ins for the two modules that it needs from VS Code."""
    (tmp_path / "node_modules" / "vscode").mkdir(parents=True)
    (tmp_path / "node_modules" / "vscode-languageclient").mkdir()
    (tmp_path / "node_modules" / "vscode" / "index.js").write_text(
        "const shown = [];\n"
        "module.exports = { shown, window: { showErrorMessage: (m) => shown.push(m) },\n"
        "  workspace: { getConfiguration: () => ({ get: () => ['there/p0trans', 'lsp'] }) } };\n"
    )
    (tmp_path / "node_modules" / "vscode-languageclient" / "node.js").write_text(
        "exports.LanguageClient = class {\n"
        "  constructor(...given) { console.log(JSON.stringify(given)); }\n"
        "  async start() { throw new Error('spawn ENOENT'); }\n"
        "  async stop() { console.log('stopped'); }\n"
        "};\n"
    )
    shutil.copy(FOLDER / "extension.js", tmp_path)
    script = (
        "const e = require('./extension.js'), v = require('vscode');\n"
        "e.activate().then(() => { console.log(v.shown[0]); return e.deactivate(); });\n"
    )
    run = subprocess.run(
        ["node", "-e", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    given, shown, stopped = run.stdout.splitlines()
    assert json.loads(given) == [
        "phase0",
        "Phase 0",
        {"command": "there/p0trans", "args": ["lsp"]},
        {"documentSelector": [{"language": "phase0"}]},
    ]
    assert "`there/p0trans lsp` does not start (spawn ENOENT)" in shown
    assert stopped == "stopped"
