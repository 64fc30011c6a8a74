"""Where torch decides a tie, guards an overflow or leaves something out, the library does too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from tests.std.library import assert_close, called, construct
from tests.std.oracles import ORACLES, window_mask

INF = float("inf")
PLAIN = [o for o in ORACLES if o.file == "activation" and not o.said]
# Kinks of the piecewise ones, and what overflows exp or cancels.
POINTS = (-200.0, -30.0, -6.0, -4.0, -3.0, -1.0, -0.0, 0.0, 1e-4, 1.0, 3.0, 6.0, 21.0, 200.0)


def use(file: str, name: str, *values: Any) -> Any:
    return construct(called(file, name), {})(*values)


@pytest.mark.parametrize("oracle", PLAIN, ids=str)
def test_activations_at_the_edges(oracle: Any) -> None:
    x = torch.tensor(POINTS).view(1, 1, -1).requires_grad_()
    found, wanted = use("activation", oracle.name, x), oracle.torch(x)
    assert_close([found], [wanted])
    assert_close(torch.autograd.grad(found.sum(), x), torch.autograd.grad(wanted.sum(), x))


@pytest.mark.parametrize("oracle", PLAIN, ids=str)
def test_activations_keep_nan(oracle: Any) -> None:
    assert use("activation", oracle.name, torch.tensor([[[torch.nan]]])).isnan().all()


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_elu_and_leaky_relu_at_the_edges(alpha: float) -> None:
    x = torch.tensor(POINTS).view(1, 1, -1).requires_grad_()
    slope = torch.tensor(alpha)
    for name, wanted in (("elu", F.elu(x, alpha)), ("leaky_relu", F.leaky_relu(x, alpha))):
        found = use("activation", name, x, slope)
        assert_close([found], [wanted])
        assert_close(torch.autograd.grad(found.sum(), x), torch.autograd.grad(wanted.sum(), x))


@pytest.mark.parametrize(
    ("name", "torchs"),
    [
        ("softmax", torch.softmax),
        ("log_softmax", torch.log_softmax),
        ("logsumexp", torch.logsumexp),
    ],
)
def test_softmax_at_the_edges(name: str, torchs: Callable[..., Any]) -> None:
    rows = [[1e4, 1e4 - 1, -INF], [-INF, -INF, -INF], [0.0, INF, -1e4], [-1e4, -1e4, -1e4 - 2]]
    x = torch.tensor([rows])
    assert_close([use("softmax", name, x)], [torchs(x, dim=-1)])


def test_a_masked_class_has_no_part_in_the_loss() -> None:
    logits = torch.tensor([[1.0, -INF, 0.5], [0.0, 2.0, -INF]], requires_grad=True)
    target = torch.tensor([2, -100])
    numbers = torch.tensor(-100), torch.tensor(0.0)
    found = use("loss", "smoothed_cross_entropy", logits, target, *numbers)
    wanted = F.cross_entropy(logits, target)
    assert_close([found], [wanted])
    assert_close(torch.autograd.grad(found, logits), torch.autograd.grad(wanted, logits))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_cross_entropy_with_other_numbers(smoothing: float, ignored: int) -> None:
    torch.manual_seed(4)
    logits, target = torch.randn(6, 4), torch.tensor([0, 1, 2, 3, 1, 1])
    numbers = torch.tensor(ignored), torch.tensor(smoothing)
    found = use("loss", "smoothed_cross_entropy", logits, target, *numbers)
    wanted = F.cross_entropy(logits, target, ignore_index=ignored, label_smoothing=smoothing)
    assert_close([found], [wanted])


def test_the_mean_over_no_rows_is_nan() -> None:
    logits, target = torch.zeros(2, 3), torch.tensor([-100, -100])
    numbers = torch.tensor(-100), torch.tensor(0.0)
    assert use("loss", "smoothed_cross_entropy", logits, target, *numbers).isnan()


def test_kl_divergence_from_a_probability_of_zero() -> None:
    x = torch.randn(2, 3).log_softmax(-1).requires_grad_()
    target = torch.tensor([[0.0, 0.25, 0.75], [0.0, 0.0, 1.0]])
    found, wanted = use("loss", "kl_div", x, target), F.kl_div(x, target, reduction="batchmean")
    assert_close([found], [wanted])
    assert_close(torch.autograd.grad(found, x), torch.autograd.grad(wanted, x))


@pytest.mark.parametrize("window", [1, 2, 3, 5, 9])
def test_sliding_windows(window: int) -> None:
    torch.manual_seed(5)
    q, k, v = torch.randn(3, 2, 3, 5, 4)
    found = use("attention", "sliding_window_attention", q, k, v, torch.tensor(window).int())
    wanted = F.scaled_dot_product_attention(q, k, v, window_mask(5, window))
    assert_close([found], [wanted])
