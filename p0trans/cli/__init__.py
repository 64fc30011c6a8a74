"""The command line. Each command is a file of this package, imported when it is called."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from p0trans import __version__
from p0trans.cli.output import abandon, unwritable

COMMANDS = (
    "check",
    "build",
    "fmt",
    "ledger",
    "review",
    "ir",
    "ops",
    "verify",
    "export",
    "explain",
    "where",
    "lsp",
    "new",
    "completion",
)
"""The commands in the order in which help lists them: `NAME` is `command` in `cli/NAME.py`."""

INTERRUPTED = 130
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Commands(click.Group):
    """A group that imports a command only when it is called or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"p0trans.cli.{cmd_name}").command
        assert isinstance(command, click.Command)
        return command


@click.group(cls=_Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="p0trans", message="%(prog)s %(version)s")
def cli() -> None:
    """Translate Phase 0, an explicit shape-typed tensor language, to PyTorch modules.

    \b
    Examples:
      p0trans check rmsnorm.p0
      p0trans build rmsnorm.p0
      p0trans explain P0501

    `p0trans COMMAND --help` says more of each command, with examples.

    Exit status: 0 when all is well, 1 when a program is wrong or a file cannot be read or
    written, 2 when the command line is wrong.

    \b
    Environment:
      NO_COLOR, CLICOLOR_FORCE  no colours; colours even where no terminal is
      XDG_CACHE_HOME            the parser's tables are kept in p0trans/ in it (~/.cache)
    """


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and exit with its status."""
    # Starting makes many objects and hardly any garbage: the collector need not look so often.
    gc.set_threshold(50_000)
    try:
        status = cli.main(arguments, prog_name="p0trans", standalone_mode=False)
    except click.ClickException as error:
        status = _shown(error)
    except OSError as error:
        # Help and version are written by click itself, to a stream, which has no name.
        if error.filename is not None:
            raise
        abandon(sys.stdout)
        status = _shown(unwritable(error))
    except (click.Abort, KeyboardInterrupt):
        status = INTERRUPTED
    sys.exit(status)


def _shown(error: click.ClickException) -> int:
    """The exit status of an error, which is shown if standard error can be written."""
    try:
        error.show()
    except OSError:
        abandon(sys.stderr)
    return error.exit_code
