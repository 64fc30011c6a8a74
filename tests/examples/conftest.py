"""transformers would start torch_xla in the process of the tests."""

from __future__ import annotations

import os

os.environ.setdefault("USE_TORCH_XLA", "0")
