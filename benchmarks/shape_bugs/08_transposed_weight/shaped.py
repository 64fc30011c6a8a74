# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, I, O")
def by_signature(
    x: Shaped[Tensor, "[B, I]"], weight: Shaped[Tensor, "[O, I]"]
) -> Shaped[Tensor, "[B, O]"]:
    return x @ weight


@shape_vars("B, I, O")
def by_step(
    x: Shaped[Tensor, "[B, I]"], weight: Shaped[Tensor, "[O, I]"]
) -> Shaped[Tensor, "[B, O]"]:
    projected: Shaped[Tensor, "[B, O]"] = x @ weight
    return projected


@shape_vars("B, I, O")
def right(
    x: Shaped[Tensor, "[B, I]"], weight: Shaped[Tensor, "[O, I]"]
) -> Shaped[Tensor, "[B, O]"]:
    return x @ weight.T
