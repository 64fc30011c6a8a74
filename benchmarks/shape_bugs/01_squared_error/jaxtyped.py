# ruff: noqa: F722, F821

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(prediction: Float[Tensor, "B 1"], target: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    difference = prediction - target
    return (difference * difference).mean()


def by_step(prediction: Float[Tensor, "B 1"], target: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    difference = prediction - target
    assert isinstance(difference, Float[Tensor, "B"])
    return (difference * difference).mean()


def right(prediction: Float[Tensor, "B 1"], target: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    difference = prediction.squeeze(1) - target
    return (difference * difference).mean()
