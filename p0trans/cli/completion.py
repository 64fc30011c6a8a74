"""`p0trans completion`: what makes a shell complete the command line."""

from __future__ import annotations

import click

from p0trans.cli.output import put

SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_P0TRANS_COMPLETE"
"""The environment variable in which the script asks p0trans, as click derives it from the name."""


@click.command("completion", short_help="Print a script that makes a shell complete commands.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print a script for SHELL that completes commands, options and their values, codes, names of
    files and of what is in them.

    Bash has to be 4.4 or later. The script calls p0trans, which has to be on the PATH.

    \b
    Put one of these into the start-up file of your shell:
      eval "$(p0trans completion bash)"       # ~/.bashrc
      eval "$(p0trans completion zsh)"        # ~/.zshrc, after compinit
      p0trans completion fish | source        # ~/.config/fish/config.fish

    \b
    Examples:
      p0trans completion bash > p0trans.bash
      p0trans completion fish

    Exit status: 0, or 2 for a shell that is not among these.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    class_ = get_completion_class(shell)
    assert class_ is not None
    completer = class_(ctx.find_root().command, {}, "p0trans", _VARIABLE)
    # The class's own `source` may start the shell to ask for its version, at each start of it.
    put(ShellComplete.source(completer))
