# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B")
def by_signature(
    prediction: Shaped[Tensor, "[B, 1]"], target: Shaped[Tensor, "[B]"]
) -> Shaped[Tensor, "[]"]:
    difference = prediction - target
    return (difference * difference).mean()


@shape_vars("B")
def by_step(
    prediction: Shaped[Tensor, "[B, 1]"], target: Shaped[Tensor, "[B]"]
) -> Shaped[Tensor, "[]"]:
    difference: Shaped[Tensor, "[B]"] = prediction - target
    return (difference * difference).mean()


@shape_vars("B")
def right(
    prediction: Shaped[Tensor, "[B, 1]"], target: Shaped[Tensor, "[B]"]
) -> Shaped[Tensor, "[]"]:
    difference = prediction.squeeze(1) - target
    return (difference * difference).mean()
