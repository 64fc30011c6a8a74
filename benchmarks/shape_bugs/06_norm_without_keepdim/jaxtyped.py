# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(x: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
    return x / (x * x).sum(dim=1).sqrt()


def by_step(x: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
    norm = (x * x).sum(dim=1).sqrt()
    assert isinstance(norm, Float[Tensor, "B"])
    return x / norm


def right(x: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
    return x / (x * x).sum(dim=1, keepdim=True).sqrt()
