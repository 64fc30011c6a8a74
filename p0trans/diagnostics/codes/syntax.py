"""The words of everything that the parser finds."""

from __future__ import annotations

from p0trans.diagnostics.codes import Code
from p0trans.diagnostics.model import Severity


def _error(code: str, title: str, message: str, *notes: str) -> Code:
    return Code(code, "syntax", Severity.ERROR, title, message, notes)


SYNTAX_CODES = (
    _error("P0001", "unexpected text", "unexpected {found} {part}"),
    _error(
        "P0002",
        "comment not closed",
        "this comment is not closed",
        "block comments nest: each `(*` needs a `*)` of its own",
    ),
    _error(
        "P0003",
        "missing `in`",
        "the `let` of {name} has no `in`",
        "a `let` inside a body reads `let name = value in result`",
    ),
    _error("P0004", "character that cannot occur", "{found} cannot occur in a program"),
    _error("P0005", "bracket without its partner", "{found} {what}"),
    _error("P0006", "number that cannot be represented", "this number {what}"),
    _error(
        "P0007",
        "chained comparison",
        "a comparison cannot be compared again",
        "a chain is written out as two comparisons joined by `{joint}`",
    ),
    _error(
        "P0008",
        "reserved word used as a name",
        "`{word}` is a reserved word and cannot be a name",
        "the reserved words are {reserved}",
    ),
    _error(
        "P0009",
        "`let` without a result",
        "nothing follows the `in` of {name}",
        "a body ends with an expression after its last `in`: that is its result",
    ),
    _error(
        "P0010",
        "definition without a result type",
        "the definition of {name} does not state the type of its result",
        "a definition reads `let name [shape parameters] (parameter : type) : result type = body`",
    ),
    _error("P0011", "malformed number", "`{number}` is not a number"),
    _error(
        "P0012",
        "parameter without its type",
        "the parameter `{name}` is not written as `({name} : type)`",
        "every parameter has a pair of parentheses and a type of its own",
    ),
    _error(
        "P0013",
        "wrong kind of equals sign",
        "unexpected `{found}` {part}, where `{wanted}` belongs",
        "`=` gives a name its value; `==` compares",
    ),
    _error(
        "P0014",
        "comma missing or too many",
        "{what} {part}",
        "items in brackets are separated by single commas, arguments of a call by none",
    ),
    _error(
        "P0015",
        "text outside of a declaration",
        "{found} does not start a declaration",
        "at the top level a file has only `let` definitions, `module`s, and `from … import`",
    ),
)
