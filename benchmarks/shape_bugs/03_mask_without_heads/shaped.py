# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, H, S")
def by_signature(
    scores: Shaped[Tensor, "[B, H, S, S]"], mask: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B, H, S, S]"]:
    return scores.masked_fill(mask, -1e9)


@shape_vars("B, H, S")
def by_step(
    scores: Shaped[Tensor, "[B, H, S, S]"], mask: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B, H, S, S]"]:
    masked: Shaped[Tensor, "[B, H, S, S]"] = scores.masked_fill(mask, -1e9)
    return masked


@shape_vars("B, H, S")
def right(
    scores: Shaped[Tensor, "[B, H, S, S]"], mask: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B, H, S, S]"]:
    return scores.masked_fill(mask.unsqueeze(1), -1e9)
