# ruff: noqa: F821, N806, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, H, S")
def by_signature(
    scores: Shaped[Tensor, "[B, H, S, S]"], bias: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B * H, S, S]"]:
    B, H, S, _ = scores.shape
    return scores.reshape(B * H, S, S) + bias.repeat(H, 1, 1)


@shape_vars("B, H, S")
def by_step(
    scores: Shaped[Tensor, "[B, H, S, S]"], bias: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B * H, S, S]"]:
    B, H, S, _ = scores.shape
    flat: Shaped[Tensor, "[B * H, S, S]"] = scores.reshape(B * H, S, S)
    repeated: Shaped[Tensor, "[H * B, S, S]"] = bias.repeat(H, 1, 1)
    return flat + repeated


@shape_vars("B, H, S")
def right(
    scores: Shaped[Tensor, "[B, H, S, S]"], bias: Shaped[Tensor, "[B, S, S]"]
) -> Shaped[Tensor, "[B * H, S, S]"]:
    B, H, S, _ = scores.shape
    return scores.reshape(B * H, S, S) + bias.repeat_interleave(H, dim=0)
