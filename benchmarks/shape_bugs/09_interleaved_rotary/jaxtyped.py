# ruff: noqa: F722, N806

"""The same functions with jaxtyping's types, which are checked when they run."""

import torch
from jaxtyping import Float
from torch import Tensor


def by_signature(
    x: Float[Tensor, "S D"], cos: Float[Tensor, "S K"], sin: Float[Tensor, "S K"]
) -> Float[Tensor, "S D"]:
    S, K = cos.shape
    first, second = x.reshape(S, K, 2).unbind(-1)
    turned = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.reshape(S, 2 * K)


def by_step(
    x: Float[Tensor, "S D"], cos: Float[Tensor, "S K"], sin: Float[Tensor, "S K"]
) -> Float[Tensor, "S D"]:
    S, K = cos.shape
    pairs = x.reshape(S, K, 2)
    assert isinstance(pairs, Float[Tensor, "S K 2"])
    first, second = pairs.unbind(-1)
    turned = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
    assert isinstance(turned, Float[Tensor, "S K 2"])
    return turned.reshape(S, 2 * K)


def right(
    x: Float[Tensor, "S D"], cos: Float[Tensor, "S K"], sin: Float[Tensor, "S K"]
) -> Float[Tensor, "S D"]:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
