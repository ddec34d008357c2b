"""Soft-DTW of matrices of costs: its values and gradients, and what PyTorch may do with the operator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

torch = need("torch")
from dtwave.torch import soft_dtw, soft_dtw_from_costs


def matrices(batch: int, n: int, m: int) -> Any:
    """Costs of both signs that require gradients."""
    generator = torch.Generator().manual_seed(batch + 10 * n + 100 * m)
    return torch.randn(batch, n, m, dtype=torch.float64, generator=generator).requires_grad_()


@pytest.mark.parametrize("gamma", [0.01, 1.0, 100.0])
@pytest.mark.parametrize(
    ("n", "m", "bandwidth"),
    [
        *((n, m, band) for n, m in ((1, 4), (5, 1), (17, 17), (20, 13)) for band in (None, 3, dtwave.Slanted(2))),
        *((n, m, dtwave.Itakura(3.0)) for n, m in ((17, 17), (20, 13))),
    ],
)
def test_squared_costs_are_soft_dtw(gamma: float, bandwidth: dtwave.Band, n: int, m: int) -> None:
    generator = torch.Generator().manual_seed(n + 10 * m)
    x, y = (torch.randn(3, k, 2, dtype=torch.float64, generator=generator).requires_grad_() for k in (n, m))
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    expected = soft_dtw(x, y, gamma=gamma, bandwidth=bandwidth)
    costs = (x[:, :, None] - y[:, None]).square().sum(3)
    found = soft_dtw_from_costs(costs, gamma=gamma, bandwidth=bandwidth)
    torch.testing.assert_close(found, expected, rtol=1e-11, atol=1e-11 * (1 + gamma))
    wanted, gradients = (torch.autograd.grad(values, (x, y), weights) for values in (expected, found))
    torch.testing.assert_close(gradients, wanted, rtol=1e-9, atol=1e-9)


def test_gradient_is_the_expected_alignment() -> None:
    random = np.random.default_rng(0)
    x, y = random.normal(size=12), random.normal(size=9)
    costs = torch.from_numpy(np.subtract.outer(x, y)[None] ** 2).requires_grad_()
    soft_dtw_from_costs(costs, gamma=0.5).sum().backward()
    expected = np.asarray(dtwave.expected_alignment(x, y, gamma=0.5))
    np.testing.assert_allclose(costs.grad[0].numpy(), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("bandwidth", [None, 1])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 4), (3, 7)])
def test_gradcheck(gamma: float, bandwidth: int | None, n: int, m: int) -> None:
    assert torch.autograd.gradcheck(
        lambda costs: soft_dtw_from_costs(costs, gamma=gamma, bandwidth=bandwidth), matrices(2, n, m)
    )


@pytest.mark.parametrize("p", [1.0, 2.0])
def test_gradcheck_of_other_costs_of_series(p: float) -> None:
    generator = torch.Generator().manual_seed(1)
    x, y = (torch.randn(2, k, 3, dtype=torch.float64, generator=generator).requires_grad_() for k in (5, 4))
    assert torch.autograd.gradcheck(lambda x, y: soft_dtw_from_costs(torch.cdist(x, y, p=p), gamma=0.7), (x, y))


def test_what_does_not_count_is_not_read() -> None:
    lengths_x, lengths_y = [6, 2, 3], torch.tensor([1, 7, 4], dtype=torch.int32)
    costs = matrices(3, 6, 7)
    with torch.no_grad():
        for s in range(3):
            costs[s, lengths_x[s] :] = torch.nan
            costs[s, :, lengths_y[s] :] = torch.inf
    found = soft_dtw_from_costs(costs, gamma=0.5, lengths_x=lengths_x, lengths_y=lengths_y)
    found.sum().backward()
    for s in range(3):
        own = costs[s : s + 1, : lengths_x[s], : lengths_y[s]].detach().requires_grad_()
        alone = soft_dtw_from_costs(own, gamma=0.5)
        alone.sum().backward()
        torch.testing.assert_close(found[s], alone[0])
        expected = torch.zeros(6, 7, dtype=torch.float64)
        expected[: lengths_x[s], : lengths_y[s]] = own.grad[0]
        torch.testing.assert_close(costs.grad[s], expected)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32"])
def test_types(name: str) -> None:
    costs = matrices(2, 5, 4).detach().to(getattr(torch, name)).requires_grad_()
    values = soft_dtw_from_costs(costs)
    assert values.dtype == torch.float32
    torch.testing.assert_close(values.double(), soft_dtw_from_costs(costs.double()), rtol=1e-6, atol=1e-6)
    values.sum().backward()
    assert costs.grad.dtype == costs.dtype


def test_strides_do_not_matter() -> None:
    costs = matrices(2, 5, 4).detach()
    turned = costs.transpose(1, 2).contiguous().transpose(1, 2).requires_grad_()
    assert not turned.is_contiguous()
    costs.requires_grad_()
    found, expected = soft_dtw_from_costs(turned), soft_dtw_from_costs(costs)
    assert torch.equal(found, expected)
    found.sum().backward()
    expected.sum().backward()
    assert torch.equal(turned.grad, costs.grad)
