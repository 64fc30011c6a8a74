"""Emitted text as a module of this process."""

from __future__ import annotations

import hashlib
import linecache
import re
import sys
from types import ModuleType


def import_text(text: str, stem: str) -> ModuleType:
    """The module that `text` makes, named after `stem` and what it holds.

    It stands among the imported modules, where torch.compile and pickle look up what is defined
    in it; the same text gives the same name. A traceback through it shows its lines.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:12]
    name = f"p0trans_{re.sub(r'[^0-9A-Za-z_]', '_', stem)}_{digest}"
    module = ModuleType(name)
    module.__file__ = filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    sys.modules[name] = module
    try:
        exec(compile(text, filename, "exec"), module.__dict__)
    except BaseException:
        forget(module)
        raise
    return module


def forget(module: ModuleType) -> None:
    """Take back what `import_text` noted of `module`."""
    sys.modules.pop(module.__name__, None)
    linecache.cache.pop(f"<{module.__name__}>", None)
