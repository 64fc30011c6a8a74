"""The files of a new project."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping

_IDENTIFIER = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
_TAKEN = frozenset({"conftest", "p0trans", "pytest", "std", "torch", *sys.stdlib_module_names})


def name_trouble(name: str) -> str | None:
    """Why a project cannot be called `name`, which its Python module is called as well."""
    if not _IDENTIFIER.fullmatch(name):
        near = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        hint = f"; '{near}' is one" if _IDENTIFIER.fullmatch(near) else ""
        return f"'{name}' is not a name of letters, digits and _ that begins with a letter{hint}"
    if keyword.iskeyword(name) or name in _TAKEN:
        return f"'{name}' is the name of something that Python or the project imports"
    return None


def project_files(name: str) -> Mapping[str, str]:
    """The texts of a project called `name`, by their names in its folder."""
    from p0trans.emit.render import environment

    templates = environment()
    return {
        path: templates.get_template(f"new/{template}.j2").render(name=name)
        for path, template in (
            (f"{name}.p0", "model.p0"),
            (f"test_{name}.py", "test.py"),
            ("README.md", "README.md"),
            ("Makefile", "Makefile"),
            (".pre-commit-config.yaml", "pre-commit-config.yaml"),
        )
    }
