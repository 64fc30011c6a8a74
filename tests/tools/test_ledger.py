"""The rows of a ledger and their costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from torch.utils.flop_counter import FlopCounterMode

from p0trans.driver import check_sources
from p0trans.files import read_source
from p0trans.ir.program import Definition, Program
from p0trans.ops import OPERATIONS
from p0trans.shapes.dim import Dim
from p0trans.source import Source
from p0trans.tools.ledger import NOTHING, Ledger, LedgerError, Row, definition_costs, ledger
from p0trans.tools.ledger_markdown import render
from p0trans.tools.ledger_sizes import complete_sizes
from tests.conftest import GOLDEN, Golden
from tests.emit.accepted import PATHS, accepted

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = {f"example_{path.stem}": path for path in sorted(EXAMPLES.rglob("*.p0"))} | PATHS
FOLDER = "ledger"
RENDERED: Mapping[str, tuple[str, bool, Mapping[str, int]]] = {
    "rmsnorm.md": ("rmsnorm", False, {}),
    "attention.md": ("attention", False, {"B": 2, "H": 8, "S": 128, "D_h": 64}),
    "block.md": ("block", False, {}),
    "block_inline.md": ("block", True, {}),
}
"""Each golden by the example of the casebook, whether calls are folded out, and the sizes."""


def programmed(source: Source) -> Program:
    checked = check_sources([source])
    assert not [d for d in checked.diagnostics if d.severity == "error"]
    return checked.program


def made(program: Program, definition: Definition, inline: bool) -> Ledger:
    return ledger(program, definition, definition_costs(program), inline=inline)


def only(text: str, name: str | None = None, *, inline: bool = False) -> Ledger:
    """The ledger of the last definition of a program, or of the one called `name`."""
    program = programmed(Source("main.p0", text))
    definitions = {d.name: d for d in program.units[-1].definitions}
    chosen = definitions[name or list(definitions)[-1]]
    return made(program, chosen, inline)


def definitions_of(path: Path) -> tuple[Program, tuple[Definition, ...]]:
    source = read_source(path)
    assert isinstance(source, Source)
    program = programmed(replace(source, name=path.name))
    return program, program.units[-1].definitions


@pytest.mark.parametrize("name", RENDERED)
def test_golden(name: str, golden: Golden) -> None:
    example, inline, sizes = RENDERED[name]
    program, definitions = definitions_of(EXAMPLES / "casebook" / f"{example}.p0")
    ledgers = [
        made(program, each, inline)._replace(
            sizes=complete_sizes(each, each.assume, sizes) if sizes else None
        )
        for each in definitions
    ]
    golden.check(f"{FOLDER}/{name}", render(ledgers, inline))


def test_no_orphans() -> None:
    assert {path.name for path in (GOLDEN / FOLDER).iterdir()} == set(RENDERED)


# --- costs ------------------------------------------------------------------------------


def products(found: Ledger) -> list[Row]:
    return [
        row
        for row in found.rows
        if row.operation in OPERATIONS and OPERATIONS[row.operation].family == "contraction"
    ]


@pytest.mark.parametrize("name", SOURCES)
def test_flops_of_products_are_those_that_torch_counts(name: str) -> None:
    item = accepted(SOURCES[name])
    program = programmed(item.source)
    found = made(program, item.subject.definition, True)
    names = item.namespace(style="explicit")
    for sizes in item.sizes(2):
        built, inputs = item.made(names, sizes), item.inputs(sizes)
        with FlopCounterMode(display=False) as counter:
            built(*inputs)
        counted = sum(row.cost.flops.evaluate(sizes) for row in products(found))
        assert counter.get_total_flops() == counted


def test_programs_with_products_are_among_those_counted() -> None:
    for name in ("example_block", "example_attention", "embedding_and_loss", "linear_two_routes"):
        program, definitions = definitions_of(SOURCES[name])
        assert products(made(program, definitions[-1], True))


@pytest.mark.parametrize("name", SOURCES)
def test_rows_add_up(name: str) -> None:
    """The total is the sum of the rows of depth 0, and a call's cost that of the rows it folds
    out to."""
    program, definitions = definitions_of(SOURCES[name])
    for definition in definitions:
        found = made(program, definition, True)
        assert made(program, definition, False).total == found.total
        assert added(found.rows, 0) == (found.total.flops, found.total.bytes)
        for place, row in enumerate(found.rows):
            if row.operation == "call":
                rest = found.rows[place + 1 :]
                end = next((i for i, r in enumerate(rest) if r.depth <= row.depth), len(rest))
                assert added(rest[:end], row.depth + 1) == (row.cost.flops, row.cost.bytes)


def added(rows: tuple[Row, ...], depth: int) -> tuple[Dim, Dim]:
    total = NOTHING
    for row in rows:
        if row.depth == depth:
            total = total.plus(row.cost)
    return total.flops, total.bytes


# --- rows -------------------------------------------------------------------------------

UNNAMED = """
let f [B, S] (x : Tensor[F32, [B, S]]) (m : Tensor[Bool, [B, S]]) : Tensor[F32, [B, S]] =
  let x = select (not m) (-x) (x + broadcast 1e-6 [B, S]) in
  let both = (x * x * x, x) in
  let (y, z) = both in
  let same = y in
  same - z / (x * x)
"""


def test_names_and_expressions_of_unnamed_parts() -> None:
    assert [(row.name, row.expression) for row in only(UNNAMED).rows] == [
        ("x", ""),
        ("m", ""),
        ("m_mask", "not m"),
        ("x_negated", "-x"),
        ("1e-06", "const[F32] 1e-06"),
        ("constant_broadcast", "broadcast 1e-06 [B, S]"),
        ("x_sum", "x + constant_broadcast"),
        ("x'2", "select m_mask x_negated x_sum"),
        ("x_product", "x'2 * x'2"),
        ("x_product_2", "x_product * x'2"),
        ("both", "(x_product_2, x'2)"),
        ("y", "both.0"),
        ("z", "both.1"),
        ("same", "y"),
        ("x_product_3", "x'2 * x'2"),
        ("z_quotient", "z / x_product_3"),
        ("result", "same - z_quotient"),
    ]


CALLS = """
let inner [N, K] (a : Tensor[F32, [N, 2*K]]) (w : Tensor[F32, [K, N]]) : Tensor[F32, [N, N]] =
  matmul (slice[axis=1, start=0, stop=K] a) w

let identity [B] (x : Tensor[F32, [B]]) : Tensor[F32, [B]] = x

let outer [B, S] (x : Tensor[F32, [B, 6*S]]) (v : Tensor[F32, [3*S, B]]) : Tensor[F32, [B, B]] =
  inner[B, 3*S] x v + broadcast (identity[B] (reduce[sum, axis=0] v)) [B, B]
"""


def test_a_call_folds_out_in_the_dims_of_the_caller() -> None:
    rows = only(CALLS, inline=True).rows
    shown = [(row.depth, row.role, row.name, row.expression, str(row.output)) for row in rows]
    assert shown[2:7] == [
        (0, "intermediate", "inner_out", "inner[B, 3*S] x v", "Tensor[F32, [B, B]]"),
        (1, "input", "a", "x", "Tensor[F32, [B, 6*S]]"),
        (1, "input", "w", "v", "Tensor[F32, [3*S, B]]"),
        (
            1,
            "intermediate",
            "a_part",
            "slice[axis=1, start=0, stop=3*S, step=1] a",
            "Tensor[F32, [B, 3*S]]",
        ),
        (1, "output", "result", "matmul a_part w", "Tensor[F32, [B, B]]"),
    ]
    assert str(rows[6].cost.flops) == "6*B*B*S"
    assert [row.line for row in rows[2:7]] == [8, 2, 2, 3, 3]


def test_a_result_that_is_an_input() -> None:
    rows = only(CALLS, "identity").rows
    assert [(row.role, row.name, row.operation, row.expression) for row in rows] == [
        ("input", "x", "input", ""),
        ("output", "result", "alias", "x"),
    ]


# --- limits -----------------------------------------------------------------------------


def test_a_tower_of_calls_that_doubles_is_refused() -> None:
    type_ = "Tensor[F32, [B]]"
    text = f"let f0 [B] (x : {type_}) : {type_} = x + x\n"
    for n in range(1, 41):
        text += f"let f{n} [B] (x : {type_}) : {type_} = f{n - 1}[B] (f{n - 1}[B] x)\n"
    assert str(only(text).total.flops) == f"{2**40}*B"
    with pytest.raises(LedgerError, match="`f40` has more than 100000 rows with its calls"):
        only(text, inline=True)


def test_calls_nested_deeper_than_python_recurses() -> None:
    type_ = "Tensor[F32, [B]]"
    text = f"let f0 [B] (x : {type_}) : {type_} = x + x\n"
    for n in range(1, 1200):
        text += f"let f{n} [B] (x : {type_}) : {type_} = f{n - 1}[B] x\n"
    assert max(row.depth for row in only(text, inline=True).rows) == 1199


def test_dims_that_calls_nest_too_deep_are_refused() -> None:
    text = "let f0 [B] (x : Tensor[F32, []]) : Tensor[F32, [B]] = broadcast x [B]\n"
    for n in range(1, 60):
        text += f"let f{n} [B] (x : Tensor[F32, []]) : Tensor[F32, []] =\n"
        text += f"  let y = f{n - 1}[B / 2 + 1] x in x\n"
    assert only(text).total == NOTHING
    with pytest.raises(LedgerError, match="a call in `f59` has dims with too many terms"):
        only(text, inline=True)


def test_a_cost_with_too_many_terms_is_refused() -> None:
    names = [chr(65 + n) for n in range(12)]
    dim = " + ".join(names)
    type_ = f"Tensor[F32, [{', '.join([dim] * 5)}]]"
    text = f"let f [{', '.join(names)}] (x : {type_}) : {type_} = x + x\n"
    text += f"let g [{', '.join(names)}] (x : {type_}) : {type_} = f[{', '.join(names)}] x"
    with pytest.raises(LedgerError, match="`f` has too many terms"):
        only(text, "f")
    with pytest.raises(LedgerError, match="`g` has too many terms"):
        only(text, "g")
