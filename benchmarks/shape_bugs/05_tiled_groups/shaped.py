# ruff: noqa: F821, UP037

"""The same functions with pyrefly's types, which are checked before they run."""

from shape_extensions import Shaped, shape_vars
from torch import Tensor


@shape_vars("B, G, R, S, D")
def by_signature(
    q: Shaped[Tensor, "[B, G * R, S, D]"], k: Shaped[Tensor, "[B, G, S, D]"]
) -> Shaped[Tensor, "[B, G * R, S, S]"]:
    repeats = q.shape[1] // k.shape[1]
    return q @ k.repeat(1, repeats, 1, 1).transpose(2, 3)


@shape_vars("B, G, R, S, D")
def by_step(
    q: Shaped[Tensor, "[B, G * R, S, D]"], k: Shaped[Tensor, "[B, G, S, D]"]
) -> Shaped[Tensor, "[B, G * R, S, S]"]:
    repeats = q.shape[1] // k.shape[1]
    spread: Shaped[Tensor, "[B, G * R, S, D]"] = k.repeat(1, repeats, 1, 1)
    return q @ spread.transpose(2, 3)


@shape_vars("B, G, R, S, D")
def right(
    q: Shaped[Tensor, "[B, G * R, S, D]"], k: Shaped[Tensor, "[B, G, S, D]"]
) -> Shaped[Tensor, "[B, G * R, S, S]"]:
    repeats = q.shape[1] // k.shape[1]
    return q @ k.repeat_interleave(repeats, dim=1).transpose(2, 3)
