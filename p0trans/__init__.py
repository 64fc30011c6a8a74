"""p0trans: from Phase 0, an explicit shape-typed tensor language, to PyTorch modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from p0trans.api import TranslationError, check, format, load, translate

__all__ = ["TranslationError", "__version__", "check", "format", "load", "translate"]


def __getattr__(name: str) -> object:
    # The API pulls in the whole checker; `import p0trans` alone must stay light.
    if name in __all__:
        from p0trans import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
