"""Views through the templates, formatted once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from p0trans.emit.lines import LINE_LENGTH
from p0trans.emit.view import FileView

if TYPE_CHECKING:
    from jinja2 import Environment


def template_folder() -> Path:
    """Where the templates are: beside the code when installed, else in the repository."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent / "templates"


def environment() -> Environment:
    """A new template environment; an undefined name in a template is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(template_folder(), encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def render_file(view: FileView, templates: Environment) -> str:
    """The text of one file, as black formats it."""
    from black import format_str
    from black.mode import Mode, TargetVersion

    text = templates.get_template("file.py.j2").render(file=view)
    mode = Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY311})
    return format_str(text, mode=mode)
