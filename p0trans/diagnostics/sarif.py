"""Diagnostics as a SARIF 2.1.0 log, as code scanning services read it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from p0trans.diagnostics.codes import Code, table
from p0trans.diagnostics.model import Diagnostic, Fix, Label
from p0trans.source import Place, Source

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(diagnostics: Sequence[Diagnostic], *, version: str) -> str:
    """A log of one run of p0trans `version` with a result for each diagnostic, in order.

    Columns count code points. A file's URI is relative when its name is.
    """
    codes = sorted({item.code for item in diagnostics})
    index = {code: position for position, code in enumerate(codes)}
    driver = {
        "name": "p0trans",
        "version": version,
        "rules": [_rule(table()[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(item, index) for item in diagnostics],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2) + "\n"


def _rule(code: Code) -> dict[str, object]:
    explain = f"p0trans explain {code.code}"
    return {
        "id": code.code,
        "shortDescription": {"text": code.title},
        "help": {
            "text": f"{code.title}. Run {explain} for the rule and examples.",
            "markdown": f"{code.title}. Run `{explain}` for the rule and examples.",
        },
        "defaultConfiguration": {"level": code.severity.value},
        "properties": {"tags": [code.family]},
    }


def _result(item: Diagnostic, index: Mapping[str, int]) -> dict[str, object]:
    result: dict[str, object] = {
        "ruleId": item.code,
        "ruleIndex": index[item.code],
        "level": item.severity.value,
        "message": {"text": "\n".join((item.message, *item.notes))},
        "locations": [_location(item.primary)],
    }
    if item.secondary:
        result["relatedLocations"] = [
            {"id": number, **_location(label)} for number, label in enumerate(item.secondary)
        ]
    if item.fixes:
        result["fixes"] = [_fix(fix) for fix in item.fixes]
    return result


def _location(label: Label) -> dict[str, object]:
    location: dict[str, object] = {
        "physicalLocation": {
            "artifactLocation": _artifact(label.place.source),
            "region": _region(label.place),
        }
    }
    if label.text:
        location["message"] = {"text": label.text}
    return location


def _fix(fix: Fix) -> dict[str, object]:
    sources = list(dict.fromkeys(edit.place.source for edit in fix.edits))
    changes = [
        {
            "artifactLocation": _artifact(source),
            "replacements": [
                {
                    "deletedRegion": _region(edit.place),
                    "insertedContent": {"text": edit.text},
                }
                for edit in fix.edits
                if edit.place.source is source
            ],
        }
        for source in sources
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _region(place: Place) -> dict[str, int]:
    start, end = place.span
    line, column = place.source.position(start)
    end_line, end_column = place.source.position(end)
    return {
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
        "charOffset": start,
        "charLength": end - start,
    }


def _artifact(source: Source) -> dict[str, str]:
    from urllib.parse import quote

    path = PurePath(source.name)
    encoded = quote(path.as_posix(), errors="surrogateescape")
    return {"uri": f"file://{encoded}" if path.is_absolute() else encoded}
