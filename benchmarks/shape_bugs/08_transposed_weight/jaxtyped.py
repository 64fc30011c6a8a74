# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(x: Float[Tensor, "B I"], weight: Float[Tensor, "O I"]) -> Float[Tensor, "B O"]:
    return x @ weight


def by_step(x: Float[Tensor, "B I"], weight: Float[Tensor, "O I"]) -> Float[Tensor, "B O"]:
    projected = x @ weight
    assert isinstance(projected, Float[Tensor, "B O"])
    return projected


def right(x: Float[Tensor, "B I"], weight: Float[Tensor, "O I"]) -> Float[Tensor, "B O"]:
    return x @ weight.T
