# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, D")
def by_signature(x: Shaped[Tensor, "[B, D]"]) -> Shaped[Tensor, "[B, D]"]:
    return x / (x * x).sum(dim=1).sqrt()


@shape_vars("B, D")
def by_step(x: Shaped[Tensor, "[B, D]"]) -> Shaped[Tensor, "[B, D]"]:
    norm: Shaped[Tensor, "[B]"] = (x * x).sum(dim=1).sqrt()
    return x / norm


@shape_vars("B, D")
def right(x: Shaped[Tensor, "[B, D]"]) -> Shaped[Tensor, "[B, D]"]:
    return x / (x * x).sum(dim=1, keepdim=True).sqrt()
