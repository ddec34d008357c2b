"""Euclidean, Manhattan and cosine costs of the Soft-DTW loss, beside their matrices and beside their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dtwave
from optional import need

torch = need("torch")
from dtwave.torch import SoftDTW, soft_dtw, soft_dtw_from_costs

COSTS = ["euclidean", "manhattan"]


def pairs(batch: int, n: int, m: int, channels: int = 3) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(n + 10 * m + 100 * channels)
    x, y = (torch.randn(batch, length, channels, dtype=torch.float64, generator=generator) for length in (n, m))
    return x.requires_grad_(), y.requires_grad_()


def matrix(x: Any, y: Any, dist: str) -> Any:
    return torch.cdist(x, y, p=1.0 if dist == "manhattan" else 2.0)


@pytest.mark.parametrize("dist", COSTS)
@pytest.mark.parametrize("gamma", [1e-3, 0.1, 1.0, 1e6])
@pytest.mark.parametrize("bandwidth", [None, 2])
@pytest.mark.parametrize("channels", [1, 5])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_it_is_that_of_the_matrix_of_costs(
    dist: str, gamma: float, bandwidth: int | None, channels: int, offset: float
) -> None:
    x, y = (series.detach().add(offset).requires_grad_() for series in pairs(3, 60, 53, channels))
    found = soft_dtw(x, y, gamma=gamma, bandwidth=bandwidth, dist=dist)
    expected = soft_dtw_from_costs(matrix(x - offset, y - offset, dist), gamma=gamma, bandwidth=bandwidth)
    torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    gradients, wanted = (torch.autograd.grad(values, (x, y), weights) for values in (found, expected))
    torch.testing.assert_close(gradients, wanted, rtol=1e-6, atol=1e-7)
    single = soft_dtw(x.float(), y.float(), gamma=gamma, bandwidth=bandwidth, dist=dist)
    torch.testing.assert_close(single.double(), found, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dist", COSTS)
@pytest.mark.parametrize("gamma", [1e-3, 0.5, 1e6])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_points_that_agree_have_the_gradient_0(dist: str, gamma: float, channels: int, dtype: Any) -> None:
    generator = torch.Generator().manual_seed(3)
    # Few different values: many cells whose points agree, or do so in one channel.
    x, y = (torch.randint(-1, 2, (1, k, channels), generator=generator).to(dtype) + 1e3 for k in (30, 25))
    for one, other in ((x, y), (x, x), (y, y)):
        a, b = one.clone().requires_grad_(), other.clone().requires_grad_()
        soft_dtw(a, b, gamma=gamma, dist=dist).sum().backward()
        u, v = one[0].double().numpy(), other[0].double().numpy()
        expected = np.asarray(dtwave.expected_alignment(u, v, gamma=gamma, cost=dist))
        apart = u[:, None] - v[None]
        if dist == "manhattan":
            slopes = np.sign(apart)
        else:
            norms = np.linalg.norm(apart, axis=2, keepdims=True)
            slopes = np.divide(apart, norms, out=np.zeros_like(apart), where=norms > 0)
        close = {"rtol": 1e-9, "atol": 1e-9} if dtype == torch.float64 else {"rtol": 1e-4, "atol": 2e-4}
        wanted = (expected[..., None] * slopes).sum(1), -(expected[..., None] * slopes).sum(0)
        for got, right in zip((a.grad, b.grad), wanted, strict=True):
            torch.testing.assert_close(got[0].double(), torch.from_numpy(right), **close)
    loss = SoftDTW(gamma=gamma, normalize=True, dist=dist)
    a = x.clone().requires_grad_()
    value = loss(a, x)
    value.sum().backward()
    assert value.item() == 0.0
    torch.testing.assert_close(a.grad, torch.zeros_like(a), rtol=0.0, atol=1e-4 if dtype == torch.float32 else 1e-9)


@pytest.mark.parametrize("dist", COSTS)
@pytest.mark.parametrize("normalize", [False, True])
def test_the_package_says_the_same(dist: str, normalize: bool) -> None:
    x, y = (series.detach() for series in pairs(2, 6, 9))
    measure = (dtwave.SoftDtwDivergence if normalize else dtwave.SoftDtw)(gamma=0.3, cost=dist)
    values, grad_x, grad_y = dtwave.gradients(x.numpy(), y.numpy(), measure=measure)
    x.requires_grad_(), y.requires_grad_()
    found = SoftDTW(gamma=0.3, normalize=normalize, dist=dist)(x, y)
    found.sum().backward()
    for got, wanted in ((found, values), (x.grad, grad_x), (y.grad, grad_y)):
        np.testing.assert_array_equal(got.detach().numpy(), np.asarray(wanted))


def test_one_point_is_its_cost() -> None:
    x, y = torch.tensor([[[3.0, -4.0]]]), torch.zeros(1, 1, 2)
    found = {
        dist: soft_dtw(x, y, dist=dist, layout="channels_last").item()
        for dist in ("sqeuclidean", "euclidean", "manhattan", "cityblock")
    }
    assert found == pytest.approx({"sqeuclidean": 25.0, "euclidean": 5.0, "manhattan": 7.0, "cityblock": 7.0})


def cosine_costs(x: Any, y: Any) -> Any:
    """`[batch, n, m]`, as PyTorch defines it."""
    return 1.0 - torch.nn.functional.cosine_similarity(x[:, :, None], y[:, None], dim=3, eps=1e-300)


@pytest.mark.parametrize("gamma", [0.01, 1.0])
@pytest.mark.parametrize("bandwidth", [None, 2])
@pytest.mark.parametrize("channels", [1, 2, 5])
def test_cosine_is_1_less_the_cosine(gamma: float, bandwidth: int | None, channels: int) -> None:
    x, y = pairs(3, 7, 5, channels)
    found = soft_dtw(x, y, gamma=gamma, bandwidth=bandwidth, dist="cosine")
    expected = soft_dtw_from_costs(cosine_costs(x, y), gamma=gamma, bandwidth=bandwidth)
    torch.testing.assert_close(found, expected, rtol=1e-10, atol=1e-10)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    gradients, wanted = (torch.autograd.grad(values, (x, y), weights) for values in (found, expected))
    torch.testing.assert_close(gradients, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("size", [1e-42, 1e-30, 1e30])
def test_cosine_does_not_depend_on_the_size_of_a_point(size: float) -> None:
    x, y = (series.detach().float() for series in pairs(2, 5, 4))
    expected = soft_dtw(x, y, dist="cosine")
    # Below the least normal number, a few digits are left.
    close = {"rtol": 5e-2, "atol": 5e-2} if size < 1e-38 else {"rtol": 1e-5, "atol": 1e-5}
    torch.testing.assert_close(soft_dtw(size * x, y / 1e3, dist="cosine"), expected, **close)


def test_cosine_of_like_directions_keeps_its_digits() -> None:
    # An angle of 1e-4 costs 5e-9, which is less than single precision can tell from 1.
    x, y = torch.tensor([[[1.0, 0.0]]]), torch.tensor([[[1.0, 1e-4]]])
    assert soft_dtw(x, y, dist="cosine", layout="channels_last").item() == pytest.approx(5e-9, rel=1e-3)
    assert soft_dtw(x, 3.0 * x, dist="cosine", layout="channels_last").item() == pytest.approx(0.0, abs=1e-14)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cosine_of_a_point_without_direction_is_an_error() -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    y[1, 2] = 0.0
    with pytest.raises(ValueError, match="point 2 of series 1 of y is zero"):
        soft_dtw(x, y, dist="cosine")
    soft_dtw(x, y, dist="cosine", lengths_y=[4, 2])
    torch.compiler.reset()
    compiled = torch.compile(SoftDTW(dist="cosine"), fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match="(?i)nan"):
        compiled(x, y)
    y[1, 2] = 1.0
    torch.testing.assert_close(compiled(x, y), soft_dtw(x, y, dist="cosine"))


def test_cosine_of_half_precision_and_bands() -> None:
    x, y = (series.detach() for series in pairs(2, 5, 4))
    half = soft_dtw(x.half(), y.half(), dist="cosine", bandwidth=dtwave.SakoeChiba(0.5))
    assert half.dtype == torch.float32
    expected = soft_dtw(x, y, dist="cosine", bandwidth=dtwave.SakoeChiba(0.5))
    torch.testing.assert_close(half.double(), expected, rtol=1e-2, atol=1e-2)
