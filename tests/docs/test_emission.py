"""The emission page: its commands are run again, and its lists are those of the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from p0trans.rewrite.rule import EVERY_TARGET, Rule
from p0trans.rewrite.rules import PHASES, RULES
from tests.conftest import Golden
from tests.docs.console import check_page, rerun, write_files

PAGE = "emission.md"


def rules_table() -> str:
    groups = []
    for number, phase in enumerate(PHASES, start=1):
        # Forms of one idiom, such as those with a weight and without, are rules of one name.
        rows = dict.fromkeys(f"| `{rule.name}` | `{_cell(rule.identity)}` |" for rule in phase)
        groups.append("\n".join((f"| {number}. rule | identity |", "|---|---|", *rows)))
    return "\n\n".join(groups)


def targets_table() -> str:
    chosen = [rule for rule in RULES if rule.targets != EVERY_TARGET]
    rows = [f"| `{rule.name}` | {_targets(rule)} | {rule.because} |" for rule in chosen]
    return "\n".join(("| rule | targets | because |", "|---|---|---|", *rows))


def _targets(rule: Rule) -> str:
    return ", ".join(f"`{target}`" for target in sorted(rule.targets))


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def renewed(text: str) -> str:
    for name, table in (("rules", rules_table()), ("targets", targets_table())):
        before, after = text.split(f"<!-- {name} -->\n")
        _, rest = after.split("<!-- end -->", 1)
        text = f"{before}<!-- {name} -->\n{table}\n<!-- end -->{rest}"
    return rerun(text)


def test_page_is_what_the_tool_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    write_files(PAGE, tmp_path)
    monkeypatch.chdir(tmp_path)
    check_page(PAGE, renewed, golden)


def test_a_rule_for_some_targets_says_why() -> None:
    for rule in RULES:
        assert bool(rule.because) == (rule.targets != EVERY_TARGET), rule.name
