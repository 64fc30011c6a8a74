"""`p0trans ops`: the operation table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from p0trans.cli.output import put
from p0trans.ops.table import Operation, Site
from p0trans.types import TensorType


def _candidates(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a shell completes the argument with."""
    from p0trans.cli.candidates import operations

    return list(operations(incomplete))


@click.command("ops", short_help="Show the operations of the language.")
@click.argument("name", required=False, shell_complete=_candidates)
@click.option(
    "--format",
    "format_",
    type=click.Choice(("text", "md", "json")),
    default="text",
    show_default=True,
    help="How to write the table.",
)
def command(name: str | None, format_: str) -> None:
    """Show the operations, or the one called NAME: form, typing, PyTorch spelling and cost.

    NAME is a name or a symbol. The PyTorch spelling and the cost are those of the example types.

    \b
    Examples:
      p0trans ops
      p0trans ops reduce_keep
      p0trans ops '&&'
      p0trans ops --format json > ops.json

    Exit status: 0, or 2 when there is no operation NAME.
    """
    from p0trans.ops import OPERATIONS

    operations = list(OPERATIONS.values())
    if name is not None:
        operations = [each for each in operations if name in (each.name, each.symbol)]
        if not operations:
            raise click.BadParameter(_unknown(name, list(OPERATIONS)), param_hint="NAME")
    records = [_record(operation) for operation in operations]
    match format_:
        case "json":
            put(json.dumps(records, indent=2) + "\n")
        case "md":
            put(_markdown(records))
        case _:
            put("\n".join(_block(record) for record in records))


def _record(operation: Operation) -> dict[str, str]:
    site = _example(operation)
    operands = ", ".join(str(operand) for operand in site.operands)
    return {
        "name": operation.name,
        "family": operation.family,
        "form": operation.form,
        "typing": operation.doc,
        "example": f"{operands} -> {site.result}" if operands else str(site.result),
        "torch": _spelled(operation, site),
        "flops": str(operation.flops(site)),
    }


def _example(operation: Operation) -> Site:
    """The operation's first accepted sample."""
    sample, result = next(
        (sample, sample.outcome)
        for sample in operation.samples
        if isinstance(sample.outcome, TensorType)
    )
    return Site(sample.operands, sample.attributes, result)


def _spelled(operation: Operation, site: Site) -> str:
    from p0trans.emit.expressions import named_fragment, operation_fragment, spelled_variables

    spelling = operation.torch(site)
    names = _operand_names(operation, len(site.operands))
    operands = [
        named_fragment(name, name, type_) for name, type_ in zip(names, site.operands, strict=True)
    ]
    variables = {name: name for name in spelled_variables(spelling)}
    fragment = operation_fragment(
        operation.noun, spelling, site.result.dtype, operands, variables, "device"
    )
    return fragment.text


def _operand_names(operation: Operation, count: int) -> Sequence[str]:
    more = (f"{operation.operands[-1]}{number}" for number in range(2, count))
    return (*operation.operands, *more)[:count] if count else ()


def _block(record: dict[str, str]) -> str:
    labels = {"example": "Example", "torch": "PyTorch", "flops": "FLOPs"}
    facts = (f"    {label + ':':<9}{record[key]}\n" for key, label in labels.items())
    return "".join((f"{record['form']}\n    {record['typing']}\n", *facts))


def _markdown(records: Sequence[dict[str, str]]) -> str:
    columns = {
        "form": "Form",
        "typing": "Typing",
        "example": "Example",
        "torch": "PyTorch",
        "flops": "FLOPs",
    }
    lines = [
        f"| {' | '.join(columns.values())} |",
        f"|{' --- |' * len(columns)}",
        *(f"| {' | '.join(_cell(key, record[key]) for key in columns)} |" for record in records),
    ]
    return "\n".join((*lines, ""))


def _cell(key: str, text: str) -> str:
    text = text.replace("|", "\\|")
    return text if key == "typing" else f"`{text}`"


def _unknown(name: str, names: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, names, n=3)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"there is no operation '{name}'{hint}"
