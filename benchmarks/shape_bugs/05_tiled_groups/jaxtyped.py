# ruff: noqa: F722

"""The same functions with jaxtyping's types, which are checked when they run."""

from jaxtyping import Float
from torch import Tensor


def by_signature(
    q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"]
) -> Float[Tensor, "B H S S"]:
    repeats = q.shape[1] // k.shape[1]
    return q @ k.repeat(1, repeats, 1, 1).transpose(2, 3)


def by_step(q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"]) -> Float[Tensor, "B H S S"]:
    repeats = q.shape[1] // k.shape[1]
    spread = k.repeat(1, repeats, 1, 1)
    assert isinstance(spread, Float[Tensor, "B H S D"])
    return q @ spread.transpose(2, 3)


def right(q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"]) -> Float[Tensor, "B H S S"]:
    repeats = q.shape[1] // k.shape[1]
    return q @ k.repeat_interleave(repeats, dim=1).transpose(2, 3)
