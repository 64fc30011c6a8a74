"""What an emitted file can be made for."""

from __future__ import annotations

from typing import Literal, TypeAlias

Target: TypeAlias = Literal["torch", "compile", "xla", "tpu"]
