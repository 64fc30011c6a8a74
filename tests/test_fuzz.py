"""Whatever the text, check and build end, raise nothing and say something.

`benchmarks/fuzz.py` does the same with many more broken programs, and times them.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.fuzz import broken_program, corpus, feed
from p0trans.cli import cli
from p0trans.diagnostics.model import Severity
from p0trans.diagnostics.text import render
from p0trans.driver import Options, build_sources, check_sources
from p0trans.source import Source

_COUNT = 2_000
_PATIENCE = 300  # seconds, after which a test that hangs ends with a traceback
DEEP = 10_000
MANY = 2_000

HEADER = "let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] ="
MASK = "let f [B] (x : Tensor[Bool, [B]]) : Tensor[Bool, [B]] ="
IDENTITY = "let g [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x\n"


@pytest.fixture(autouse=True)
def _patience() -> Iterator[None]:
    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.mark.parametrize("part", range(10))
def test_broken_programs_raise_nothing(part: int, tmp_path: Path) -> None:
    programs = corpus()
    for seed in range(part, _COUNT, 10):
        feed(broken_program(programs, seed), tmp_path / "input.p0")


def test_broken_programs_are_the_same_each_time() -> None:
    programs = corpus()
    assert [broken_program(programs, seed) for seed in range(50)] == [
        broken_program(programs, seed) for seed in range(50)
    ]
    assert len({broken_program(programs, seed) for seed in range(50)}) > 40


def names(count: int, prefix: str = "B") -> list[str]:
    return [f"{prefix}{index}" for index in range(count)]


def declared(dims: str, clause: str = "", shape: str = "B") -> str:
    return f"let f [{dims}] (x : Tensor[F32, [{shape}]]) : Tensor[F32, [{shape}]] {clause} = x"


def deep(depth: int) -> dict[str, str]:
    """Right programs that are `depth` deep, or that have as many steps."""
    return {
        "parentheses": f"{HEADER} {'(' * depth}x{')' * depth}",
        "minus": f"{HEADER} {'-' * depth}x",
        "not": f"{MASK} {'not ' * depth}x",
        "sums to the left": f"{HEADER} x{' + x' * depth}",
        "sums to the right": f"{HEADER} {'(x + ' * depth}x{')' * depth}",
        "applications": f"{HEADER} {'exp (' * depth}x{')' * depth}",
        "last arguments": f"{HEADER} {'maximum x (' * depth}x{')' * depth}",
        "calls": f"{IDENTITY}{HEADER} {'g[B] (' * depth}x{')' * depth}",
        "lets in a row": f"{HEADER} {''.join(f'let a{i} = x + x in ' for i in range(depth))} x",
        "one name": f"{HEADER} {'let x = x + x in ' * depth} x",
        "lets in lets": HEADER
        + "".join(f" let a{i} =" for i in range(depth))
        + " x"
        + " in x" * depth,
        "block comments": f"{HEADER} x {'(* ' * depth}{'*)' * depth}",
        "dims": declared("B", shape=f"{'(' * depth}B{')' * depth}"),
        "negated dims": declared("B", shape=f"{'-' * depth}B"),
        "definitions": IDENTITY.replace("g", "g0")
        + "".join(
            IDENTITY.replace("g", f"g{i + 1}").replace("= x", f"= g{i}[B] x")
            for i in range(depth // 5)
        ),
    }


@pytest.mark.parametrize("text", deep(DEEP).values(), ids=deep(1))
def test_deep_programs_check(text: str) -> None:
    found = check_sources([Source("deep.p0", text)]).diagnostics
    assert [each.message for each in found if each.severity is Severity.ERROR] == []


@pytest.mark.parametrize("text", deep(MANY).values(), ids=deep(1))
def test_deep_programs_build(text: str) -> None:
    built = build_sources([Source("deep.p0", text)], Options())
    assert [found for found in built.diagnostics if found.severity is Severity.ERROR] == []
    compile(built.files[0].text, "deep.py", "exec")


def chain(relation: str, count: int) -> str:
    """`where B0 … B1, B1 … B2`, and so on."""
    pairs = (f"B{i + 1} {relation.format(f'B{i}')}" for i in range(count - 1))
    return f"where {', '.join(pairs)}"


BIG_AND_RIGHT = {
    "parameters": "let f "
    + " ".join(f"({name} : Tensor[F32, []])" for name in names(MANY, "x"))
    + " : Tensor[F32, []] = x0",
    "shape parameters": declared(", ".join(names(MANY)), shape="B0"),
    "constraints": declared("B", "where " + ", ".join(f"B >= {i + 1}" for i in range(MANY))),
    "a chain of bounds": declared(", ".join(names(500)), chain(">= {}", 500), shape="B0"),
    "a chain of equations": declared(", ".join(names(500)), chain("== {} + 1", 500), shape="B0"),
    "divisors": declared("B", "where " + ", ".join(f"B % {i + 2} == 0" for i in range(100))),
    "large divisors": declared("B", "where B % 1000003 == 3, B % 1000033 == 5, B % 1000037 == 7"),
    "the largest dim": declared("B", shape=f"{2**63 - 1}"),
    "a wide tuple": f"let f (x : ({'Tensor[F32, []], ' * MANY}Tensor[F32, []]))"
    " : Tensor[F32, []] = 1.0",
    "operands": f"let f [B] (x : Tensor[F32, [B]]) : Tensor[F32, [{MANY + 1}*B]] ="
    f" concat[axis=0] x{' x' * MANY}",
    "modules": IDENTITY + "\n".join(f"module M{i} = g" for i in range(200)),
    "one line": f"{HEADER} {''.join(f'let a{i} = x + x in ' for i in range(MANY))}x",
}


@pytest.mark.parametrize("text", BIG_AND_RIGHT.values(), ids=BIG_AND_RIGHT)
def test_big_programs_check(text: str) -> None:
    found = check_sources([Source("big.p0", text)]).diagnostics
    assert [each.message for each in found if each.severity is Severity.ERROR] == []
    render(found)


HOSTILE = {
    "tuples": f"{HEADER} {'(' * DEEP}x{', x)' * DEEP}",
    "tuple types": f"let f (x : {'(' * DEEP}Tensor[F32, []]{', Tensor[F32, []])' * DEEP})"
    " : Tensor[F32, []] = 1.0",
    "divided dims": declared("B", f"where B == {'(' * DEEP}B{' + 1) / 3' * DEEP}"),
    "remainders": declared("B", f"where B == {'(' * DEEP}B{' + 1) % 3' * DEEP}"),
    "a long number": f"{HEADER} x + {'9' * DEEP}",
    "a long float": f"{HEADER} x + broadcast {'9' * DEEP}.0 [B]",
    "a long exponent": f"{HEADER} x + broadcast 1e{'9' * DEEP} [B]",
    "a long dim": declared("B", shape="9" * DEEP),
    "a long axis": f"{HEADER} reduce[sum, axis={'9' * DEEP}] x",
    "large coefficients": declared("B", shape=f"{2**62}*B + {2**62}*B + {2**62}*B"),
    "a power": declared("B", f"assume B == {'(B + 1) * ' * DEEP}B"),
    "a product of sums": declared(
        "A, B, C, D, E", f"assume B == {' * '.join(['(A + B + C + D + E)'] * 40)}"
    ),
    "polynomial equations": declared(
        "A, B, C, D, E",
        "assume "
        + ", ".join(f"(A + B) * (C + {i}) == (D + E) * (B + {i}) * (C + D)" for i in range(60)),
    ),
    "a rank": f"let f [B, S] (x : Tensor[F32, [{', '.join(['B'] * 500)}]])"
    f" : Tensor[F32, [{', '.join(['S'] * 500)}]] = x",
    "doubling": HEADER
    + " let a0 = x in "
    + "".join(f"let a{i + 1} = concat[axis=0] a{i} a{i} in " for i in range(MANY))
    + "x",
    "halving": HEADER
    + " let a0 = x in "
    + "".join(
        f"let a{i + 1} = slice[axis=0, start=0, stop=(B + {2**i - 1}) / {2**i}, step=2] a{i} in "
        for i in range(60)
    )
    + "x",
    "unknown names": HEADER + "".join(f" let a{i} = x + y{i} in" for i in range(MANY)) + " x",
    "missing broadcasts": HEADER + "".join(f" let a{i} = x + 1.0 in" for i in range(MANY)) + " x",
    "wrong definitions": "".join(
        IDENTITY.replace("g", f"g{i}").replace("= x", "= y") for i in range(MANY)
    ),
    "attributes": f"{HEADER} reduce[sum, {'axis=0, ' * DEEP}axis=0] x",
    "imports": f"from std.norm import {', '.join(names(MANY, 'a'))}",
    "open comments": f"{HEADER} x {'(* ' * DEEP}",
    "open parentheses": "( " * 500_000,
    "open lets": "let " * 250_000,
    "a word": f"{HEADER} {'y' * 1_000_000}",
    "junk": "$" * 1_000_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_programs_are_answered(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile.p0"
    path.write_text(text)
    for command in (["check", str(path)], ["build", str(path), "-o", "-"]):
        result = CliRunner().invoke(cli, command)
        assert isinstance(result.exception, SystemExit | None), result.exception
        assert result.exit_code in (0, 1)
        assert result.output
