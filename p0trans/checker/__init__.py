"""The checker: syntax trees in, typed IR and diagnostics out."""

from __future__ import annotations

from p0trans.checker.units import NOTHING_DECLARED, Checked, Found, Loader, StateFlags, check_units
from p0trans.checker.work import Work

__all__ = ["NOTHING_DECLARED", "Checked", "Found", "Loader", "StateFlags", "Work", "check_units"]
