"""`p0trans ledger`: what goes into each step, what comes out of it, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

import click

from p0trans.cli.options import (
    color_option,
    definition_names,
    program_argument,
    read_dims,
    read_sources,
)
from p0trans.cli.output import put, report
from p0trans.diagnostics.model import Severity

if TYPE_CHECKING:
    from p0trans.ir.program import Definition, Program

RENDERERS = {"text": "text", "md": "markdown", "html": "html", "json": "json", "csv": "csv"}
"""The formats, each with the end of the name of the module that renders it."""


@click.command("ledger", short_help="Show the shapes and costs of every step.")
@program_argument
@click.option(
    "--def",
    "only",
    metavar="NAME",
    shell_complete=definition_names,
    help="Only the definition or module NAME.",
)
@click.option(
    "--dims",
    metavar="B=2,S=3",
    help="Give the numbers at these sizes as well; sizes that follow from them may be left out.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(tuple(RENDERERS)),
    default="text",
    show_default=True,
    help="How to write the ledger.",
)
@click.option("--inline", is_flag=True, help="Fold out calls, and say where each row stands.")
@color_option
def command(
    file: str, only: str | None, dims: str | None, format_: str, inline: bool, color: str
) -> None:
    """Show the shape ledger of each definition in FILE (`-` is standard input).

    A ledger has a row for each input and each step: its name, the operation, the shapes that go
    in, the shape and dtype that come out, and what the step costs. FLOPs are operations on
    elements (a matrix product of [M, K] and [K, N] is 2*K*M*N) and bytes those read and written
    if nothing is fused or cached, both as polynomials of the shape variables; their quotient is
    the arithmetic intensity. A part that no `let` names is called after what it is made of. A call
    is one row with all that it costs.

    Findings go to standard error.

    \b
    Examples:
      p0trans ledger rmsnorm.p0
      p0trans ledger block.p0 --def transformer_block_partial --inline
      p0trans ledger block.p0 --def SwiGLU --dims B=1,S=128,D=64,H=256
      p0trans ledger rmsnorm.p0 --format html > ledger.html
      p0trans ledger rmsnorm.p0 --format csv --dims B=2,S=3,D=8

    Exit status: 0 when the ledger is written, 1 when the program is wrong or cannot be read, 2
    when there is no such definition or it cannot have such sizes.
    """
    from p0trans import driver
    from p0trans.tools.ledger import LedgerError, definition_costs, ledger

    given = read_dims(dims)
    sources, found = read_sources([file])
    if sources:
        checked = driver.check_sources(sources)
        found += [item for item in checked.diagnostics if item.severity is not Severity.NOTE]
    if found:
        report(found, "text", color, err=True)
    if any(item.severity is Severity.ERROR for item in found):
        raise click.exceptions.Exit(1)
    program = checked.program
    definitions = _chosen(program, only)
    sizes = _sizes(program, definitions, given)
    costs = definition_costs(program)
    try:
        ledgers = [
            ledger(program, definition, costs, inline=inline, sizes=at)
            for definition, at in zip(definitions, sizes, strict=True)
        ]
    except LedgerError as error:
        raise click.ClickException(str(error)) from error
    renderer = import_module(f"p0trans.tools.ledger_{RENDERERS[format_]}")
    text: str = renderer.render(ledgers, inline)
    put(text, encoding=None if format_ == "text" else "utf-8")


def _chosen(program: Program, only: str | None) -> tuple[Definition, ...]:
    """The definitions of the file, or the one that is called so or that a module so called has."""
    unit = program.unit(program.roots[0])
    if only is None:
        return unit.definitions
    chosen = {definition.name: definition for definition in unit.definitions}
    for module in unit.modules:
        chosen.setdefault(module.name, program.definition(module.definition))
    if only not in chosen:
        listed = ", ".join(chosen) or "none"
        raise click.BadParameter(
            f"there is no definition or module '{only}'; the file has {listed}", param_hint="--def"
        )
    return (chosen[only],)


def _sizes(
    program: Program, definitions: Sequence[Definition], given: Mapping[str, int]
) -> Sequence[Mapping[str, int] | None]:
    """The sizes of each definition, None when none were asked for."""
    if not given:
        return [None] * len(definitions)
    from p0trans.tools.constraints import constraints
    from p0trans.tools.ledger import LedgerError
    from p0trans.tools.ledger_sizes import complete_sizes

    known = {name for definition in definitions for name in definition.shape_parameters}
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            raise click.BadParameter(
                f"'{name}' is no shape variable here; there are {listed}", param_hint="--dims"
            )
    stated = constraints(program)
    try:
        return [complete_sizes(each, stated[each.reference], given) for each in definitions]
    except LedgerError as error:
        raise click.BadParameter(str(error), param_hint="--dims") from error
