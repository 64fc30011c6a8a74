# ruff: noqa: F821, N806, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

import torch
from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("S, K")
def by_signature(
    x: Shaped[Tensor, "[S, 2 * K]"], cos: Shaped[Tensor, "[S, K]"], sin: Shaped[Tensor, "[S, K]"]
) -> Shaped[Tensor, "[S, 2 * K]"]:
    S, K = cos.shape
    first, second = x.reshape(S, K, 2).unbind(-1)
    turned = torch.stack((first * cos - second * sin, second * cos + first * sin), dim=-1)
    return turned.reshape(S, 2 * K)


@shape_vars("S, K")
def by_step(
    x: Shaped[Tensor, "[S, 2 * K]"], cos: Shaped[Tensor, "[S, K]"], sin: Shaped[Tensor, "[S, K]"]
) -> Shaped[Tensor, "[S, 2 * K]"]:
    S, K = cos.shape
    pairs: Shaped[Tensor, "[S, K, 2]"] = x.reshape(S, K, 2)
    first, second = pairs.unbind(-1)
    turned: Shaped[Tensor, "[S, K, 2]"] = torch.stack(
        (first * cos - second * sin, second * cos + first * sin), dim=-1
    )
    return turned.reshape(S, 2 * K)


@shape_vars("S, K")
def right(
    x: Shaped[Tensor, "[S, 2 * K]"], cos: Shaped[Tensor, "[S, K]"], sin: Shaped[Tensor, "[S, K]"]
) -> Shaped[Tensor, "[S, 2 * K]"]:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
