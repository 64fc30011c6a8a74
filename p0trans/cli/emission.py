"""The options that decide what an emitted file says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from p0trans.emit.options import Annotate, Checks, Style
from p0trans.targets import Target

if TYPE_CHECKING:
    from p0trans.driver import Options
    from p0trans.emit.options import OptionError

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--style",
        type=click.Choice(get_args(Style)),
        default="idiomatic",
        show_default=True,
        help="How the code is written: as an expert would, or explicit: one torch call per "
        "operation.",
    ),
    click.option(
        "--target",
        type=click.Choice(get_args(Target)),
        default="torch",
        show_default=True,
        help="What the emitted code runs on.",
    ),
    click.option(
        "--checks",
        type=click.Choice(get_args(Checks)),
        default="full",
        show_default=True,
        help="Whether emitted code checks the shapes and dtypes of its inputs.",
    ),
    click.option(
        "--annotate",
        type=click.Choice(get_args(Annotate)),
        default="plain",
        show_default=True,
        help="How the emitted code annotates tensors.",
    ),
    click.option(
        "--dynamic",
        metavar="B,S",
        help="With --target compile: shape variables that may change without a new compilation.",
    ),
    click.option(
        "--dynamic-shapes",
        is_flag=True,
        help="Give each module a method that says, for torch.export, which axes may vary.",
    ),
    click.option(
        "--param",
        "params",
        metavar="NAME=INIT",
        multiple=True,
        help="Make the argument NAME an nn.Parameter that begins as INIT.",
    ),
    click.option(
        "--const",
        "consts",
        metavar="NAME=LITERAL",
        multiple=True,
        help="Make the argument NAME a constructor argument with the default LITERAL.",
    ),
)
_NAMES = frozenset(
    ("style", "target", "checks", "annotate", "dynamic", "dynamic_shapes", "params", "consts")
)


def emission_options(command: Command) -> Command:
    """`--style` to `--const`, as parameters that `emission` reads."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def emission(files: Sequence[str], chosen: dict[str, Any]) -> Options:
    """What to build of `files` with these parameters of a command; others among them are passed
    over. Raises click.BadParameter."""
    from p0trans import driver
    from p0trans.checker import StateFlags
    from p0trans.emit.options import Options as EmitOptions

    given = {name: value for name, value in chosen.items() if name in _NAMES}
    params = _pairs("--param", given.pop("params"))
    consts = _pairs("--const", given.pop("consts"))
    dynamic = _dynamic(given.pop("dynamic"))
    return driver.Options(
        emit=EmitOptions(dynamic=dynamic, **given),
        flags=StateFlags(params, consts),
        layout="file" if len(files) == 1 else "package",
    )


def unsuitable(error: OptionError) -> click.UsageError:
    """What is said of options that do not suit the program."""
    from p0trans.driver import StateError

    if isinstance(error, StateError):
        return click.UsageError(str(error))
    return click.BadParameter(str(error), param_hint="--dynamic")


def _dynamic(text: str | None) -> tuple[str, ...]:
    names = () if text is None else tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise click.BadParameter(f"'{text}' is not NAME,NAME", param_hint="--dynamic")
    return tuple(dict.fromkeys(names))


def _pairs(option: str, texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, value) in zip(texts, pairs, strict=True):
        if not (name.strip() and equals and value.strip()):
            raise click.BadParameter(f"'{text}' is not NAME=VALUE", param_hint=option)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
