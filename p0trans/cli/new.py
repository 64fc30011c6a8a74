"""`p0trans new`: a small project to begin with."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import click

from p0trans.cli.output import put, report
from p0trans.files import write_all_atomically


@click.command("new", short_help="Make a small project that checks, builds and tests.")
@click.argument("folder", metavar="NAME")
def command(folder: str) -> None:
    """Make the folder NAME with a program, a test, a README, a Makefile and a configuration of
    pre-commit. NAME may be a path; its last part names the program and the Python module.

    Nothing is overwritten: NAME must not be there yet.

    \b
    Examples:
      p0trans new my_model
      p0trans new models/my_model

    Exit status: 0 when the project is made, 1 when NAME is there already or cannot be made, 2 when
    it is not a name that Python can import.
    """
    from p0trans.tools.project import name_trouble, project_files

    target = Path(os.path.normpath(folder))
    name = target.name
    trouble = name_trouble(name)
    if trouble is not None:
        raise click.BadParameter(trouble, param_hint="NAME")
    texts = {target / path: text for path, text in project_files(name).items()}
    try:
        target.mkdir()
    except FileExistsError as error:
        raise click.ClickException(f"'{target}' is there already") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise click.ClickException(f"'{target}' cannot be made: {reason}") from error
    failure = write_all_atomically(texts)
    if failure is not None:
        with suppress(OSError):
            target.rmdir()
        report([failure], "text", "auto", err=True)
        raise click.exceptions.Exit(1)
    put("".join(f"{path.as_posix()}\n" for path in texts))
    put(f"next: cd {target.as_posix()} && make\n", err=True)
